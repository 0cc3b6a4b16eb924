"""The genes of each instance: which may move, how far, and from where.

Genes of all kinds stand side by side in one float64 array ``(i, c, g)``: a level is a whole
number. Float64 because a gene that returns to its anchor must be the anchor to the last bit,
and anchors are encoded in float64.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from proce.arrays import Array, Flags, Floats, Ints, even_codes, inwards
from proce.compiled.cells import on_grid
from proce.compiled.kernel import kernel, part
from proce.errors import SearchError

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
