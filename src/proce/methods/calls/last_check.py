"""The last check before a counterfactual is returned: the model is asked about what is shown."""

from collections.abc import Callable, Sequence
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


def last_check(
    rows: Tensor,
    *,
    factual: Tensor,
    raw: Tensor,
    target: Tensor,
    codec: Codec,
    classifier: Classifier,
    layout: Layout,
    requirement: Requirement,
    rules: Sequence[BoundRule],
    within_limits: Callable[[Tensor], Tensor],
) -> LastCheck:
    """Decode candidates, and check them against the model, the rules and the limits again.

    Parameters
    ----------
    rows, factual, raw
        ``(n, f)``: the candidates, the rows that they started from, and the latter in raw units.
    target
        ``(n,)``, the wanted classes.
    codec, classifier, layout
        The features, the model, and how the caller's frame looked.
    requirement
        What counts as reaching the target.
    rules
        The rules that every candidate must obey.
    within_limits
        A function that returns for rows ``(n, f)``, as they come back from a frame, which of them
        obey all limits.
    """
    if not len(rows):
        return LastCheck(torch.zeros(0, dtype=torch.bool), rows.new_zeros(0))
    shown, probabilities = predict_as_shown(codec, classifier, rows, factual, raw, layout)
    passed = decide(probabilities, classifier.threshold) == target
    shortfall = requirement.shortfall(probabilities[:, None], target).squeeze(1)
    passed &= shortfall <= ROUNDING
    for rule, mechanisms in rules:
        passed &= rule.holds(factual, shown, mechanisms)
    passed &= within_limits(shown)
    return LastCheck(passed, target_probability(probabilities, target))


def predict_as_shown(
    codec: Codec, classifier: Classifier, rows: Tensor, factual: Tensor, raw: Tensor, layout: Layout
) -> tuple[Tensor, Tensor]:
    """Return rows ``(n, f)`` as a frame of the caller would hold them, and their probabilities.

    Parameters
    ----------
    codec, classifier
        The features and the model.
    rows, factual, raw
        ``(n, f)``: the rows, those that they started from, and the latter in raw units.
    layout
        How the caller's frame looks.
    """
    shown = codec.encode(codec.rebuild(rows, layout.without_index(), factual, raw))
    return shown, classifier.predict_proba(shown)
