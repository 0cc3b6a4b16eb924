"""What each action of a counterfactual is there for: what comes about without it."""

import numpy as np

from proce.arrays import Array
from proce.explanation import Change, done_by_hand
from proce.explanation.record.counterfactuals import NO_RULE
from proce.losses import target_probability
from proce.methods.calls.rules import obey_rules
from proce.objective import CounterfactualProblem
from proce.objective.obeying import obey_limits


def take_actions_back(
    problem: CounterfactualProblem, rows: Array, changes: Array, probabilities: Array
) -> tuple[Array, Array]:
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
    contributions = np.zeros(rows.shape, dtype=probabilities.dtype)
    asked_by = np.full(rows.shape, NO_RULE, dtype=np.int64)
    done = done_by_hand(changes)
    line, position = np.nonzero(done)
    if not len(line):
        return contributions, asked_by
    by_hand = done[line]
    by_hand[np.arange(len(line)), position] = False
    part = problem.take(line)  # an instance for each cell
    realised = part.realise_by_hand(rows[line][:, None], by_hand[:, None])
    broken = _first_broken(part, realised.point[:, 0])
    blamed = broken != NO_RULE
    any_blamed = bool(blamed.any())
    if any_blamed:
        moved = realised.acted_on | realised.consequence
        shown = part.query.factual, realised.point, moved, realised.by_hand
        blamed &= obey_limits(part.limits, part.codec, *shown, part.max_changes)[:, 0]
    is_action = changes[line, position] == Change.ACTION
    asked = is_action | blamed
    point = realised.point
    if not bool(asked.all()):
        part, point = part.take(np.flatnonzero(asked)), point[asked]
        line, position, broken = line[asked], position[asked], broken[asked]
        is_action, blamed = is_action[asked], blamed[asked]
    chances, target = part.ask(point), part.query.target
    own = target_probability(chances[:, 0], target)
    contributions[line, position] = np.where(is_action, (probabilities[line] - own), 0.0)
    if any_blamed:
        reached = problem.requirement.is_reached(chances, target)[:, 0]
        asked_by[line, position] = np.where(blamed & reached, broken, NO_RULE)
    return contributions, asked_by


def _first_broken(problem: CounterfactualProblem, rows: Array) -> Array:
    """Return the first rule that each of the rows ``(n, f)`` breaks, by position; -1 for none."""
    broken = np.full((len(rows),), NO_RULE)
    for position, rule in reversed(list(enumerate(problem.rules))):
        broken[~obey_rules([rule], problem.query.factual, rows)] = position
    return broken
