"""How noise enters equations, for numba: what follows from it, and what explains a value.

The link of an effect, and what belongs to it, stand in its record `EFFECT`; the thresholds of
ordered levels stand in ``weights``. Predictions ``(o, c)`` are what the equation gives without
its noise: a number or a score in one line, or the logits of levels.
"""

import numpy as np

from proce.arrays import Array, Floats, Ints
from proce.causal.programs.program import Link, Record
from proce.compiled.cells import clamped, known_or_first
from proce.compiled.elementary import exp, log, share_below, turn_into_softmax, value_above
from proce.compiled.kernel import kernel, part

_MIN_GAP = 1e-9  # of the noise of a level from where another level begins, beyond rounding
_MAX_NOISE = 40.0  # normal noise from the middle, or from its threshold: farther has no chance


@kernel
def respond(
    effect: Record,
    weights: Floats,
    predicted: Floats,
    residual: Floats,
    owners: Ints,
    sums: Floats,
    values: Floats,
) -> None:
    """Write the values ``(c,)`` that predictions ``(o, c)`` come to under the owners' noise."""
    # `residual (i, w)` is the noise of each person, and `owners (c,)` says whose rows these are.
    # `sums (c,)` is memory for scores or logits with their noise.
    n_rows, link, first = len(owners), effect.link, effect.noise
    for c in range(n_rows):
        values[c] = predicted[0, c] + residual[owners[c], first]
    if link == Link.CHOICE:
        for c in range(n_rows):
            sums[c] = values[c]
            values[c] = 0.0
        for output in range(1, effect.n_outputs):
            for c in range(n_rows):
                logit = predicted[output, c] + residual[owners[c], first + output]
                if logit > sums[c]:
                    sums[c] = logit
                    values[c] = output
    elif link == Link.ORDERED:
        for c in range(n_rows):
            sums[c] = values[c]
            values[c] = 0.0
        for level in range(effect.n_levels - 1):
            threshold = weights[effect.thresholds + level]
            for c in range(n_rows):
                values[c] += 1.0 if threshold < sums[c] else 0.0
    elif link == Link.RANKED:
        highest = effect.n_levels - 1.0
        for c in range(n_rows):
            values[c] = clamped(np.rint(values[c]), 0.0, highest)
    elif link == Link.MULTIPLICATIVE:
        origin, owner, factor = effect.noise_origin, -1, 0.0
        for c in range(n_rows):
            if owners[c] != owner:
                owner = owners[c]
                factor = exp(residual[owner, first])
            values[c] = (predicted[0, c] - origin) * factor + origin
    else:
        for c in range(n_rows):
            values[c] = clamped(values[c], effect.lowest, effect.highest)


@kernel
def explain(
    effect: Record,
    weights: Floats,
    predicted: Floats,
    values: Floats,
    uniforms: Floats,
    noise: Floats,
) -> None:
    """Write the noise ``(c, w)`` under which predictions ``(o, c)`` come to values ``(c,)``."""
    # Where many noises give a level, one is drawn with `uniforms (c, w)`.
    first = effect.noise
    for c in range(len(values)):
        value = values[c]
        if effect.link == Link.CHOICE:
            _explain_choice(predicted, c, int(value), effect.n_outputs, uniforms, noise, first)
        elif effect.link == Link.ORDERED:
            share = 0.5 if effect.is_median else uniforms[c, first]
            low, high = ends_of_level(
                weights, effect.thresholds, effect.n_levels, int(value), predicted[0, c]
            )
            noise[c, first] = _between(low, high, share)
        elif effect.link == Link.MULTIPLICATIVE:
            origin = effect.noise_origin
            noise[c, first] = log((value - origin) / (predicted[0, c] - origin))
        else:
            noise[c, first] = value - predicted[0, c]


@part
def ends_of_level(
    weights: Floats, thresholds: int, n_levels: int, level: int, score: float
) -> tuple[float, float]:
    """Return the least and the most noise under which a score comes to an ordered level."""
    # The thresholds begin at a place among the weights `(w,)`. Ends that the first and the last
    # level lack lie so far that noise beyond them has no chance.
    last = n_levels - 1
    above = weights[thresholds + min(level, last - 1)] - score
    below = weights[thresholds + max(level - 1, 0)] - score
    low = below if level > 0 else min(above, 0.0) - _MAX_NOISE
    high = above if level < last else max(below, 0.0) + _MAX_NOISE
    return low, high


@kernel
def write_ends(thresholds: Floats, levels: Ints, scores: Floats, ends: Floats) -> None:
    """Write the ends ``(2, n)`` of the noise under which scores ``(n,)`` come to ordered levels."""
    for row in range(len(levels)):
        ends[0, row], ends[1, row] = ends_of_level(
            thresholds, 0, len(thresholds) + 1, levels[row], scores[row]
        )


@part
def share_between(low: float, high: float) -> float:
    """Return the share of standard normal numbers between two ends."""
    if low > 0:  # there both shares are close to 1: take what is beyond instead
        return share_below(-low) - share_below(-high)
    return share_below(high) - share_below(low)


