"""The last check before a counterfactual is returned: the model is asked about what is shown."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from proce.classifier import Classifier, decide
from proce.methods.calls.rules import BoundRule
from proce.objective import Requirement, target_probability
from proce.schema import Codec, Layout

ROUNDING = 1e-6  # by how much a value may change on the way to a frame and back


@dataclass(frozen=True, eq=False)
class LastCheck:
    """Which candidates are true of the model at the values and dtypes that are shown.

    Attributes
    ----------
    passed
        ``(n,)``, whether a candidate has its target and obeys the rules and the limits.
    probabilities
        ``(n,)``, the probability of the target, as the model gives it for the decoded rows.
    """

    passed: Tensor
    probabilities: Tensor


def as_shown(codec: Codec, rows: Tensor, factual: Tensor, raw: Tensor, layout: Layout) -> Tensor:
    """Return rows ``(n, f)`` as they come back from a frame of the caller.

    Parameters
    ----------
    codec
        The features and their scale.
    rows, factual, raw
        ``(n, f)``: the rows, those that they started from, and the latter in raw units.
    layout
        How the caller's frame looks.
    """
    if not len(rows):
        return rows
    return codec.encode(codec.rebuild(rows, layout.without_index(), factual, raw))


def last_check(
    shown: Tensor,
    allowed: Tensor,
    *,
    factual: Tensor,
    target: Tensor,
    classifier: Classifier,
    requirement: Requirement,
    rules: Sequence[BoundRule],
) -> LastCheck:
    """Check candidates against the model and the rules again, at the values that are shown.

    Parameters
    ----------
    shown
        ``(n, f)``, the candidates as they come back from a frame; see :func:`as_shown`.
    allowed
        ``(n,)``, which of them obey all limits.
    factual, target
        ``(n, f)`` and ``(n,)``, the rows that the candidates started from, and the wanted classes.
    classifier
        The model.
    requirement
        What counts as reaching the target.
    rules
        The rules that every candidate must obey.
    """
    if not len(shown):
        return LastCheck(torch.zeros(0, dtype=torch.bool), shown.new_zeros(0))
    probabilities = classifier.predict_proba(shown)
    passed = allowed & (decide(probabilities, classifier.threshold) == target)
    shortfall = requirement.shortfall(probabilities[:, None], target).squeeze(1)
    passed &= shortfall <= ROUNDING
    for rule, mechanisms in rules:
        passed &= rule.holds(factual, shown, mechanisms)
    return LastCheck(passed, target_probability(probabilities, target))
