"""One effect of a program for many candidates, in Triton: its equation, and what becomes of it.

The arithmetic is that of :mod:`proce.causal.programs.responses` and
:mod:`proce.causal.programs.kernels`, in the same order. A program takes some candidates, whichever
people they belong to. Tables of records come as two matrices, of their whole numbers and of their
numbers; the columns are those of the record types.
"""

import triton
import triton.language as tl

_LARGEST = tl.constexpr(1.7976931348623157e308)
_MIDDLE = tl.constexpr(1.5 * 2.0**52)  # where doubles are whole numbers: what is added is rounded
_ROUNDING = tl.constexpr(1e-9)  # a move that is smaller is no step
_RANK, _LEVEL = tl.constexpr(1), tl.constexpr(2)  # as Kind
_MULTIPLICATIVE, _RANKED = tl.constexpr(2), tl.constexpr(3)  # as Link
_ORDERED, _CHOICE = tl.constexpr(4), tl.constexpr(5)
EFFECT_INTS, EFFECT_FLOATS = tl.constexpr(15), tl.constexpr(6)  # columns of the matrices
PARENT_INTS, PARENT_FLOATS = tl.constexpr(6), tl.constexpr(7)


@triton.jit
def _clamped(value: tl.tensor, low: tl.tensor, high: tl.tensor) -> tl.tensor:
    """Return values, or the ends that they are beyond; what is no number stays none."""
    return tl.where(value < low, low, tl.where(value > high, high, value))


@triton.jit
def _whole(value: tl.tensor) -> tl.tensor:
    """Return the nearest whole numbers, of two equally near ones the even one."""
    return tl.where(tl.abs(value) < _MIDDLE, (value + _MIDDLE) - _MIDDLE, value)


@triton.jit
def _active(
    parent_ints: tl.tensor,
    parent_floats: tl.tensor,
    parent: tl.tensor,
    rows: tl.tensor,
    none: tl.tensor,
    is_there: tl.tensor,
) -> tuple[tl.tensor, tl.tensor]:
    """Return the active column of a parent in candidates, and what stands in it."""
    ints, floats = parent_ints + parent * PARENT_INTS, parent_floats + parent * PARENT_FLOATS
    position, kind, first = tl.load(ints), tl.load(ints + 1), tl.load(ints + 2)
    value = tl.load(rows + position, mask=is_there, other=0.0)
    if kind == _LEVEL:
        code = tl.where(value > 0, value, 0.0).to(tl.int64)
        known = ((value < 0) | (code.to(tl.float64) == value)) & (code < tl.load(ints + 3))
        column = tl.where(known, first + code, none)
        amount = tl.zeros_like(value) + 1.0
    else:
        if kind == _RANK:
            value = tl.where(value < 0, 0.0, value)
        else:
            value = tl.where(value == value, _clamped(value, -_LARGEST, _LARGEST), 0.0)
        value = (value * tl.load(floats) + tl.load(floats + 1)) * tl.load(floats + 2)
        value = _clamped(value + tl.load(floats + 3), tl.load(floats + 4), tl.load(floats + 5))
        column = tl.zeros_like(value).to(tl.int64) + first
        amount = value / tl.load(floats + 6)
    return column, amount


@triton.jit
def _predicted(
    effect: tl.tensor,
    effect_floats: tl.tensor,
    parent_ints: tl.tensor,
    parent_floats: tl.tensor,
    weights: tl.tensor,
    output: tl.tensor,
    rows: tl.tensor,
    is_there: tl.tensor,
    B: tl.constexpr,
) -> tl.tensor:
    """Return one output of an equation without its noise."""
    first_parent, n_parents = tl.load(effect + 5), tl.load(effect + 6)
    none, has_products = tl.load(effect + 7), tl.load(effect + 8)
    n_columns = none + 1
    constant = tl.load(effect + 10) + output * tl.load(effect + 11)
    plain, matrix = constant + 1, constant + 1 + n_columns
    total = tl.zeros([B], tl.float64) + tl.load(weights + constant)
    for cause in range(n_parents):
        parent = first_parent + cause
        column, amount = _active(parent_ints, parent_floats, parent, rows, none, is_there)
        slope = tl.load(weights + plain + column, mask=is_there, other=0.0)
        if has_products != 0:
            for other in range(cause, n_parents):
                beside, size = _active(
                    parent_ints, parent_floats, first_parent + other, rows, none, is_there
                )
                cell = matrix + column * n_columns + beside
                slope += tl.load(weights + cell, mask=is_there, other=0.0) * size
        total += slope * amount
        n_knots = tl.load(parent_ints + parent * PARENT_INTS + 4)
        if n_knots > 0:
            knots = tl.load(parent_ints + parent * PARENT_INTS + 5)
            n_bends = n_knots - 1
            beyond = tl.maximum(amount - tl.load(weights + knots + n_bends), 0.0)
            last = beyond * beyond * beyond
            bends = knots + n_knots + output * n_bends
            for bend in range(n_bends):
                beyond = tl.maximum(amount - tl.load(weights + knots + bend), 0.0)
                total += tl.load(weights + bends + bend) * (beyond * beyond * beyond - last)
    if tl.load(effect + 9) != 0:
        total = tl.exp(total) + tl.load(effect_floats + 4)
    return total


