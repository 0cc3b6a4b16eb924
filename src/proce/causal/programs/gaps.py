"""How far effects are from what their causes lead to, candidate by candidate."""

import numpy as np

from proce.arrays import Floats
from proce.causal.programs.kernels import Block, find_owners, follow
from proce.causal.programs.links import chance
from proce.causal.programs.program import Candidates, Given, Link, People, Program, Run
from proce.causal.programs.responses import BLOCK, predict, workspace
from proce.compiled.cells import cell_gap
from proce.compiled.kernel import ZERO, kernel, part
from proce.losses import MIN_CHANCE


@kernel
def measure_gaps(
    program: Program,
    run: Run,
    people: People,
    candidates: Candidates,
    given: Given,
    gaps: Floats,
) -> None:
    """Write the gap of each effect of a run, in rows ``(n, f)``; it is 0 where nothing follows.

    The gap of a level that is kept counts by the share of its chance that is lost.
    """
    (start, stop), (factual, residual), (rows, _, n_candidates) = run, people, candidates
    work, weights = workspace(program), program.weights
    values, decides, predicted = work.values, work.decides, work.predicted
    places, chances = np.empty(BLOCK, np.int64), np.empty(len(factual))
    for place in range(start, stop):
        effect = program.effects[0, place]
        if effect.is_cut:
            continue
        f, is_given = effect.position, effect.link == Link.GIVEN
        reach = program.tolerances[f].reach
        is_categorical = program.tolerances[f].is_categorical == 1
        loses_chance = is_categorical or effect.link == Link.ORDERED
        if is_given:
            loses_chance = len(given[1]) > 0
        elif loses_chance:
            for begin in range(0, len(factual), BLOCK):
                end = min(begin + BLOCK, len(factual))
                predict(program, ZERO, place, factual[begin:end], work)
                for i in range(begin, end):
                    chances[i] = chance(effect, weights, predicted, i - begin, factual[i, f])
        for begin in range(0, len(rows), BLOCK):
            end = min(begin + BLOCK, len(rows))
            owners = places[: end - begin]
            find_owners(begin, n_candidates, owners)
            block = Block(begin, rows[begin:end], owners, residual)
            follow(program, ZERO, place, block, given, work)
            for row in range(begin, end):
                c, owner = row - begin, owners[row - begin]
                own = rows[row, f]
                gap = cell_gap(own, values[c], reach, is_categorical) if decides[c] else 0.0
                if loses_chance and gap > 0 and own == factual[owner, f]:
                    if is_given:
                        before, after = given[1][0, row], given[1][1, row]
                    else:
                        before, after = chances[owner], chance(effect, weights, predicted, c, own)
                    gap *= lost_share(before, after)
                gaps[row, f] = gap


@part
def lost_share(before: float, after: float) -> float:
    """Return the share of its chance that a level loses; next to none before counts as some."""
    return max(1 - after / max(before, MIN_CHANCE), 0.0)
