"""The equations of one or several causal models as flat tables, which a kernel can run.

A polynomial of a hundred columns has one active column for each of its parents: the number
itself, or the one level that a categorical parent has. A kernel therefore looks weights up
instead of building the columns.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from proce.arrays import Array, Flags, Floats, Ints

Table = Array  # of records
Record = Any  # an entry of a table

# What kernels are handed together: plain tuples, which cost a call less than named ones.
Run = tuple[int, int]  # the first effect that follows, and the one after the last
People = tuple[Floats, Floats]  # their rows (i, f), and their noise (i, w)
Candidates = tuple[Floats, Flags, int]  # rows (n, f), flags of them or none, how many of a person
# Of the first effect of a run, where it is not compiled: what its causes lead to (m, n), and the
# chances (2, n) of the person's own level before and after, or no entries.
FunctionAnswers = tuple[Floats, Floats]
# (2, n, f), the point and what is expected; (4, n, f), acted on, held, a consequence, outside.
Outputs = tuple[Floats, Flags]


class Link(IntEnum):
    """How the noise enters an equation."""

    GIVEN = 0  # not compiled: a function says what follows
    ADDITIVE = 1
    MULTIPLICATIVE = 2
    RANKED = 3
    ORDERED = 4
    CHOICE = 5


EFFECT = np.dtype(
    [
        ("position", np.int64),  # of the effect in a row
        ("link", np.int64),
        ("is_cut", np.int64),  # whether the feature is fixed, so that nothing moves it
        ("noise", np.int64),  # where the noise of the effect begins in a residual
        ("n_outputs", np.int64),  # logits of levels, else 1
        ("first_parent", np.int64),
        ("n_parents", np.int64),
        ("n_columns", np.int64),  # plain columns of the polynomial
        ("has_products", np.int64),
        ("is_exponential", np.int64),
        ("weights", np.int64),  # where those of the first output begin
        ("stride", np.int64),  # from the weights of one output to those of the next
        ("thresholds", np.int64),  # where they begin among the weights
        ("n_levels", np.int64),
        ("is_median", np.int64),  # whether the median of the noises that explain a level is taken
        ("lowest", np.float64),  # limits of additive noise
        ("highest", np.float64),
        ("equation_origin", np.float64),  # of an exponential
        ("noise_origin", np.float64),  # of multiplicative noise
    ]
)
PARENT = np.dtype(
    [
        ("position", np.int64),
        ("kind", np.int64),  # `CellKind`
        ("column", np.int64),  # the first plain column of the parent
        ("n_levels", np.int64),
        ("n_knots", np.int64),
        ("knots", np.int64),  # where they begin among the weights; those of the bends come next
        ("factor", np.float64),  # to the unit range on which the equation was learned
        ("shift", np.float64),
        ("lowest", np.float64),  # beyond, a value counts as if it lay there
        ("highest", np.float64),
        ("divisor", np.float64),  # of a rank
    ]
)
TOLERANCE = np.dtype(
    [
        ("still", np.float64),  # how far from its value, or from what follows, counts as there
        ("step", np.float64),  # of numbers that have one, or what they are told to, else 0
        ("origin", np.float64),  # of the grid of numbers that are told to a resolution, else NaN
        ("lowest", np.float64),  # of the training rows
        ("highest", np.float64),
        ("rounding", np.float64),  # by how much what an equation computed may be off
        ("reach", np.float64),
        ("can_act", np.int64),  # whether it can be acted on or held at all, or set by time
        ("is_number", np.int64),
        ("is_categorical", np.int64),
    ]
)

_NO_TOLERANCES = np.empty(0, TOLERANCE)


class Program(NamedTuple):
    """All endogenous features of causal models of one graph, causes before effects."""

    effects: Table  # (m, e) records `EFFECT`, of each model and effect
    parents: Table  # (p,) records `PARENT`, of each parent of each equation
    weights: Floats  # (w,), the weights, knots and thresholds of all equations, one after the other
    tolerances: Table  # (f,) records `TOLERANCE`: which differences of a feature count
    # (r, 2), the first effect of each run and the one after its last; all runs but the first
    # begin with an effect that follows and is not compiled
    runs: Ints

    @property
    def given(self) -> tuple[int, ...]:
        """The places of the effects that are not compiled."""
        return tuple(np.flatnonzero(self.effects["link"][0] == Link.GIVEN).tolist())


def runs_of(effects: Table) -> Ints:
    """Return the runs of effects ``(m, e)``, see `Program`."""
    first = effects[0]
    is_asked = (first["link"] == Link.GIVEN.value) & (first["is_cut"] == 0)
    starts = [0, *is_asked.nonzero()[0].tolist()]
    return np.array([*zip(starts, [*starts[1:], len(first)], strict=True)], np.int64)


def program_of(
    effects: Table,  # (m, e)
    tolerances: Table = _NO_TOLERANCES,
    parents: Sequence[tuple[float, ...]] = (),
    weights: Sequence[Floats] = (),
) -> Program:
    """Return the program of effects whose parents and weights stand one behind the other."""
    flat = np.concatenate([np.empty(0), *weights])
    return Program(effects, np.array(list(parents), PARENT), flat, tolerances, runs_of(effects))
