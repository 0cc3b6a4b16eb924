"""The terms of a regression, as columns and as flat tables for a kernel, and what is learned.

Parents arrive by name: numbers on the unit range, levels as codes. A categorical parent
enters as one column per level, an ordinal one by its rank on the unit range.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from proce.arrays import Array, Floats
from proce.causal.programs.program import EFFECT, Record, program_of
from proce.causal.programs.responses import write_columns
from proce.compiled.cells import CellKind
from proce.schema import Categorical, Continuous, Feature
from proce.schema.features.levels import rank_span

Parents = Mapping[str, Array]
Equation = Callable[[Parents], Array]
UnitMap = tuple[float, float]  # factor and shift: old = new * factor + shift
SAME_UNITS: UnitMap = (1.0, 0.0)
KNOT_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)  # of the training values
FINE_KNOT_QUANTILES = (
    *(0.002, 0.02, 0.07, 0.15, 0.27, 0.42),
    *(0.58, 0.73, 0.85, 0.93, 0.98, 0.998),
)
MIN_AMOUNT = 1e-9  # above the origin of an amount, on the unit range: less counts as zero


@dataclass(frozen=True)
class Terms:
    """The columns of a regression on some parents: a constant, then one column per term."""

    parents: tuple[Feature, ...]  # the features, in the order of the columns
    # 2 adds squares of numbers and products of all pairs of columns, but for pairs of levels of
    # one feature, which never occur together
    degree: int = 1
    # for some continuous parents, the knots of a natural cubic spline: bent between the first and
    # the last, straight beyond
    knots: tuple[tuple[str, tuple[float, ...]], ...] = ()
    # for some continuous parents, values beyond which they count as if they lay there: curves
    # that were learned from the bulk of the rows mean nothing for outliers
    ends: tuple[tuple[str, float, float], ...] = ()
    # for some continuous parents, the factor and the shift that bring them to the unit range on
    # which the equation was learned
    maps: tuple[tuple[str, float, float], ...] = ()

    def with_knots(self, numbers: Floats, quantiles: tuple[float, ...]) -> "Terms":
        """Return the terms with a spline in every number, bent at quantiles of its values."""
        # `numbers (i, n)` are those of the continuous parents, as the equation reads them.
        names = [feature.name for feature in self.parents if isinstance(feature, Continuous)]
        knots = []
        for name, values in zip(names, numbers.T, strict=True):
            places = np.unique(np.quantile(values, np.array(quantiles)))
            if len(places) > 2:
                knots.append((name, tuple(places.tolist())))
        return replace(self, knots=tuple(knots))

    def from_zeros(self, zeros: Mapping[str, float]) -> "Terms":
        """Return the terms with numbers that count from their zeros, given by name."""
        # An area is the product of two lengths from zero on, not from the shortest that was seen.
        maps = tuple((name, 1.0, -zero) for name, zero in zeros.items())
        ends = tuple((name, low - zeros[name], high - zeros[name]) for name, low, high in self.ends)
        return replace(self, maps=maps, ends=ends)

    def rescaled(self, maps: Mapping[str, UnitMap]) -> "Terms":
        """Return the terms for parents on other unit ranges, by their factors and shifts."""
        own = {name: (factor, shift) for name, factor, shift in self.maps}
        both = []
        for feature in self.parents:
            factor, shift = maps.get(feature.name, SAME_UNITS)
            rate, start = own.get(feature.name, SAME_UNITS)
            if (rate * factor, rate * shift + start) != SAME_UNITS:
                both.append((feature.name, rate * factor, rate * shift + start))
        return replace(self, maps=tuple(both))

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each parent stands among them, by name."""
        return {parent.name: place for place, parent in enumerate(self.parents)}

    @property
    def size(self) -> int:
        """How many columns there are, the constant included."""
        bends = sum(len(places) - 2 for _, places in self.knots)
        return 1 + self.n_plain + len(self.products[0]) + bends

    @property
    def n_plain(self) -> int:
        """How many columns are a number, a rank or a level by itself."""
        return len(self._names)

    @property
    def _names(self) -> list[tuple[str, bool]]:
        """The feature of each plain column, and whether the column is a level of it."""
        names: list[tuple[str, bool]] = []
        for feature in self.parents:
            if isinstance(feature, Categorical):
                names += [(feature.name, True)] * len(feature.levels)
            else:
                names.append((feature.name, False))
        return names

    @cached_property
    def products(self) -> tuple[list[int], list[int]]:
        """The positions of the factors of each product among the plain columns."""
        if self.degree == 1:
            return [], []
        names = self._names
        factors = [(column, column) for column, (_, is_level) in enumerate(names) if not is_level]
        pairs = combinations(range(len(names)), 2)
        factors += [(a, b) for a, b in pairs if names[a][0] != names[b][0]]
        return [first for first, _ in factors], [second for _, second in factors]


