"""The genes of each instance, and their children: mating, crossover, mutation, allowed values.

Genes of all kinds stand side by side in one float64 array ``(i, c, g)``: a level is a whole
number. Float64 because a gene that returns to its anchor must be the anchor to the last bit,
and anchors are encoded in float64.

Every draw belongs to a row (see :mod:`proce.compiled.streams`), so a child does not depend on what
else is in the batch. All kernels work on one instance ``i`` after the other, whose children stay in
the cache from the first step to the last.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from proce.arrays import Array, Flags, Floats, Ints, Words, even_codes, inwards
from proce.compiled.cells import on_grid
from proce.compiled.elementary import power
from proce.compiled.kernel import kernel, part
from proce.compiled.streams import (
    Purpose,
    RowStreams,
    draw_bits,
    lower_half,
    lower_whole,
    stream_start,
    uniform,
    upper_half,
    upper_whole,
)
from proce.errors import SearchError
from proce.search.settings import NSGA2Settings

_ALL = np.empty((0, 0, 0), np.bool_)


class GeneKind(IntEnum):
    """How a gene varies."""

    REAL = 0  # any value between its bounds
    GRID = 1  # ``origin + whole number * step``
    LEVEL = 2  # a code without an order: 0, 1, 2, …


class Genome(NamedTuple):
    """The genes of some instances; build it with :meth:`of`.

    A gene is allowed its anchor, always, and if it is movable every value (on its grid)
    between its bounds. The anchor may lie outside them: a missing number is NaN, a missing
    level -1. A caller that forbids the anchor passes the nearest permitted value instead.
    """

    # lower, upper: (i, g), the bounds, on the grid where there is one
    lower: Floats
    upper: Floats
    anchor: Floats  # (i, g), where the gene stood at first and where the revert mutation returns it
    movable: Flags  # (i, g) bool; false also where the bounds hold nothing but the anchor
    kind: Ints  # (g,) int64, values of `GeneKind`
    # origin, step: (g,), the grid; step 0 for reals
    origin: Floats
    step: Floats
    snap: Floats  # (g,), a value this near to its anchor is the anchor

    @classmethod
    def of(
        cls,
        lower: Array,
        upper: Array,
        anchor: Array,
        *,
        movable: Array | None = None,
        kind: Array | None = None,
        origin: Array | None = None,
        step: Array | None = None,
        snap: Array | None = None,
    ) -> "Genome":
        """Return a genome; by default all genes are movable reals without a snap.

        Shapes: lower, upper, anchor ``(i, g)``.
        """
        if anchor.ndim != 2 or not lower.shape == upper.shape == anchor.shape:
            raise SearchError(
                f"lower, upper and anchor have the shapes {tuple(lower.shape)},"
                f" {tuple(upper.shape)} and {tuple(anchor.shape)}; expected (instances, genes)."
            )
        lower, upper, anchor = (
            np.ascontiguousarray(end, np.float64) for end in (lower, upper, anchor)
        )
        zeros = np.zeros(anchor.shape[1], dtype=anchor.dtype)  # (g,)
        kind = (zeros if kind is None else kind).astype(np.int64)
        origin, step, snap = (zeros if given is None else given for given in (origin, step, snap))
        stepped, levels = kind != GeneKind.REAL, kind == GeneKind.LEVEL
        step = np.where(levels, 1.0, np.where(stepped, step, 0.0))
        if not bool((step[stepped] > 0).all()):
            raise SearchError("a gene of kind GRID has no step; expected a number above 0.")
        origin = np.where(levels, 0.0, origin)
        snap = np.maximum(snap, step / 2)
        lower, upper = (np.ascontiguousarray(end) for end in _onto_grid(lower, upper, origin, step))
        free = np.ones_like(anchor) if movable is None else movable
        free = np.broadcast_to(free.astype(np.bool_), anchor.shape)
        if not bool((np.isfinite(lower) & np.isfinite(upper))[free].all()):
            raise SearchError("a movable gene has a bound that is not finite; give it a range.")
        elsewhere = (lower == upper) & ~(np.abs(lower - anchor) <= snap)
        somewhere = (lower < upper) | elsewhere
        return cls(lower, upper, anchor, free & somewhere, kind, origin, step, snap)

    @property
    def n_instances(self) -> int:
        """How many instances there are."""
        return self.anchor.shape[0]

    @property
    def n_genes(self) -> int:
        """How many genes each instance has, movable or not."""
        return self.anchor.shape[1]

    def take(self, instances: Array) -> "Genome":
        """Return the genome of some of the instances, given by position."""
        return self._replace(
            lower=self.lower.take(instances, axis=0),
            upper=self.upper.take(instances, axis=0),
            anchor=self.anchor.take(instances, axis=0),
            movable=self.movable.take(instances, axis=0),
        )

    def repair(self, genes: Floats, flags: Flags | None = None) -> Floats:
        """Return genes ``(i, c, g)``, each moved to the nearest value that it may take.

        Only genes whose ``flags (i, c, g)`` are set are moved, where flags are given.
        """
        repaired = np.array(genes, np.float64, order="C")
        put_on_allowed(repaired, _ALL if flags is None else np.ascontiguousarray(flags), self)
        return repaired


def permitted_values(draws: Array, lower: Array, upper: Array, step: Array) -> Array:
    """Return values between bounds, each as likely as the others, from draws between 0 and 1.

    Shapes: draws ``(…, g)``, step ``(g,)``.
    """
    width = upper - lower
    spacing = np.where(step > 0, step, 1.0)
    stepped = lower + spacing * even_codes(draws, np.rint(width / spacing) + 1)
    return np.where(step > 0, stepped, lower + draws * width)


def _onto_grid(lower: Array, upper: Array, origin: Array, step: Array) -> tuple[Array, Array]:
    """Return bounds ``(i, g)`` moved inwards onto the grid, where there is one."""
    spacing = np.where(step > 0, step, 1.0)
    moved = inwards(lower, upper, origin, spacing)
    return np.where(step > 0, moved[0], lower), np.where(step > 0, moved[1], upper)


@kernel
def put_on_allowed(genes: Floats, flags: Flags, genome: Genome) -> None:
    """Put genes ``(i, c, g)`` on the nearest values that they are allowed.

    Only those whose ``flags`` are set, where there are flags; rows may have fewer genes than the
    genome.
    """
    for i in range(len(genes)):
        for c in range(genes.shape[1]):
            for j in range(genes.shape[2]):
                if flags.size == 0 or flags[i, c, j]:
                    genes[i, c, j] = nearest_allowed(
                        genes[i, c, j],
                        genome.lower[i, j],
                        genome.upper[i, j],
                        genome.anchor[i, j],
                        genome.movable[i, j],
                        genome.origin[j],
                        genome.step[j],
                        genome.snap[j],
                    )


@part
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
    """Return the nearest value that a gene may take; a missing value stands for the anchor.

    The arguments are one gene's numbers of a `Genome`: handing over the record costs more than
    the work itself.
    """
    nearest = on_grid(value, origin, step) if step > 0 else value
    clamped = min(max(nearest, lower), upper)
    near = abs(value - anchor) <= snap or abs(clamped - anchor) <= snap
    return anchor if near or not movable or value != value else clamped


# Typed, or each of them would be compiled for itself.
_MATING, _CROSSING = np.int64(Purpose.MATING), np.int64(Purpose.CROSSING)
_CROSSOVER = np.int64(Purpose.CROSSOVER)
_CHANGE, _MUTATION = np.int64(Purpose.CHANGE), np.int64(Purpose.MUTATION)
_LEVEL = int(GeneKind.LEVEL)
_ONE, _TWO = np.uint64(1), np.uint64(2)


class Operators(NamedTuple):
    """The operators of a search as kernels take them; see :class:`NSGA2Settings`."""

    is_tournament: bool
    blends: bool
    crossover_probability: float
    crossover_eta: float
    mutation_rate: float
    revert_rate: float
    mutation_eta: float

    @classmethod
    def of(cls, settings: NSGA2Settings) -> "Operators":
        """Return the operators that settings name."""
        return cls(
            settings.mating == "tournament",
            settings.crossover == "sbx",
            float(settings.crossover_probability),
            float(settings.crossover_eta),
            float(settings.mutation_rate),
            float(settings.revert_rate),
            float(settings.mutation_eta),
        )


class Turn(NamedTuple):
    """Whose children are made, and from which random numbers."""

    i: int  # the position of the instance
    stream: np.uint64  # the state of its stream
    generation: int  # the number of the generation


def offspring(
    genes: Floats,
    genome: Genome,
    streams: RowStreams,
    generation: int,
    n_offspring: int,
    settings: NSGA2Settings,
) -> Floats:
    """Return children ``(i, n_offspring, g)``, each gene on a value that it is allowed.

    Shapes: genes ``(i, n, g)``.
    """
    i, n, g = genes.shape
    n_pairs, operators = (n_offspring + 1) // 2, Operators.of(settings)
    if operators.is_tournament:
        parents = np.empty((i, n_pairs, 2), np.int64)
    else:
        parents = random_pairs(streams, generation, n, n_pairs)
    children = np.empty((i, 2 * n_pairs, g))
    breed(genes, parents, genome, operators, streams.states, generation, children)
    return np.ascontiguousarray(children[:, :n_offspring])


def random_pairs(streams: RowStreams, generation: int, n: int, n_pairs: int) -> Ints:
    """Return parents ``(i, pairs, 2)`` by shuffling the population, again and again if need be."""
    n_shuffles = -(-2 * n_pairs // n)
    bits = streams.bits(generation, Purpose.MATING, n_shuffles * n)
    shuffled = np.argsort(bits.view(np.int64).reshape(-1, n_shuffles, n), axis=-1, kind="stable")
    pairs = shuffled.reshape(-1, n_shuffles * n)[:, : 2 * n_pairs]
    return np.ascontiguousarray(pairs).reshape(-1, n_pairs, 2)


@kernel
def breed(
    genes: Floats,
    parents: Ints,
    genome: Genome,
    operators: Operators,
    streams: Words,
    generation: int,
    children: Floats,
) -> None:
    """Write children ``(i, 2 * pairs, g)`` of genes ``(i, n, g)``, from their parents to repair.

    The parents ``(i, pairs, 2)`` are written first, but where they are no tournament's.
    """
    for i in range(len(genes)):
        turn = Turn(i, streams[i], generation)
        if operators.is_tournament:
            tournament(turn, genes.shape[1], parents)
        cross(turn, genes, parents, genome, operators, children)
        mutate(turn, genome, operators, children)


@part
def tournament(turn: Turn, n: int, parents: Ints) -> None:
    """Write the parents ``(i, pairs, 2)``: the better of two at random, then of the others.

    The population is sorted, so the better one is the smaller position.
    """
    i, start = turn.i, stream_start(turn.stream, turn.generation, _MATING)
    for p in range(parents.shape[1]):
        bits = draw_bits(start, 2 * p)
        one = min(upper_whole(bits, n), lower_whole(bits, n))
        bits = draw_bits(start, 2 * p + 1)
        other = min(upper_whole(bits, n - 1), lower_whole(bits, n - 1))
        parents[i, p, 0] = one
        parents[i, p, 1] = other + 1 if other >= one and n > 1 else other


@part
def cross(
    turn: Turn,
    genes: Floats,
    parents: Ints,
    genome: Genome,
    operators: Operators,
    children: Floats,
) -> None:
    """Write the two children of each pair of an instance side by side, before they mutate.

    They are ``(i, 2 * pairs, g)``, of ``genes (i, n, g)`` and ``parents (i, pairs, 2)``. Each gene
    comes from either parent, or both children have one blended from the two. No processor can
    predict which genes blend, so they are listed without a branch first.
    """
    i, g, eta = turn.i, len(genome.kind), operators.crossover_eta
    ample = power(2.0, 54.0 / (eta + 1.0))  # room to a bound, in gaps between the parents
    blended, draws = np.empty(g, np.int64), np.empty(g, np.uint64)
    crossing = stream_start(turn.stream, turn.generation, _CROSSING)
    crossover = stream_start(turn.stream, turn.generation, _CROSSOVER)
    for p in range(parents.shape[1]):
        a, b = parents[i, p, 0], parents[i, p, 1]
        crosses = uniform(draw_bits(crossing, p)) < operators.crossover_probability
        n_blended = 0
        for j in range(g):
            bits = draw_bits(crossover, p * g + j)
            swaps = crosses & (bits & _TWO != 0)
            children[i, 2 * p, j] = genes[i, b if swaps else a, j]
            children[i, 2 * p + 1, j] = genes[i, a if swaps else b, j]
            blended[n_blended] = j
            draws[n_blended] = bits
            blends = crosses & operators.blends & (bits & _ONE != 0)
            n_blended += blends & (genome.kind[j] != _LEVEL)
        for s in range(n_blended):
            j, bits = blended[s], draws[s]
            low = min(genes[i, a, j], genes[i, b, j])
            high = max(genes[i, a, j], genes[i, b, j])
            if high - low > 0:  # a missing value has no place between others
                lower, upper = genome.lower[i, j], genome.upper[i, j]
                low, high = _blend(low, high, lower, upper, uniform(bits), eta, ample)
                swaps = bits & _TWO != 0
                children[i, 2 * p, j] = high if swaps else low
                children[i, 2 * p + 1, j] = low if swaps else high


@part
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
    down = _spread_factor(u * (2.0 - power(below, -(eta + 1.0))), eta) * gap
    up = _spread_factor(u * (2.0 - power(above, -(eta + 1.0))), eta) * gap
    return 0.5 * (middle - down), 0.5 * (middle + up)


@part
def _spread_factor(share: float, eta: float) -> float:
    """Return the factor by which parents are drawn apart."""
    return power(share if share <= 1.0 else 1.0 / (2.0 - share), 1.0 / (eta + 1.0))


@part
def mutate(turn: Turn, genome: Genome, operators: Operators, children: Floats) -> None:
    """Change genes of an instance's children, then put each on the nearest value it is allowed.

    The children of all instances are ``(i, c, g)``. Some genes go back to the anchor, which gives
    up a change; a few of the others move at random.
    """
    i, n_children, g = turn.i, children.shape[1], children.shape[2]
    mutated = np.empty(g, np.int64)
    n_movable = 0
    for j in range(g):
        n_movable += genome.movable[i, j]
    mutation_chance = operators.mutation_rate * min(0.5, 1.0 / max(n_movable, 1))
    change = stream_start(turn.stream, turn.generation, _CHANGE)
    mutation = stream_start(turn.stream, turn.generation, _MUTATION)
    for c in range(n_children):
        n_mutated = 0
        whim = uniform(draw_bits(change, n_children * g + c))  # how much of itself it gives up
        revert_chance = operators.revert_rate * (whim * whim * whim)
        for j in range(g):
            bits = draw_bits(change, c * g + j)
            stays = upper_half(bits) >= revert_chance
            children[i, c, j] = children[i, c, j] if stays else genome.anchor[i, j]
            mutated[n_mutated] = j
            n_mutated += genome.movable[i, j] & stays & (lower_half(bits) < mutation_chance)
        for s in range(n_mutated):
            j = mutated[s]
            u = uniform(draw_bits(mutation, c * g + j))
            value, low, high = children[i, c, j], genome.lower[i, j], genome.upper[i, j]
            if genome.kind[j] == _LEVEL:
                children[i, c, j] = another_level(value, low, high, u)
            else:
                step, eta = genome.step[j], operators.mutation_eta
                children[i, c, j] = _shift(value, low, high, step, u, eta)
        for j in range(g):
            children[i, c, j] = nearest_allowed(
                children[i, c, j],
                genome.lower[i, j],
                genome.upper[i, j],
                genome.anchor[i, j],
                genome.movable[i, j],
                genome.origin[j],
                genome.step[j],
                genome.snap[j],
            )


@part
def another_level(value: float, lower: float, upper: float, u: float) -> float:
    """Return a random level other than the present one."""
    present = lower <= value <= upper
    level = lower + float(np.floor(u * (upper - lower + (0.0 if present else 1.0))))
    return level + 1.0 if present and level >= value else level


@part
def _shift(value: float, lower: float, upper: float, step: float, u: float, eta: float) -> float:
    """Return a value shifted by polynomial mutation, by at least a step; any if it is missing.

    Without the step a coarse grid would round most shifts away.
    """
    width = upper - lower
    if np.isnan(value):
        return lower + u * width
    value = min(max(value, lower), upper)
    room = (value - lower if u < 0.5 else upper - value) / width if width > 0 else 0.0
    tail = min(u, 1.0 - u) * 2.0
    left = tail + (1.0 - tail) * power(1.0 - room, eta + 1.0)
    reach = power(left, 1.0 / (eta + 1.0))
    shift = max((1.0 - reach) * width, step)
    return value - shift if u < 0.5 else value + shift
