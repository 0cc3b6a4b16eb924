"""The last check: what is returned is true of the model, at the values and dtypes shown."""

from dataclasses import dataclass

import torch
from torch import Tensor

from proce.classifier import Classifier, decide
from proce.explanation import Change
from proce.methods.explaining.shortlist import Chosen
from proce.objective import CounterfactualProblem
from proce.schema import Codec, Layout

_ROUNDING = 1e-6  # what a value may lose on the way to a frame and back


@dataclass(frozen=True, eq=False)
class Checked:
    """Which of a row's chosen candidates passed.

    Attributes
    ----------
    passed
        ``(n,)`` flags.
    probabilities
        ``(n,)``, of the target, as the model gives them for the decoded rows.
    """

    passed: Tensor
    probabilities: Tensor


def checked(
    problem: CounterfactualProblem, chosen: list[Chosen], layout: Layout, raw: Tensor
) -> list[Checked]:
    """Decode the chosen rows, ask the model and the rules again, and see which still hold.

    Parameters
    ----------
    problem
        The problem of the rows.
    chosen
        For each row of the problem.
    layout
        Of the rows' frame, without their index.
    raw
        The rows in raw units, ``(i, f)``.
    """
    counts = [len(each.rows) for each in chosen]
    owner = torch.repeat_interleave(torch.arange(len(chosen)), torch.tensor(counts))
    if not len(owner):
        return [Checked(torch.zeros(0, dtype=torch.bool), torch.zeros(0)) for _ in chosen]
    rows = torch.cat([each.rows for each in chosen])
    factual = problem.query.factual[owner]
    again, chances = asked_again(
        problem.codec, problem.classifier, rows, factual, raw[owner], layout
    )
    target = problem.query.target[owner]
    passed = decide(chances, problem.classifier.threshold) == target
    passed &= problem.requirement.shortfall(chances[:, None], target).squeeze(1) <= _ROUNDING
    own = chances.gather(1, target[:, None]).squeeze(1)
    for rule, mechanisms in problem.rules:
        passed &= rule.holds(factual, again, mechanisms)
    changes = torch.cat([each.changes for each in chosen])
    passed &= within_limits(problem.take(owner), again, changes)
    parts = zip(torch.split(passed, counts), torch.split(own, counts), strict=True)
    return [Checked(flags, chance) for flags, chance in parts]


def asked_again(
    codec: Codec, classifier: Classifier, rows: Tensor, factual: Tensor, raw: Tensor, layout: Layout
) -> tuple[Tensor, Tensor]:
    """Return rows ``(n, f)`` as a frame of the caller would hold them, and the model's word.

    Parameters
    ----------
    codec, classifier
        The features and the model.
    rows, factual, raw
        ``(n, f)``: the rows, those that they started from, and the latter in raw units.
    layout
        Of the caller's frame.
    """
    again = codec.encode(codec.rebuild(rows, layout.without_index(), factual, raw))
    return again, classifier.predict_proba(again)


def within_limits(problem: CounterfactualProblem, rows: Tensor, changes: Tensor) -> Tensor:
    """Return flags ``(n,)``: the rows ``(n, f)``, one of each instance, obey every limit.

    Parameters
    ----------
    problem
        The problem of as many instances.
    rows, changes
        ``(n, f)``, the rows, and what became of each cell.
    """
    by_hand = (changes == Change.ACTION) | (changes == Change.HOLD)
    inside = problem.limits.excess(rows[:, None], by_hand[:, None], problem.codec.reach)
    fine = inside.squeeze(1) <= _ROUNDING
    fine &= (~by_hand | problem.limits.movable).all(-1)
    same = (rows == problem.query.factual) | problem.codec.missing(rows)
    fine &= (same | (changes != Change.NONE)).all(-1)
    if problem.max_changes is not None:
        fine &= by_hand.sum(-1) <= problem.max_changes
    return fine