@dataclass
class EquationTables:
    """The parents and weights of equations so far, one behind the other."""

    parents: list[tuple[float, ...]] = field(default_factory=list)
    weights: list[Floats] = field(default_factory=list)
    n_weights: int = 0

    def add(
        self,
        record: Record,
        terms: Terms,  # of the equation, (size,) or (size, l)
        weights: Array,
        positions: Mapping[str, int],  # by name, where parents stand in rows
    ) -> None:
        """Add an equation, and write where it stands into the record `EFFECT` of its effect."""
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

    def add_parents(
        self,
        record: Record,
        terms: Terms,
        bends: Mapping[str, Floats],
        positions: Mapping[str, int],
    ) -> None:
        """Add the parents of an equation, and write where they stand into the record."""
        # `bends (o, k - 1)` are the weights of the spline of each number that has one.
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
    """Return the columns ``(…, size - 1)`` of terms, for parents of shape ``(…)``: no constant."""
    # Weights and trees are learned on them; an equation that is known as weights is solved without.
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
    program = program_of(effects, parents=tables.parents, weights=tables.weights)
    write_columns(program, rows, factors, begins, columns)
    return columns.reshape(*shape, terms.size - 1)


def _split(terms: Terms, outputs: Floats) -> tuple[Floats, dict[str, Floats]]:
    """Return the weights of columns and products, and those of the bends of each spline."""
    # The former `(o, 1 + n + n²)` are the constant, the plain columns and one without weight, and a
    # matrix with the weight of each product of two of them, not below its diagonal; without
    # products there is no matrix. The latter `(o, k - 1)` multiply what the cube of the distance
    # from each knot is beyond that from the last one.
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


class Learned:
    """An equation of terms: called with parents by name, saved, and carried to other units."""

    form: ClassVar[str]  # its name in a saved model
    learned_name: ClassVar[str] = "weights"  # the field that holds what was learned
    is_estimator: ClassVar[bool] = False  # or an array, which is kept in another file
    terms: Terms

    def __call__(self, parents: Parents) -> Array:
        """Return the prediction, of the parents' shape, with a last axis for levels."""
        raise NotImplementedError

    @property
    def learned(self) -> Any:
        """What is learned beside the terms: an array, or an estimator."""
        return getattr(self, self.learned_name)

    def rescaled(self, maps: Mapping[str, UnitMap], own: UnitMap) -> "Learned":
        """Return the equation with causes, by name, and the effect on other unit ranges."""
        raise NotImplementedError

    def saved(self) -> dict[str, Any]:
        """Return the fields of ``SavedMechanism`` that are neither of its terms nor its noise."""
        return {}

    @classmethod
    def load(cls, terms: Terms, learned: Any, saved: Any, n_logits: int) -> "Learned | None":
        """Return the equation of a ``SavedMechanism``; ``None`` where its parts do not fit."""
        # `n_logits` is the number of levels of a categorical effect, else 0.
        raise NotImplementedError

    def is_flat(self, n_logits: int) -> bool:
        """Whether a kernel can run it; any other is asked for as a function, block by block."""
        return False

    def write(self, tables: EquationTables, record: Record, positions: Mapping[str, int]) -> None:
        """Add a flat equation to tables, and write into the record of its effect where it is."""
        raise NotImplementedError


def rescaled_equation(equation: Any, maps: Mapping[str, UnitMap], own: UnitMap = SAME_UNITS) -> Any:
    """Return any equation on the unit range with its causes and its effect on another."""
    if isinstance(equation, Learned):
        return equation.rescaled(maps, own)
    factor, shift = own
    return lambda parents: (equation(_in_old_units(parents, maps)) - shift) / factor


def _in_old_units(parents: Parents, maps: Mapping[str, UnitMap]) -> dict[str, Array]:
    known = {name: maps.get(name, SAME_UNITS) for name in parents}
    return {name: values * known[name][0] + known[name][1] for name, values in parents.items()}


def is_flat(equation: Any, n_logits: int, causes: Sequence[Feature]) -> bool:
    """Return whether a kernel can run an equation, whose causes the schema declares so."""
    if not isinstance(equation, Learned) or not equation.is_flat(n_logits):
        return False
    terms, declared = equation.terms, {cause.name: cause for cause in causes}
    numbers = {parent.name for parent in terms.parents if isinstance(parent, Continuous)}
    return (
        {name for name, *_ in (*terms.knots, *terms.ends, *terms.maps)} <= numbers
        and {parent.name for parent in terms.parents} == set(declared)
        and all(_has_same_entries(parent, declared[parent.name]) for parent in terms.parents)
    )


def _has_same_entries(parent: Feature, declared: Feature) -> bool:
    if isinstance(parent, Continuous) or isinstance(declared, Continuous):
        return type(parent) is type(declared)
    return type(parent) is type(declared) and len(parent.levels) == len(declared.levels)
