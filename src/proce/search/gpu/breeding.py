"""Mating, crossover and mutation on a CUDA device: the children of :mod:`proce.search.variation`.

A program makes the children of some pairs of one instance, from the draws that the same pairs have
on the CPU; children differ from those by rounding alone.
"""

import triton
import triton.language as tl

from proce.search.gpu.ranking import mix
from proce.streams import FIRST_FACTOR, GOLDEN, LOW_HALF, SECOND_FACTOR, Purpose

_GOLDEN, _LOW_HALF = tl.constexpr(GOLDEN), tl.constexpr(LOW_HALF)
_FIRST_FACTOR, _SECOND_FACTOR = tl.constexpr(FIRST_FACTOR), tl.constexpr(SECOND_FACTOR)
_MATING, _CROSSING = tl.constexpr(int(Purpose.MATING)), tl.constexpr(int(Purpose.CROSSING))
_CROSSOVER, _CHANGE = tl.constexpr(int(Purpose.CROSSOVER)), tl.constexpr(int(Purpose.CHANGE))
_MUTATION = tl.constexpr(int(Purpose.MUTATION))
_LEVEL = tl.constexpr(2)  # as GeneKind
_HALF_UNIT, _BIT = tl.constexpr(2.0**-32), tl.constexpr(2.0**-52)
_MIDDLE = tl.constexpr(1.5 * 2.0**52)  # where doubles are whole numbers: what is added is rounded


@triton.jit
def _stream_start(state: tl.tensor, generation: tl.tensor, purpose: tl.constexpr) -> tl.tensor:
    """Return where an instance's numbers for one generation and purpose begin."""
    state = mix(state + generation.to(tl.uint64) * _FIRST_FACTOR)
    by_purpose: tl.constexpr = (purpose * _SECOND_FACTOR) % (2**64)
    return mix(state + by_purpose)


@triton.jit
def _draw(start: tl.tensor, position: tl.tensor) -> tl.tensor:
    """Return the random bits at positions of a stream."""
    return mix(start + (position + 1).to(tl.uint64) * _GOLDEN)


@triton.jit
def _uniform(bits: tl.tensor) -> tl.tensor:
    """Return numbers between 0 and 1, both excluded."""
    return ((bits >> 12).to(tl.float64) + 0.5) * _BIT


@triton.jit
def _better_of_two(bits: tl.tensor, n: tl.tensor) -> tl.tensor:
    """Return the smaller of two whole numbers below ``n``."""
    n = n.to(tl.uint64)
    return tl.minimum(((bits >> 32) * n) >> 32, ((bits & _LOW_HALF) * n) >> 32).to(tl.int64)


@triton.jit
def _power(base: tl.tensor, EXPONENT: tl.constexpr) -> tl.tensor:
    """Return powers of numbers that are not negative."""
    return tl.exp2(EXPONENT * tl.log2(base))


@triton.jit
def _whole(value: tl.tensor) -> tl.tensor:
    """Return the nearest whole numbers, of two equally near ones the even one."""
    return (value + _MIDDLE) - _MIDDLE


@triton.jit
def _spread_factor(share: tl.tensor, ETA: tl.constexpr) -> tl.tensor:
    """Return the factor by which parents are drawn apart."""
    folded = tl.where(share <= 1, share, 1 / (2 - tl.where(share <= 1, 0.0, share)))
    return _power(folded, 1 / (ETA + 1))


@triton.jit
def _mutated(
    value: tl.tensor,
    lower: tl.tensor,
    upper: tl.tensor,
    is_level: tl.tensor,
    step: tl.tensor,
    u: tl.tensor,
    ETA: tl.constexpr,
) -> tl.tensor:
    """Return another level, or a number shifted by polynomial mutation, by at least a step."""
    present = (lower <= value) & (value <= upper)
    level = lower + tl.floor(u * (upper - lower + tl.where(present, 0.0, 1.0)))
    level = level + tl.where(present & (level >= value), 1.0, 0.0)
    width = upper - lower
    inside = tl.minimum(tl.maximum(value, lower), upper)
    room = tl.where(u < 0.5, inside - lower, upper - inside)
    room = tl.where(width > 0, room / tl.where(width > 0, width, 1.0), 0.0)
    tail = tl.minimum(u, 1 - u) * 2
    reach = _power(tail + (1 - tail) * _power(1 - room, ETA + 1), 1 / (ETA + 1))
    shift = tl.maximum((1 - reach) * width, step)
    shifted = tl.where(u < 0.5, inside - shift, inside + shift)
    shifted = tl.where(value != value, lower + u * width, shifted)
    return tl.where(is_level, level, shifted)


@triton.jit
def _grown(
    child: tl.tensor,  # (p, g)
    number: tl.tensor,  # (p, 1), the position of each child among its siblings
    n_children: tl.tensor,
    n_genes: tl.tensor,
    j: tl.tensor,  # (1, g)
    lower: tl.tensor,
    upper: tl.tensor,
    anchor: tl.tensor,
    movable: tl.tensor,
    is_level: tl.tensor,
    origin: tl.tensor,
    step: tl.tensor,
    snap: tl.tensor,
    change: tl.tensor,
    mutation: tl.tensor,
    share: tl.tensor,
    REVERT_RATE: tl.constexpr,
    ETA: tl.constexpr,
) -> tl.tensor:
    """Return children with some genes changed, some reverted, and all on values they may take."""
    bits = _draw(change, number * n_genes + j)
    whim = _uniform(_draw(change, n_children * n_genes + number))
    reverts = (bits >> 32).to(tl.float64) * _HALF_UNIT < REVERT_RATE * (whim * whim * whim)
    changes = (bits & _LOW_HALF).to(tl.float64) * _HALF_UNIT < share
    u = _uniform(_draw(mutation, number * n_genes + j))
    new = _mutated(child, lower, upper, is_level, step, u, ETA)
    child = tl.where(reverts, anchor, tl.where(changes & movable, new, child))
    spacing = tl.where(step > 0, step, 1.0)
    on_grid = origin + _whole((child - origin) / spacing) * spacing
    clamped = tl.minimum(tl.maximum(tl.where(step > 0, on_grid, child), lower), upper)
    near = (tl.abs(child - anchor) <= snap) | (tl.abs(clamped - anchor) <= snap)
    stays = near | (child != child) | ~movable
    return tl.where(stays, anchor, clamped)