@part
def _between(low: float, high: float, share: float) -> float:
    """Return normal noise between two ends, of which a share is below it."""
    is_upper = low > 0  # there both shares are close to 1: draw from the other side
    start = share_below(-high if is_upper else low)
    stop = share_below(-low if is_upper else high)
    drawn = value_above(start + (stop - start) * (1 - share if is_upper else share))
    gap = min((high - low) / 4, _MIN_GAP)
    return max(min(-drawn if is_upper else drawn, high - gap), low + gap)


@part
def _explain_choice(
    logits: Floats,
    c: int,
    chosen: int,
    n_levels: int,
    uniforms: Floats,
    noise: Floats,
    first: int,
) -> None:
    """Write the Gumbel noise ``(c, w)`` of row c, given the one chosen of its logits ``(l, c)``."""
    # Noise is drawn from its posterior, with `uniforms (c, w)`: the highest of the noisy logits is
    # Gumbel around their log-sum-exp, whichever level has it; the others are Gumbel around their
    # own logit, cut off below the highest (Maddison, Tarlow, Minka 2014).
    own = noise[c, first : first + n_levels]
    for level in range(n_levels):
        own[level] = logits[level, c]
    largest, total = turn_into_softmax(own)
    drawn = -log(uniforms[c, first + chosen])
    highest = largest + log(total) - log(drawn)
    for level in range(n_levels):
        if level == chosen:
            own[level] = highest - logits[level, c]
        else:
            drawn = max(-log(uniforms[c, first + level]), _MIN_GAP)
            own[level] = -log(exp(logits[level, c] - highest) + drawn)


@part
def chance(effect: Record, weights: Floats, predicted: Floats, c: int, level: float) -> float:
    """Return the chance that predictions ``(o, c)`` give a level in row c, where they are lost."""
    # A missing level counts as the first.
    level = known_or_first(level, False)
    if effect.link == Link.ORDERED:
        low, high = ends_of_level(
            weights, effect.thresholds, effect.n_levels, int(level), predicted[0, c]
        )
        return share_between(low, high)
    turn_into_softmax(predicted[: effect.n_outputs, c])
    return predicted[int(level), c]


@kernel
def write_chances(
    effect: Record, weights: Floats, predicted: Floats, levels: Floats, chances: Floats
) -> None:
    """Write the chances ``(c,)`` of levels under predictions ``(o, c)``, which are lost."""
    for c in range(len(levels)):
        chances[c] = chance(effect, weights, predicted, c, levels[c])


@kernel
def write_shares_between(low: Floats, high: Floats, shares: Floats) -> None:
    """Write the shares ``(n,)`` of standard normal numbers between ends, each ``(n,)``."""
    for place in range(len(low)):
        shares[place] = share_between(low[place], high[place])


def responses(effect: Record, weights: Floats, predicted: Array, residual: Array) -> Floats:
    """Return the values ``(…)`` of predictions ``(o, …)`` under noise ``(…, w)``."""
    shape = np.broadcast_shapes(predicted.shape[1:], residual.shape[:-1])
    values, size = np.empty(shape), residual.shape[-1]
    noise = _flat(residual, (*shape, size)).reshape(values.size, size)
    lines, owners = _lines(predicted, shape), np.arange(values.size)
    respond(effect, weights, lines, noise, owners, np.empty(values.size), values.reshape(-1))
    return values


def explanations(
    effect: Record, weights: Floats, predicted: Array, value: Array, uniforms: Array
) -> Floats:
    """Return the noise ``(…, w)`` under which predictions ``(o, …)`` come to values ``(…)``."""
    shape = np.broadcast_shapes(predicted.shape[1:], value.shape)
    noise = np.empty((*shape, len(predicted)))
    drawn = _flat(uniforms, noise.shape) if effect["link"] > Link.RANKED else noise
    lines, values = _lines(predicted, shape), _flat(value, shape)
    flat = (-1, len(predicted))
    explain(effect, weights, lines, values, drawn.reshape(flat), noise.reshape(flat))
    return noise


def chances_of_levels(effect: Record, weights: Floats, predicted: Array, levels: Array) -> Floats:
    """Return the chances ``(…)`` with which predictions ``(o, …)`` give levels ``(…)``."""
    shape = np.broadcast_shapes(predicted.shape[1:], levels.shape)
    lines, chances = _lines(predicted, shape), np.empty(shape)
    write_chances(effect, weights, lines, _flat(levels, shape), chances.reshape(-1))
    return chances


def shares_between(low: Array, high: Array) -> Floats:
    """Return the shares of standard normal numbers between ends ``(…)``."""
    shares = np.empty(low.shape)
    write_shares_between(_flat(low, low.shape), _flat(high, low.shape), shares.reshape(-1))
    return shares


def _lines(predicted: Array, shape: tuple[int, ...]) -> Floats:
    """Return a copy of predictions ``(o, …)`` as lines ``(o, c)``."""
    return _flat(predicted, (len(predicted), *shape)).reshape(len(predicted), -1).copy()


def _flat(values: Array, shape: tuple[int, ...]) -> Floats:
    """Return values ``(n,)`` that may be written to: kernels have another version for others."""
    wide = values if values.shape == shape else np.broadcast_to(values, shape)
    return np.require(wide, np.float64, ("C", "W")).reshape(-1)
