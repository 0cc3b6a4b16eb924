"""Variation for numba: the children of :mod:`proce.search.variation`, but for rounding."""

import numpy as np
from numpy.typing import NDArray

from proce.compiled.kernel import kernel
from proce.search.kernels.pareto import Floats, Ints, Words
from proce.search.kernels.stream import (
    draw_bits,
    lower_half,
    lower_whole,
    stream_start,
    uniform,
    upper_half,
    upper_whole,
)
from proce.streams import Purpose

Flags = NDArray[np.bool_]

# Typed, or each of them would be compiled for itself.
_MATING, _CROSSING = np.int64(Purpose.MATING), np.int64(Purpose.CROSSING)
_CROSSOVER = np.int64(Purpose.CROSSOVER)
_CHANGE, _MUTATION = np.int64(Purpose.CHANGE), np.int64(Purpose.MUTATION)
_LEVEL = 2  # as GeneKind
_ONE, _TWO = np.uint64(1), np.uint64(2)


@kernel
def offspring(
    genes: Floats,  # (i, n, g)
    parents: Ints,  # (i, pairs, 2); written where they are drawn here
    is_tournament: bool,
    lower: Floats,  # (i, g)
    upper: Floats,  # (i, g)
    anchor: Floats,  # (i, g)
    movable: Flags,  # (i, g)
    kind: Ints,  # (g,)
    origin: Floats,  # (g,)
    step: Floats,  # (g,)
    snap: Floats,  # (g,)
    streams: Words,  # (i,)
    generation: int,
    probability: float,
    blend: bool,
    crossover_eta: float,
    mutation_rate: float,
    revert_rate: float,
    mutation_eta: float,
    children: Floats,  # (i, 2 * pairs, g); written
) -> None:
    """Write children, from the choice of their parents to values that each gene is allowed.

    Those of one instance stay in the cache from the first step to the last.
    """
    for i in range(len(genes)):
        own = slice(i, i + 1)
        if is_tournament:
            tournament(streams[own], generation, genes.shape[1], parents[own])
        cross(
            genes[own],
            parents[own],
            lower[own],
            upper[own],
            kind,
            streams[own],
            generation,
            probability,
            blend,
            crossover_eta,
            children[own],
        )
        mutate(
            children[own],
            lower[own],
            upper[own],
            anchor[own],
            movable[own],
            kind,
            origin,
            step,
            snap,
            streams[own],
            generation,
            mutation_rate,
            revert_rate,
            mutation_eta,
        )


@kernel
def tournament(streams: Words, generation: int, n: int, parents: Ints) -> None:
    """Write the parents ``(i, pairs, 2)``: the better of two at random, then of the others."""
    n_instances, n_pairs, _ = parents.shape
    for i in range(n_instances):
        start = stream_start(streams[i], generation, _MATING)
        for p in range(n_pairs):
            bits = draw_bits(start, 2 * p)
            one = min(upper_whole(bits, n), lower_whole(bits, n))
            bits = draw_bits(start, 2 * p + 1)
            other = min(upper_whole(bits, n - 1), lower_whole(bits, n - 1))
            parents[i, p, 0] = one
            parents[i, p, 1] = other + 1 if other >= one and n > 1 else other


@kernel
def cross(
    genes: Floats,  # (i, n, g)
    parents: Ints,  # (i, pairs, 2)
    lower: Floats,  # (i, g)
    upper: Floats,  # (i, g)
    kind: Ints,  # (g,)
    streams: Words,  # (i,)
    generation: int,
    probability: float,
    blend: bool,
    eta: float,
    children: Floats,  # (i, 2 * pairs, g); written
) -> None:
    """Write the children of each pair, before they mutate.

    No processor can predict which genes blend, so they are listed without a branch first.
    """
    n_instances, n_pairs, _ = parents.shape
    g = len(kind)
    ample = 2.0 ** (54.0 / (eta + 1.0))  # room to a bound, in gaps between the parents
    blended, draws = np.empty(g, np.int64), np.empty(g, np.uint64)
    for i in range(n_instances):
        crossing = stream_start(streams[i], generation, _CROSSING)
        crossover = stream_start(streams[i], generation, _CROSSOVER)
        for p in range(n_pairs):
            a, b = parents[i, p, 0], parents[i, p, 1]
            crosses = uniform(draw_bits(crossing, p)) < probability
            n_blended = 0
            for j in range(g):
                bits = draw_bits(crossover, p * g + j)
                swaps = crosses & (bits & _TWO != 0)
                children[i, 2 * p, j] = genes[i, b if swaps else a, j]
                children[i, 2 * p + 1, j] = genes[i, a if swaps else b, j]
                blended[n_blended] = j
                draws[n_blended] = bits
                n_blended += crosses & blend & (kind[j] != _LEVEL) & (bits & _ONE != 0)
            for s in range(n_blended):
                j, bits = blended[s], draws[s]
                low = min(genes[i, a, j], genes[i, b, j])
                high = max(genes[i, a, j], genes[i, b, j])
                if high - low > 0:  # a missing value has no place between others
                    low, high = _blend(
                        low, high, lower[i, j], upper[i, j], uniform(bits), eta, ample
                    )
                    swaps = bits & _TWO != 0
                    children[i, 2 * p, j] = high if swaps else low
                    children[i, 2 * p + 1, j] = low if swaps else high


