"""How far effects are from what their causes lead to, candidate by candidate."""

import numpy as np

from proce.arrays import Floats
from proce.causal.programs.kernels import find_owners
from proce.causal.programs.noise import ends_of_level
from proce.causal.programs.program import Link, Program
from proce.causal.programs.responses import BLOCK, predict, respond, workspace
from proce.compiled.elementary import exp, share_below
from proce.compiled.kernel import ZERO, kernel

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
    work = workspace(program)
    predicted = work.predicted
    logits, values = np.empty_like(predicted), np.empty(BLOCK)
    places, chances = np.empty(BLOCK, np.int64), np.empty(len(factual))
    for place in range(program.effects.shape[1]):
        effect = program.effects[0, place]
        f = effect.position
        if effect.is_cut or effect.link == Link.GIVEN:
            continue
        is_categorical = program.tolerances[f].is_categorical == 1
        loses_chance = is_categorical or effect.link == Link.ORDERED
        if loses_chance:
            for begin in range(0, len(factual), BLOCK):
                end = min(begin + BLOCK, len(factual))
                predict(program, ZERO, place, factual[begin:end], work)
                for i in range(begin, end):
                    chances[i] = _chance(program, place, predicted, i - begin, factual[i, f])
        for begin in range(0, len(rows), BLOCK):
            end = min(begin + BLOCK, len(rows))
            owners = places[: end - begin]
            find_owners(begin, n_candidates, owners)
            predict(program, ZERO, place, rows[begin:end], work)
            if loses_chance:
                for output in range(effect.n_outputs):
                    for c in range(end - begin):
                        logits[output, c] = predicted[output, c]
            respond(program, ZERO, place, residual, owners, predicted, values)
            for row in range(begin, end):
                c, owner = row - begin, owners[row - begin]
                if np.isnan(residual[owner, effect.noise]):
                    gaps[row, f] = 0.0
                    continue
                gap = abs(rows[row, f] - values[c]) / program.tolerances[f].reach
                if is_categorical:
                    gap = 1.0 if gap > 0 else 0.0
                if loses_chance and gap > 0 and rows[row, f] == factual[owner, f]:
                    after = _chance(program, place, logits, c, rows[row, f])
                    gap *= max(1 - after / max(chances[owner], _MIN_CHANCE), 0.0)
                gaps[row, f] = gap


@kernel
def _chance(program: Program, place: int, predicted: Floats, c: int, level: float) -> float:
    """Return the chance that predictions ``(o, c)`` give a level; a missing one counts as 0."""
    effect, level = program.effects[0, place], max(level, 0.0)
    if effect.link == Link.ORDERED:
        low, high = ends_of_level(
            program, effect.thresholds, effect.n_levels, level, predicted[0, c]
        )
        if low > 0:  # there both shares are close to 1: take what is beyond instead
            return share_below(-low) - share_below(-high)
        return share_below(high) - share_below(low)
    largest = predicted[0, c]
    for output in range(1, effect.n_outputs):
        largest = max(largest, predicted[output, c])
    total = 0.0
    for output in range(effect.n_outputs):
        total += exp(predicted[output, c] - largest)
    return exp(predicted[int(level), c] - largest) / total
