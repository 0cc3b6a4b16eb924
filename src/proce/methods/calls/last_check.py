"""The last check: what is returned is true of the model, at the values and dtypes shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from proce.classifier import Classifier, decide
from proce.methods.calls.rules import BoundRule
from proce.objective import Requirement, target_probability
from proce.schema import Codec, Layout

ROUNDING = 1e-6  # what a value may lose on the way to a frame and back


@dataclass(frozen=True, eq=False)
class LastCheck:
    """Which candidates hold when they are shown.

    Attributes
    ----------
    passed
        ``(n,)`` flags.
    probabilities
        ``(n,)``, of the target, as the model gives them for the decoded rows.
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
    """Decode candidates, ask the model, the rules and the limits again, and see which hold.

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
        What every candidate must obey.
    within_limits
        Tells for rows ``(n, f)``, as they come back from a frame, which obey all limits.
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
        Of the caller's frame.
    """
    shown = codec.encode(codec.rebuild(rows, layout.without_index(), factual, raw))
    return shown, classifier.predict_proba(shown)
