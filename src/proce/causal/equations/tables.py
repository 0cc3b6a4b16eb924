"""Equations as flat tables, which a kernel can run."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from proce.arrays import Array, Floats
from proce.causal.equations.mechanism import Parents
from proce.causal.equations.terms import Terms
from proce.causal.programs.program import (
    EFFECT,
    PARENT,
    TOLERANCE,
    Program,
    Record,
    Table,
    runs_of,
)
from proce.causal.programs.responses import write_columns
from proce.compiled.cells import CellKind
from proce.schema import Categorical, Continuous, Feature
from proce.schema.features.levels import rank_span

_NO_TOLERANCES = np.empty(0, TOLERANCE)


@dataclass
class EquationTables:
    """The parents and weights of equations so far, one behind the other."""

    parents: list[tuple[float, ...]] = field(default_factory=list)
    weights: list[Floats] = field(default_factory=list)
    n_weights: int = 0

    def add(
        self, record: Record, terms: Terms, weights: Array, positions: Mapping[str, int]
    ) -> None:
        """Add an equation, and write where it stands into the record `EFFECT` of its effect.

        Parameters
        ----------
        record
            The record.
        terms, weights
            Of the equation, ``(size,)`` or ``(size, l)``.
        positions
            By name, where parents stand in rows.
        """
        outputs = weights.reshape(terms.size, -1).T
        blocks, bends = _split(terms, outputs)
        record["n_outputs"], record["has_products"] = len(outputs), terms.degree > 1
        record["weights"], record["stride"] = self.put(blocks), blocks.shape[1]
        self.add_parents(record, terms, bends, positions)

    def put(self, *arrays: Floats) -> int:
        """Append arrays to the weights, and return where they begin."""
        begin = self.n_weights
        for array in arrays:
            self.weights.append(array.ravel())
            self.n_weights += array.size
        return begin

    def program(self, effects: Table, tolerances: Table = _NO_TOLERANCES) -> Program:
        """Return the program of effects ``(m, e)`` that were added."""
        weights = np.concatenate([np.empty(0), *self.weights])
        parents = np.array(self.parents, PARENT)
        return Program(effects, parents, weights, tolerances, runs_of(effects))

    def add_parents(
        self,
        record: Record,
        terms: Terms,
        bends: Mapping[str, Floats],
        positions: Mapping[str, int],
    ) -> None:
        """Add the parents of an equation, and write where they stand into the record.

        ``bends (o, k - 1)`` are the weights of the spline of each number that has one.
        """
        record["n_columns"] = terms.n_plain
        record["first_parent"], record["n_parents"] = len(self.parents), len(terms.parents)
        maps = {name: (factor, shift) for name, factor, shift in terms.maps}
        ends = {name: (low, high) for name, low, high in terms.ends}
        knots, column = dict(terms.knots), 0
        for parent in terms.parents:
            name, kind = parent.name, _kind(parent)
            n_levels = 0 if isinstance(parent, Continuous) else len(parent.levels)
            places = knots.get(name, ())
            begin = self.put(np.array(places), bends[name]) if places else 0
            lowest, highest = ends.get(name, (-np.inf, np.inf))
            divisor = rank_span(n_levels) if kind == CellKind.RANK else 1
            fields = (positions[name], kind, column, n_levels, len(places), begin)
            numbers = (*maps.get(name, (1.0, 0.0)), lowest, highest, divisor)
            self.parents.append((*fields, *numbers))
            column += n_levels if kind == CellKind.LEVEL else 1


def rows_of(terms: Terms, parents: Parents) -> tuple[Floats, tuple[int, ...]]:
    """Return rows ``(n, p)`` of the parents of terms alone, and the parents' shape ``(…)``."""
    columns = np.broadcast_arrays(*(parents[cause.name] for cause in terms.parents))
    rows = np.stack([column.reshape(-1) for column in columns], axis=-1)
    return np.asarray(rows, np.float64), columns[0].shape


def columns_of(terms: Terms, parents: Parents) -> Floats:
    """Return the columns ``(…, size - 1)`` of terms, for parents of shape ``(…)``: no constant.

    Weights and trees are learned on them; an equation that is known as weights is solved without.
    """
    rows, shape = rows_of(terms, parents)
    tables, effects = EquationTables(), np.zeros((1, 1), EFFECT)
    bends = {name: _bends(knots, np.eye(len(knots) - 2)) for name, knots in terms.knots}
    tables.add_parents(effects[0, 0], terms, bends, terms.places)
    factors, begins = np.array(terms.products, np.int64), np.zeros(len(terms.parents), np.int64)
    column = terms.n_plain + factors.shape[1]
    for name, knots in terms.knots:
        begins[terms.places[name]] = column
        column += len(knots) - 2
    columns = np.zeros((len(rows), terms.size - 1))
    write_columns(tables.program(effects), rows, factors, begins, columns)
    return columns.reshape(*shape, terms.size - 1)


def _split(terms: Terms, outputs: Floats) -> tuple[Floats, dict[str, Floats]]:
    """Return the weights of columns and products, and those of the bends of each spline.

    The former ``(o, 1 + n + n²)`` are the constant, the plain columns and one without weight, and a
    matrix with the weight of each product of two of them, not below its diagonal; without products
    there is no matrix. The latter ``(o, k - 1)`` multiply what the cube of the distance from each
    knot is beyond that from the last one.
    """
    (first, second), size = terms.products, terms.n_plain + 1
    blocks = np.zeros((len(outputs), 1 + size + (size**2 if terms.degree > 1 else 0)))
    blocks[:, :size] = outputs[:, :size]
    column = size + len(first)
    if first:
        ends = np.array([first, second])
        places = 1 + size + ends.min(0) * size + ends.max(0)
        blocks[:, places] = outputs[:, size:column]
    bends = {}
    for name, knots in terms.knots:
        bends[name] = _bends(knots, outputs[:, column : column + len(knots) - 2])
        column += len(knots) - 2
    return blocks, bends


def _bends(knots: tuple[float, ...], weights: Floats) -> Floats:
    """Return the weights ``(o, k - 1)`` of cubes, from those ``(o, k - 2)`` of spline columns."""
    edges = np.array(knots)
    scale = (edges[-1] - edges[:-1]) * (edges[-1] - edges[0]) ** 2
    return np.hstack([weights, -weights.sum(1, keepdims=True)]) / scale


def _kind(parent: Feature) -> CellKind:
    if isinstance(parent, Continuous):
        return CellKind.NUMBER
    return CellKind.LEVEL if isinstance(parent, Categorical) else CellKind.RANK