@triton.jit(do_not_specialize=["generation", "n_parents"])
def offspring_kernel(
    genes: tl.tensor,  # (i, n, g)
    lower: tl.tensor,  # (i, g)
    upper: tl.tensor,  # (i, g)
    anchor: tl.tensor,  # (i, g)
    movable: tl.tensor,  # (i, g) as bytes
    kind: tl.tensor,  # (g,)
    origin: tl.tensor,  # (g,)
    step: tl.tensor,  # (g,)
    snap: tl.tensor,  # (g,)
    states: tl.tensor,  # (i,)
    children: tl.tensor,  # (i, c, g); written
    generation: tl.tensor,
    n_parents: tl.tensor,
    n_pairs: tl.tensor,
    n_kept: tl.tensor,
    n_genes: tl.tensor,
    PROBABILITY: tl.constexpr,
    CROSSOVER_ETA: tl.constexpr,
    MUTATION_RATE: tl.constexpr,
    REVERT_RATE: tl.constexpr,
    MUTATION_ETA: tl.constexpr,
    BLENDS: tl.constexpr,
    P: tl.constexpr,
    G: tl.constexpr,
) -> None:
    """Write the children of some pairs of one instance, each gene on a value that it may take."""
    instance = tl.program_id(0).to(tl.int64)
    pair = (tl.program_id(1) * P + tl.arange(0, P)).to(tl.int64)[:, None]  # (p, 1)
    j = tl.arange(0, G).to(tl.int64)[None]  # (1, g)
    there = j < n_genes
    own = instance * n_genes + j
    low = tl.load(lower + own, mask=there, other=0.0)
    high = tl.load(upper + own, mask=there, other=0.0)
    home = tl.load(anchor + own, mask=there, other=0.0)
    moves = (tl.load(movable + own, mask=there, other=0) != 0) & there
    is_level = tl.load(kind + j, mask=there, other=0) == _LEVEL
    start_of_grid = tl.load(origin + j, mask=there, other=0.0)
    spacing = tl.load(step + j, mask=there, other=0.0)
    near = tl.load(snap + j, mask=there, other=0.0)
    state = tl.load(states + instance).to(tl.uint64, bitcast=True)

    mating = _stream_start(state, generation, _MATING)
    one = _better_of_two(_draw(mating, 2 * pair), n_parents)
    other = _better_of_two(_draw(mating, 2 * pair + 1), n_parents - 1)
    other = other + ((other >= one) & (n_parents > 1)).to(tl.int64)
    exists = (pair < n_pairs) & there
    a = tl.load(genes + (instance * n_parents + one) * n_genes + j, mask=exists, other=0.0)
    b = tl.load(genes + (instance * n_parents + other) * n_genes + j, mask=exists, other=0.0)

    crosses = _uniform(_draw(_stream_start(state, generation, _CROSSING), pair)) < PROBABILITY
    bits = _draw(_stream_start(state, generation, _CROSSOVER), pair * n_genes + j)
    first, second = a, b
    if BLENDS:
        least, most = tl.minimum(a, b), tl.maximum(a, b)
        gap = tl.where(most > least, most - least, 1.0)
        blends = crosses & ~is_level & ((bits & 1) != 0) & (most > least)
        below = 1 + 2 * tl.maximum(least - low, 0.0) / gap
        above = 1 + 2 * tl.maximum(high - most, 0.0) / gap
        u = _uniform(bits)
        power: tl.constexpr = -(CROSSOVER_ETA + 1)
        down = _spread_factor(u * (2 - _power(below, power)), CROSSOVER_ETA) * gap
        up = _spread_factor(u * (2 - _power(above, power)), CROSSOVER_ETA) * gap
        first = tl.where(blends, 0.5 * (least + most - down), a)
        second = tl.where(blends, 0.5 * (least + most + up), b)
    swaps = crosses & ((bits & 2) != 0)
    left, right = tl.where(swaps, second, first), tl.where(swaps, first, second)

    n_movable = tl.sum(moves.to(tl.int32))
    share = MUTATION_RATE * tl.minimum(0.5, 1.0 / tl.maximum(n_movable, 1).to(tl.float64))
    change = _stream_start(state, generation, _CHANGE)
    mutation = _stream_start(state, generation, _MUTATION)
    for side in tl.static_range(2):
        number = 2 * pair + side
        child = _grown(
            left if side == 0 else right,
            number,
            2 * n_pairs,
            n_genes,
            j,
            low,
            high,
            home,
            moves,
            is_level,
            start_of_grid,
            spacing,
            near,
            change,
            mutation,
            share,
            REVERT_RATE,
            MUTATION_ETA,
        )
        place = (instance * n_kept + number) * n_genes + j
        tl.store(children + place, child, mask=exists & (number < n_kept))
