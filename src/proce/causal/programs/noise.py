"""The noise that explains rows, for numba: what `proce.causal.equations.mechanism` abducts."""

import numpy as np

from proce.arrays import Floats
from proce.causal.programs.program import Link, Program
from proce.causal.programs.responses import BLOCK, predict, workspace
from proce.compiled.elementary import exp, log, share_below, value_above
from proce.compiled.kernel import kernel

_MIN_GAP = 1e-9
_FARTHEST = 40.0


@kernel
def abduct(
    program: Program,
    rows: Floats,
    uniforms: Floats,
    noise: Floats,
) -> None:
    """Write the noise ``(m, n, w)`` that explains rows ``(n, f)`` in each model.

    It is NaN where the feature or a parent is missing. Where many noises explain a level, one is
    drawn with ``uniforms (m, n, w)``. The noise of an effect that is not compiled is left alone.
    """
    work = workspace(program)
    predicted = work.predicted
    for model in range(program.effects.shape[0]):
        for begin in range(0, len(rows), BLOCK):
            end = min(begin + BLOCK, len(rows))
            for place in range(program.effects.shape[1]):
                effect = program.effects[model, place]
                if effect.link == Link.GIVEN:
                    continue
                predict(program, model, place, rows[begin:end], work)
                f, first = effect.position, effect.noise
                for row in range(begin, end):
                    c = row - begin
                    known = is_known(rows[row, f], program.tolerances[f].is_number)
                    for cause in range(effect.n_parents):
                        position = program.parents[effect.first_parent + cause].position
                        known &= is_known(
                            rows[row, position], program.tolerances[position].is_number
                        )
                    if not known:
                        for output in range(effect.n_outputs):
                            noise[model, row, first + output] = np.nan
                        continue
                    value = rows[row, f] * effect.span + effect.low
                    if effect.link == Link.CHOICE:
                        _explain_choice(
                            predicted,
                            c,
                            int(value),
                            effect.n_outputs,
                            uniforms,
                            noise,
                            model,
                            row,
                            first,
                        )
                    elif effect.link == Link.ORDERED:
                        share = 0.5 if effect.is_median else uniforms[model, row, first]
                        low, high = ends_of_level(
                            program, effect.thresholds, effect.n_levels, value, predicted[0, c]
                        )
                        noise[model, row, first] = _between(low, high, share)
                    elif effect.link == Link.MULTIPLICATIVE:
                        origin = effect.noise_origin
                        ratio = (value - origin) / (predicted[0, c] - origin)
                        noise[model, row, first] = log(ratio)
                    else:
                        noise[model, row, first] = value - predicted[0, c]


@kernel
def is_known(value: float, is_number: int) -> bool:
    """Return whether a cell is not missing."""
    return value == value if is_number else value >= 0


@kernel
def ends_of_level(
    program: Program, thresholds: int, n_levels: int, rank: float, score: float
) -> tuple[float, float]:
    """Return the least and the most noise under which an ordered level comes about."""
    level, last = int(rank), n_levels - 1
    above = program.weights[thresholds + min(level, last - 1)] - score
    below = program.weights[thresholds + max(level - 1, 0)] - score
    low = below if level > 0 else min(above, 0.0) - _FARTHEST
    high = above if level < last else max(below, 0.0) + _FARTHEST
    return low, high


@kernel
def _between(low: float, high: float, share: float) -> float:
    """Return normal noise between two ends, of which a share is below it."""
    is_upper = low > 0  # there both shares are close to 1: draw from the other side
    start = share_below(-high if is_upper else low)
    stop = share_below(-low if is_upper else high)
    drawn = value_above(start + (stop - start) * (1 - share if is_upper else share))
    gap = min((high - low) / 4, _MIN_GAP)
    return max(min(-drawn if is_upper else drawn, high - gap), low + gap)


@kernel
def _explain_choice(
    logits: Floats,
    c: int,
    chosen: int,
    n_levels: int,
    uniforms: Floats,
    noise: Floats,
    model: int,
    row: int,
    first: int,
) -> None:
    """Write Gumbel noise under which one of the levels is chosen."""
    largest = logits[0, c]
    for level in range(1, n_levels):
        largest = max(largest, logits[level, c])
    total = 0.0
    for level in range(n_levels):
        total += exp(logits[level, c] - largest)
    drawn = -log(uniforms[model, row, first + chosen])
    highest = largest + log(total) - log(drawn)
    for level in range(n_levels):
        if level == chosen:
            noise[model, row, first + level] = highest - logits[level, c]
        else:
            drawn = max(-log(uniforms[model, row, first + level]), _MIN_GAP)
            noise[model, row, first + level] = -log(exp(logits[level, c] - highest) + drawn)
