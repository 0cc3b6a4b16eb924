"""What comes about when one action of a counterfactual is taken back, or done otherwise."""

import torch
from torch import Tensor

from proce.causal import Actions
from proce.explanation import done_by_hand
from proce.explanation.record.counterfactuals import NO_RULE
from proce.methods.calls.last_check import ROUNDING
from proce.objective import CounterfactualProblem


def take_back(
    problem: CounterfactualProblem, rows: Tensor, changes: Tensor, cells: tuple[Tensor, ...]
) -> tuple[CounterfactualProblem, Actions]:
    """Return what comes about, as ``(m, 1, f)``, when each of some cells alone is not done.

    Parameters
    ----------
    problem
        The search problem, with an instance for each counterfactual.
    rows, changes
        ``(n, f)``, the counterfactuals, and what became of each cell.
    cells
        The lines and the positions ``(m,)`` of the cells.
    """
    lines, positions = cells
    by_hand = done_by_hand(changes)[lines]
    by_hand[torch.arange(len(lines)), positions] = False
    part = problem.take(lines)
    return part, part.realise_by_hand(rows[lines][:, None], by_hand[:, None])


def find_asking_rules(problem: CounterfactualProblem, rows: Tensor, changes: Tensor) -> Tensor:
    """Return the rule that each action or hold is there for alone, by position; -1 for none.

    An action is there for a rule where the target would be reached and all limits kept without
    the action, but the rule would be broken.

    Parameters
    ----------
    problem
        The search problem, with an instance for each counterfactual.
    rows, changes
        ``(n, f)``, the counterfactuals, and what became of each cell.
    """
    asked_by = torch.full(rows.shape, NO_RULE, dtype=torch.long)
    cells = torch.nonzero(done_by_hand(changes), as_tuple=True)
    if not problem.rules or not len(cells[0]):
        return asked_by
    part, realised = take_back(problem, rows, changes, cells)
    point, factual = realised.point[:, 0], part.query.factual
    broken = torch.full_like(cells[0], NO_RULE)
    for position, (rule, mechanisms) in reversed(list(enumerate(problem.rules))):
        broken[~rule.holds(factual, point, mechanisms)] = position
    excess = part.limits.excess(realised.point, realised.by_hand, problem.codec.reach)[:, 0]
    blamed = torch.nonzero((broken != NO_RULE) & (excess <= ROUNDING)).flatten()
    if len(blamed):
        chances = part.take(blamed).ask(realised.point[blamed])
        target = part.query.target[blamed]
        reached = problem.requirement.shortfall(chances, target)[:, 0] <= ROUNDING
        blamed = blamed[reached]
        asked_by[cells[0][blamed], cells[1][blamed]] = broken[blamed]
    return asked_by
