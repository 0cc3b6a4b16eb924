"""The last check: what is returned is true of the model, at the values and dtypes shown."""

from dataclasses import dataclass

import torch
from torch import Tensor

from proce.classifier import decide
from proce.methods.searching import Chosen
from proce.objective import Counterfactuals
from proce.schema import Layout


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
    problem: Counterfactuals, chosen: list[Chosen], layout: Layout, raw: Tensor
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
    frame = problem.codec.rebuild(rows, layout.without_index(), factual, raw[owner])
    again = problem.codec.encode(frame)
    chances = problem.classifier.predict_proba(again)
    target = problem.query.target[owner]
    passed = decide(chances, problem.classifier.threshold) == target
    own = chances.gather(1, target[:, None]).squeeze(1)
    if problem.requirement.least is not None:
        passed &= own >= problem.requirement.least - 1e-9
    for rule, mechanisms in problem.rules:
        passed &= rule.holds(factual, again, mechanisms)
    passed &= _unchanged_where_fixed(problem, again, owner)
    parts = zip(torch.split(passed, counts), torch.split(own, counts), strict=True)
    return [Checked(flags, chance) for flags, chance in parts]


def _unchanged_where_fixed(problem: Counterfactuals, rows: Tensor, owner: Tensor) -> Tensor:
    """Return flags ``(n,)``: every number lies where some feature may end."""
    lower = torch.minimum(problem.limits.lower, problem.limits.least)[owner]
    upper = torch.maximum(problem.limits.upper, problem.limits.most)[owner]
    inside = (rows >= lower - 1e-6) & (rows <= upper + 1e-6)
    return (inside | problem.codec.missing(rows)).all(-1)
