"""What each action of a counterfactual is there for: what comes about without it."""

import torch
from torch import Tensor

from proce.explanation import Change, done_by_hand
from proce.explanation.record.counterfactuals import NO_RULE
from proce.methods.calls.last_check import ROUNDING
from proce.methods.calls.rules import obey_rules
from proce.objective import CounterfactualProblem, target_probability
from proce.objective.compiled.compiled_terms import shortfall_of


def take_actions_back(
    problem: CounterfactualProblem, rows: Tensor, changes: Tensor, probabilities: Tensor
) -> tuple[Tensor, Tensor]:
    """Return what each action adds to the target's probability, and the rule that asks for it.

    The first result is by how much the probability falls when one action alone is taken back: the
    other actions stay, and what follows from them comes about. It is 0 for a cell that is not acted
    on. The second is the rule that each action or hold is there for alone, by position, and -1 for
    none: the target would be reached and all limits kept without it, but the rule would be broken.

    Parameters
    ----------
    problem
        The search problem, with an instance for each counterfactual.
    rows, changes
        ``(n, f)``, the counterfactuals, and what became of each cell; so are both results.
    probabilities
        ``(n,)``, the probability of the target for each counterfactual.
    """
    contributions = torch.zeros(rows.shape, dtype=probabilities.dtype)
    asked_by = torch.full(rows.shape, NO_RULE, dtype=torch.long)
    done = done_by_hand(changes)
    line, position = torch.nonzero(done, as_tuple=True)
    if not len(line):
        return contributions, asked_by
    by_hand = done[line]
    by_hand[torch.arange(len(line)), position] = False
    part = problem.take(line)  # an instance for each cell
    realised = part.realise_by_hand(rows[line][:, None], by_hand[:, None])
    broken = _first_broken(part, realised.point[:, 0])
    blamed = broken != NO_RULE
    any_blamed = bool(blamed.any())
    if any_blamed:
        excess = part.limits.excess(realised.point, realised.by_hand, problem.codec.reach)
        blamed &= excess[:, 0] <= ROUNDING
    is_action = changes[line, position] == Change.ACTION
    asked = is_action | blamed
    point = realised.point
    if not bool(asked.all()):
        part, point = part.take(torch.nonzero(asked).flatten()), point[asked]
        line, position, broken = line[asked], position[asked], broken[asked]
        is_action, blamed = is_action[asked], blamed[asked]
    chances, target = part.ask(point), part.query.target
    own = target_probability(chances[:, 0], target).to(probabilities)
    contributions[line, position] = (probabilities[line] - own).where(is_action, 0.0)
    if any_blamed:
        reached = shortfall_of(problem.requirement, chances, target)[:, 0] <= ROUNDING
        asked_by[line, position] = broken.where(blamed & reached, NO_RULE)
    return contributions, asked_by


def _first_broken(problem: CounterfactualProblem, rows: Tensor) -> Tensor:
    """Return the first rule that each of the rows ``(n, f)`` breaks, by position; -1 for none."""
    broken = torch.full((len(rows),), NO_RULE)
    for position, rule in reversed(list(enumerate(problem.rules))):
        broken[~obey_rules([rule], problem.query.factual, rows)] = position
    return broken