@triton.jit
def outcome_kernel(
    effect_ints: tl.tensor,  # (m * e, 15)
    effect_floats: tl.tensor,  # (m * e, 6)
    parent_ints: tl.tensor,  # (p, 6)
    parent_floats: tl.tensor,  # (p, 7)
    weights: tl.tensor,  # (w,)
    place: tl.tensor,
    rows: tl.tensor,  # (n, f)
    residual: tl.tensor,  # (i, w)
    values: tl.tensor,  # (n,); written
    n_all: tl.tensor,
    n_candidates: tl.tensor,
    n_features: tl.tensor,
    n_noise: tl.tensor,
    B: tl.constexpr,
) -> None:
    """Write what the causes of an effect lead to under each owner's noise; NaN if not known."""
    n = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    is_there = n < n_all
    effect, numbers = effect_ints + place * EFFECT_INTS, effect_floats + place * EFFECT_FLOATS
    link, first = tl.load(effect + 1), tl.load(effect + 3)
    own = rows + n * n_features
    noises = residual + (n // n_candidates) * n_noise + first
    noise = tl.load(noises, mask=is_there, other=0.0)
    value = _predicted(effect, numbers, parent_ints, parent_floats, weights, 0, own, is_there, B)
    if link == _CHOICE:
        highest = value + noise
        value = tl.zeros([B], tl.float64)
        for output in range(1, tl.load(effect + 4)):
            logit = _predicted(
                effect, numbers, parent_ints, parent_floats, weights, output, own, is_there, B
            )
            logit += tl.load(noises + output, mask=is_there, other=0.0)
            value = tl.where(logit > highest, tl.zeros([B], tl.float64) + output, value)
            highest = tl.where(logit > highest, logit, highest)
    elif link == _ORDERED:
        latent = value + noise
        value = tl.zeros([B], tl.float64)
        thresholds = weights + tl.load(effect + 12)
        for level in range(tl.load(effect + 13) - 1):
            value += (tl.load(thresholds + level) < latent).to(tl.float64)
    elif link == _RANKED:
        most = tl.load(effect + 13).to(tl.float64) - 1.0
        value = _clamped(_whole(value + noise), tl.zeros([B], tl.float64), most)
    elif link == _MULTIPLICATIVE:
        origin = tl.load(numbers + 5)
        value = (value - origin) * tl.exp(noise) + origin
    else:
        value = _clamped(value + noise, tl.load(numbers + 2), tl.load(numbers + 3))
    value = (value - tl.load(numbers)) / tl.load(numbers + 1)
    tl.store(values + n, tl.where(noise == noise, value, noise), mask=is_there)


@triton.jit
def separate_kernel(
    values: tl.tensor,  # (n,)
    tolerances: tl.tensor,  # (f, 6): still, limit, step, origin, lowest, highest
    factual: tl.tensor,  # (i, f)
    rows: tl.tensor,  # (n, f)
    acting: tl.tensor,  # (n, f) as bytes
    point: tl.tensor,  # (n, f); written, as are all that follow
    expected: tl.tensor,
    acted_on: tl.tensor,
    held: tl.tensor,
    consequence: tl.tensor,
    outside: tl.tensor,
    f: tl.tensor,
    n_all: tl.tensor,
    n_candidates: tl.tensor,
    n_features: tl.tensor,
    HAS_FLAGS: tl.constexpr,
    B: tl.constexpr,
) -> None:
    """Tell an action, a hold and a consequence apart in the cells of one effect."""
    n = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    is_there = n < n_all
    cell = n * n_features + f
    value = tl.load(values + n, mask=is_there, other=0.0)
    before = tl.load(factual + (n // n_candidates) * n_features + f, mask=is_there, other=0.0)
    wanted = tl.load(rows + cell, mask=is_there, other=0.0)
    own = tolerances + f * 6
    still, limit, step = tl.load(own), tl.load(own + 1), tl.load(own + 2)
    origin, lowest, highest = tl.load(own + 3), tl.load(own + 4), tl.load(own + 5)
    drift = value - before
    if step == 0:
        ended = tl.where(tl.abs(drift) > still, before + drift, before)
    elif origin == origin:
        ended = origin + _whole((before + drift - origin) / step) * step
        ended = tl.where(tl.abs(drift) > still, ended, before)
    else:
        shift = _whole(drift / step) * step
        ended = tl.where(tl.abs(shift) > _ROUNDING, before + shift, before)
    moved = tl.abs(wanted - before) > still
    chosen = tl.abs(wanted - ended) > limit
    if HAS_FLAGS:
        chosen = chosen & (tl.load(acting + cell, mask=is_there, other=0) != 0)
    went = (ended != before) & ~chosen
    beyond = ((ended < before) & (ended < lowest)) | ((ended > before) & (ended > highest))
    follows = is_there & (value == value)
    tl.store(expected + cell, ended, mask=follows)
    tl.store(acted_on + cell, (chosen & moved).to(tl.uint8), mask=follows)
    tl.store(held + cell, (chosen & ~moved).to(tl.uint8), mask=follows)
    tl.store(consequence + cell, went.to(tl.uint8), mask=follows)
    tl.store(outside + cell, (went & beyond).to(tl.uint8), mask=follows)
    kept = tl.where(chosen, tl.where(moved, wanted, before), ended)
    tl.store(point + cell, kept, mask=follows)
