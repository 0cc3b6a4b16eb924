"""The equations of one or several causal models as flat tables, which a kernel can run.

A polynomial of a hundred columns has one active column for each of its parents: the number
itself, or the one level that a categorical parent has. A kernel therefore looks weights up
instead of building the columns.
"""

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proce.arrays import Floats

Table = NDArray[Any]  # of records
Record = Any  # an entry of a table


class Link(IntEnum):
    """How the noise enters an equation."""

    GIVEN = 0  # not compiled: a function says what follows
    ADDITIVE = 1
    MULTIPLICATIVE = 2
    RANKED = 3
    ORDERED = 4
    CHOICE = 5


class Kind(IntEnum):
    """How a parent enters an equation."""

    NUMBER = 0
    RANK = 1
    LEVEL = 2


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
        ("kind", np.int64),
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
        ("still", np.float64),
        ("step", np.float64),
        ("origin", np.float64),
        ("lowest", np.float64),
        ("highest", np.float64),
        ("rounding", np.float64),
        ("reach", np.float64),
        ("can_act", np.int64),
        ("is_number", np.int64),
        ("is_categorical", np.int64),
    ]
)


class Program(NamedTuple):
    """All endogenous features of causal models of one graph, causes before effects.

    Attributes
    ----------
    effects
        ``(m, e)`` records `EFFECT`, of each model and effect.
    parents
        ``(p,)`` records `PARENT`, of each parent of each equation.
    weights
        ``(w,)``, the weights, knots and thresholds of all equations, one after the other.
    tolerances
        ``(f,)`` records `TOLERANCE`: which differences of a feature count.
    """

    effects: Table
    parents: Table
    weights: Floats
    tolerances: Table

    @property
    def given(self) -> tuple[int, ...]:
        """The places of the effects that are not compiled."""
        return tuple(np.flatnonzero(self.effects["link"][0] == Link.GIVEN).tolist())

    @property
    def segments(self) -> tuple[tuple[int, int], ...]:
        """Runs of effects; all but the first begin with one that follows and is not compiled."""
        given = [place for place in self.given if not self.effects["is_cut"][0, place]]
        starts = [0, *given]
        return tuple(zip(starts, [*given, self.effects.shape[1]], strict=True))