@kernel
def _blend(
    low: float, high: float, lower: float, upper: float, u: float, eta: float, ample: float
) -> tuple[float, float]:
    """Return two values spread around two parents (simulated binary crossover).

    Room beyond ``ample`` changes no bit of a float. Where there is so much on both sides, as in a
    population that has closed up, a single power has to be computed.
    """
    gap = high - low
    middle = low + high
    below = 1.0 + 2.0 * max(low - lower, 0.0) / gap
    above = 1.0 + 2.0 * max(upper - high, 0.0) / gap
    if below > ample and above > ample:
        spread = _spread_factor(2.0 * u, eta) * gap
        return 0.5 * (middle - spread), 0.5 * (middle + spread)
    down = _spread_factor(u * (2.0 - below ** -(eta + 1.0)), eta) * gap
    up = _spread_factor(u * (2.0 - above ** -(eta + 1.0)), eta) * gap
    return 0.5 * (middle - down), 0.5 * (middle + up)


@kernel
def _spread_factor(share: float, eta: float) -> float:
    """Return the factor by which parents are drawn apart."""
    return float((share if share <= 1.0 else 1.0 / (2.0 - share)) ** (1.0 / (eta + 1.0)))


@kernel
def mutate(
    children: Floats,  # (i, c, g); written
    lower: Floats,  # (i, g)
    upper: Floats,  # (i, g)
    anchor: Floats,  # (i, g)
    movable: Flags,  # (i, g)
    kind: Ints,  # (g,)
    origin: Floats,  # (g,)
    step: Floats,  # (g,)
    snap: Floats,  # (g,)
    streams: Words,  # (i,)
    generation: int,
    mutation_rate: float,
    revert_rate: float,
    eta: float,
) -> None:
    """Change genes of the children, then put each on the nearest value that it is allowed."""
    n_instances, n_children, g = children.shape
    mutated = np.empty(g, np.int64)
    for i in range(n_instances):
        n_movable = 0
        for j in range(g):
            n_movable += movable[i, j]
        share = min(0.5, 1.0 / max(n_movable, 1))
        change = stream_start(streams[i], generation, _CHANGE)
        mutation = stream_start(streams[i], generation, _MUTATION)
        for c in range(n_children):
            n_mutated = 0
            whim = uniform(draw_bits(change, n_children * g + c))
            revert_chance = revert_rate * (whim * whim * whim)
            for j in range(g):
                bits = draw_bits(change, c * g + j)
                stays = upper_half(bits) >= revert_chance
                children[i, c, j] = children[i, c, j] if stays else anchor[i, j]
                mutated[n_mutated] = j
                n_mutated += movable[i, j] & stays & (lower_half(bits) < mutation_rate * share)
            for s in range(n_mutated):
                j = mutated[s]
                u = uniform(draw_bits(mutation, c * g + j))
                value, low, high = children[i, c, j], lower[i, j], upper[i, j]
                if kind[j] == _LEVEL:
                    children[i, c, j] = _another_level(value, low, high, u)
                else:
                    children[i, c, j] = _shift(value, low, high, step[j], u, eta)
            for j in range(g):
                children[i, c, j] = nearest_allowed(
                    children[i, c, j],
                    lower[i, j],
                    upper[i, j],
                    anchor[i, j],
                    movable[i, j],
                    origin[j],
                    step[j],
                    snap[j],
                )


@kernel
def nearest_allowed(
    value: float,
    lower: float,
    upper: float,
    anchor: float,
    movable: bool,
    origin: float,
    step: float,
    snap: float,
) -> float:
    """Return the nearest value that a gene may take; a missing value has not moved."""
    on_grid = origin + np.rint((value - origin) / step) * step if step > 0 else value
    clamped = min(max(on_grid, lower), upper)
    near = (abs(value - anchor) <= snap) | (abs(clamped - anchor) <= snap)
    return anchor if near or not movable or value != value else clamped


@kernel
def _another_level(value: float, lower: float, upper: float, u: float) -> float:
    """Return a random level other than the present one."""
    present = lower <= value <= upper
    level = lower + float(np.floor(u * (upper - lower + (0.0 if present else 1.0))))
    return level + 1.0 if present and level >= value else level


@kernel
def _shift(value: float, lower: float, upper: float, step: float, u: float, eta: float) -> float:
    """Return a value shifted by polynomial mutation, by at least a step; any if it is missing."""
    width = upper - lower
    if np.isnan(value):
        return lower + u * width
    value = min(max(value, lower), upper)
    room = (value - lower if u < 0.5 else upper - value) / width if width > 0 else 0.0
    tail = min(u, 1.0 - u) * 2.0
    reach = float((tail + (1.0 - tail) * (1.0 - room) ** (eta + 1.0)) ** (1.0 / (eta + 1.0)))
    shift = max((1.0 - reach) * width, step)
    return value - shift if u < 0.5 else value + shift
