"""How far effects are from what their causes lead to, candidate by candidate."""

import numpy as np

from proce.arrays import Flags, Floats
from proce.causal.programs.kernels import find_owners
from proce.causal.programs.links import chance, respond
from proce.causal.programs.program import Link, Program, Record
from proce.causal.programs.responses import BLOCK, predict, workspace
from proce.compiled.kernel import ZERO, kernel, part

_MIN_CHANCE = 1e-12  # of a level before: what was less likely counts as this


@kernel
def measure_gaps(
    program: Program,
    n_candidates: int,
    factual: Floats,
    rows: Floats,
    residual: Floats,
    gaps: Floats,
) -> None:
    """Write the gap of each effect of rows ``(n, f)``; effects that are not compiled stay as is.

    ``factual (i, f)`` and ``residual (i, w)`` are the people whose candidates the rows are. The
    gap of a level that is kept counts by the share of its chance that is lost.
    """
    work, weights = workspace(program), program.weights
    predicted = work.predicted
    logits, values = np.empty_like(predicted), np.empty(BLOCK)
    places, chances = np.empty(BLOCK, np.int64), np.empty(len(factual))
    for place in range(program.effects.shape[1]):
        effect = program.effects[0, place]
        f = effect.position
        if effect.is_cut or effect.link == Link.GIVEN:
            continue
        reach = program.tolerances[f].reach
        is_categorical = program.tolerances[f].is_categorical == 1
        loses_chance = is_categorical or effect.link == Link.ORDERED
        if loses_chance:
            for begin in range(0, len(factual), BLOCK):
                end = min(begin + BLOCK, len(factual))
                predict(program, ZERO, place, factual[begin:end], work)
                for i in range(begin, end):
                    chances[i] = chance(effect, weights, predicted, i - begin, factual[i, f])
        for begin in range(0, len(rows), BLOCK):
            end = min(begin + BLOCK, len(rows))
            owners = places[: end - begin]
            find_owners(begin, n_candidates, owners)
            predict(program, ZERO, place, rows[begin:end], work)
            if loses_chance:
                for output in range(effect.n_outputs):
                    for c in range(end - begin):
                        logits[output, c] = predicted[output, c]
            respond(effect, weights, predicted, residual, owners, values)
            for row in range(begin, end):
                c, owner = row - begin, owners[row - begin]
                if np.isnan(residual[owner, effect.noise]):
                    gaps[row, f] = 0.0
                    continue
                gap = gap_of(rows[row, f], values[c], reach, is_categorical)
                if loses_chance and gap > 0 and rows[row, f] == factual[owner, f]:
                    after = chance(effect, weights, logits, c, rows[row, f])
                    gap *= lost_share(chances[owner], after)
                gaps[row, f] = gap


@part
def gap_of(own: float, value: float, reach: float, is_categorical: bool) -> float:
    """Return how far a cell is from the value that causes lead to."""
    gap = abs(own - value) / reach
    return (1.0 if gap > 0 else 0.0) if is_categorical else gap


@part
def lost_share(before: float, after: float) -> float:
    """Return the share of its chance that a level loses."""
    return max(1 - after / max(before, _MIN_CHANCE), 0.0)


@kernel
def measure_given(
    position: int,
    tolerance: Record,
    n_candidates: int,
    factual: Floats,
    rows: Floats,
    given: Floats,
    follows: Flags,
    chances: Floats,
    gaps: Floats,
) -> None:
    """Write the gaps of an effect that is not compiled, in rows ``(n, f)``.

    ``factual (i, f)`` are the people, ``given (n,)`` is what causes lead to where they ``follow``.
    ``chances (2, n)`` are those of the person's level before and after; they have no entries where
    levels have no chances.
    """
    is_categorical = tolerance.is_categorical == 1
    for row in range(len(rows)):
        own, before = rows[row, position], factual[row // n_candidates, position]
        gap = gap_of(own, given[row], tolerance.reach, is_categorical) if follows[row] else 0.0
        if own == before and gap > 0 and len(chances) > 0:
            gap *= lost_share(chances[0, row], chances[1, row])
        gaps[row, position] = gap
