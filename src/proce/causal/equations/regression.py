"""Curves by least squares: straight, with squares and products, and splines; also of logarithms."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, cast

import numpy as np

from proce.arrays import Array, Floats
from proce.causal.equations.learning import EffectRows, Family, Fit, Folds, with_added_noise
from proce.causal.equations.mechanism import Mechanism, Multiplicative
from proce.causal.equations.terms import (
    FINE_KNOT_QUANTILES,
    KNOT_QUANTILES,
    MIN_AMOUNT,
    EquationTables,
    Learned,
    Parents,
    Terms,
    UnitMap,
    columns_of,
    rows_of,
)
from proce.causal.moments import RIDGE, Moments, least_squares, weights_of
from proce.causal.programs.program import EFFECT, Program, Record, program_of
from proce.causal.programs.responses import solve
from proce.compiled.elementary import logarithms
from proce.errors import GraphError
from proce.schema import Continuous

Curve = Literal["linear", "quadratic", "spline", "fine-spline"]
_CURVES = {
    "linear": "a straight line",
    "quadratic": "squares and products",
    "spline": "a spline",
    "fine-spline": "a fine spline",
}
_MIN_SCALE = 1e-8  # of a column on the unit range: less is constant
_MAX_INFLATION = 1e4  # of the variance of a weight: beyond, what is left would be rounding
_MIN_ERROR = 1e-12  # of the variation: less is rounding


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a curve; its ``kind`` is its name, such as ``log-sparse-spline``."""

    curve: Curve  # how it bends in each number
    is_logarithmic: bool = False  # of the effect's logarithm, with noise in proportion to it
    is_ordered: bool = False  # of a latent number whose thresholds separate ordered levels
    is_sparse: bool = False  # whether terms are dropped that the rows do not speak for

    @classmethod
    def of(cls, kind: str) -> "Form":
        """Return the form with this name."""
        rest = kind
        flags = []
        for prefix in ("log-", "ordered-", "sparse-"):
            flags.append(rest.startswith(prefix))
            rest = rest.removeprefix(prefix)
        if rest not in _CURVES:
            raise ValueError(f"{kind!r} is not the name of a form.")
        return cls(cast(Curve, rest), *flags)

    @property
    def kind(self) -> str:
        """The name of the form."""
        log, ordered = "log-" * self.is_logarithmic, "ordered-" * self.is_ordered
        return f"{log}{ordered}{'sparse-' * self.is_sparse}{self.curve}"

    @property
    def words(self) -> str:
        """The form in words."""
        logarithm = " of the logarithm" * self.is_logarithmic
        thresholds = " with thresholds between the levels" * self.is_ordered
        sparse = ", without needless terms" * self.is_sparse
        return f"{_CURVES[self.curve]}{logarithm}{thresholds}{sparse}"

    @property
    def n_steps(self) -> int:
        """How many steps the form is away from a straight line."""
        return list(_CURVES).index(self.curve) + self.is_logarithmic

    @property
    def finer(self) -> "Form | None":
        """The form with more knots, of a spline."""
        return replace(self, curve="fine-spline") if self.curve == "spline" else None

    @property
    def sparser(self) -> "Form | None":
        """The form without needless terms, of a curve."""
        return None if self.curve == "linear" or self.is_ordered else replace(self, is_sparse=True)

    def terms(self, effect: EffectRows) -> Terms:
        """Return the columns of the form; a straight line may go on for outliers."""
        # Knots lie at quantiles of all rows, however often each of them then counts: they tell
        # nothing of the effect.
        if self.curve == "linear":
            curved = self.is_logarithmic or self.is_ordered
            return effect.terms if curved else Terms(effect.causes)
        terms = replace(effect.terms, degree=2)
        if self.is_sparse:
            terms = terms.from_zeros(effect.zeros)
        numbers = tuple(cause for cause in effect.causes if isinstance(cause, Continuous))
        if self.curve == "quadratic" or not numbers:
            return terms
        columns = columns_of(Terms(numbers, maps=terms.maps), effect.parents)
        values = np.repeat(columns, effect.counts.astype(np.int64), axis=0)
        fine = self.curve == "fine-spline"
        return terms.with_knots(values, FINE_KNOT_QUANTILES if fine else KNOT_QUANTILES)


@dataclass(frozen=True)
class Polynomial(Learned):
    """A weighted sum of terms: the paper's g where the degree is 1."""

    terms: Terms
    weights: Array  # (size,) for one output or (size, l) for logits of levels; the constant first

    form = "polynomial"

    def __call__(self, parents: Parents) -> Array:
        """Return the prediction, of the parents' shape, with a last axis for levels."""
        rows, shape = rows_of(self.terms, parents)
        return solve(self._program, rows).T.reshape((*shape, *self.weights.shape[1:]))

    @cached_property
    def _program(self) -> Program:
        """The equation by itself, of rows that have its parents alone."""
        tables, effects = EquationTables(), np.zeros((1, 1), EFFECT)
        self.write(tables, effects[0, 0], self.terms.places)
        return program_of(effects, parents=tables.parents, weights=tables.weights)

    def rescaled(self, maps: Mapping[str, UnitMap], own: UnitMap) -> "Polynomial":
        """Return the equation with its causes and its effect on other unit ranges."""
        factor, shift = own
        weights = self.weights / factor
        weights[0] -= shift / factor
        return Polynomial(self.terms.rescaled(maps), weights)

    @classmethod
    def load(cls, terms: Terms, learned: Any, saved: Any, n_logits: int) -> "Polynomial | None":
        """Return the equation with weights of its terms, each for as many logits."""
        named = {parent.name for parent in terms.parents}
        shape = (terms.size, n_logits) if n_logits else (terms.size,)
        knots_fit = all(name in named and len(knots) > 2 for name, knots in terms.knots)
        if learned.shape != shape or learned.dtype != np.float64 or not knots_fit:
            return None
        return cls._of(terms, learned, saved)

    @classmethod
    def _of(cls, terms: Terms, weights: Array, saved: Any) -> "Polynomial":
        return cls(terms, weights)

    def is_flat(self, n_logits: int) -> bool:
        """Whether there is a weight for each term, and logit."""
        size = self.terms.size
        return self.weights.shape == ((size, n_logits) if n_logits else (size,))

    def write(self, tables: EquationTables, record: Record, positions: Mapping[str, int]) -> None:
        """Add the equation to tables, and write into the record of its effect where it stands."""
        tables.add(record, self.terms, self.weights, positions)


@dataclass(frozen=True)
class Exponential(Polynomial):
    """``origin + exp(polynomial)``: for amounts, whose spread grows with their size."""

    origin: float

    form = "exponential"

    def rescaled(self, maps: Mapping[str, UnitMap], own: UnitMap) -> "Exponential":
        """Return the equation with its causes and its effect on other unit ranges."""
        factor, shift = own
        weights = self.weights.copy()
        weights[0] -= logarithms(np.array(factor))
        return Exponential(self.terms.rescaled(maps), weights, (self.origin - shift) / factor)

    def saved(self) -> dict[str, Any]:
        """Return the origin."""
        return {"origin": self.origin}

    @classmethod
    def _of(cls, terms: Terms, weights: Array, saved: Any) -> "Exponential":
        return cls(terms, weights, saved.origin)

    def write(self, tables: EquationTables, record: Record, positions: Mapping[str, int]) -> None:
        """Add the equation to tables, and write into the record of its effect where it stands."""
        super().write(tables, record, positions)
        record["is_exponential"], record["equation_origin"] = True, self.origin


def _words(kind: str) -> str | None:
    try:
        form = Form.of(kind)
    except ValueError:
        return None
    return None if form.is_ordered else form.words


def _fit(kind: str, effect: EffectRows, seed: int) -> Fit:
    form = Form.of(kind)
    if form.is_logarithmic and not effect.is_amount:
        raise GraphError(
            f"{effect.feature.name!r} is not an amount, above zero in most rows and never below, so"
            f" its equation cannot be {kind}; choose linear, quadratic, spline or auto."
        )
    terms = form.terms(effect)
    return partial(_fit_form, form, effect, terms, columns_of(terms, effect.parents))


def _fit_form(
    form: Form, effect: EffectRows, terms: Terms, columns: Array, counts: Array
) -> Mechanism:
    used, target = _regressed(form, effect)
    used &= counts > 0
    weights = _solve(form)(Moments.of(columns[used], target[used], counts[used]))
    equation = _equation(form, effect, terms, weights)
    if form.is_logarithmic:
        return Multiplicative(equation, effect.origin, units="unit")
    return with_added_noise(effect.feature, equation)


def _held_out(kind: str, effect: EffectRows, folds: Folds, seed: int) -> Array:
    """Return what least squares predict of unseen rows, from the sums over all rows."""
    form = Form.of(kind)
    terms, solve = form.terms(effect), _solve(form)
    columns, (used, target) = columns_of(terms, effect.parents), _regressed(form, effect)
    whole = Moments.of(columns[used], target[used], effect.counts[used])
    parts = []
    for counts, unseen in zip(folds.counts, folds.unseen, strict=True):
        part = unseen[used[unseen]]
        taken = Moments.of(columns[part], target[part], counts[part], whole.middle)
        equation = _equation(form, effect, terms, solve(whole - taken))
        parts.append(equation({name: values[unseen] for name, values in effect.parents.items()}))
    return np.concatenate(parts)


def _equation(form: Form, effect: EffectRows, terms: Terms, weights: Array) -> Polynomial:
    if form.is_logarithmic:
        return Exponential(terms, weights, effect.origin)
    return Polynomial(terms, weights)


def _regressed(form: Form, effect: EffectRows) -> tuple[Array, Array]:
    """Return flags ``(d,)`` of the rows that least squares use, and what they are to predict."""
    if not form.is_logarithmic:
        return np.ones_like(effect.target, dtype=np.bool_), effect.target
    return effect.comparable, logarithms(np.maximum(effect.target - effect.origin, MIN_AMOUNT))


def _solve(form: Form) -> Callable[[Moments], Array]:
    return sparse_least_squares if form.is_sparse else least_squares


def sparse_least_squares(moments: Moments) -> Array:
    """Return the weights ``(1 + m,)`` of least squares on the columns needed, else 0."""
    return weights_of(moments, needed_terms(moments))


def needed_terms(moments: Moments) -> Array:
    """Return the positions of the columns that the target needs, by BIC."""
    # Columns go one by one, first the one without which the squared error of least squares (with a
    # constant) grows the least, as long as the likelihood under normal noise loses less than half
    # the logarithm of the number of rows. One column always stays.
    n_rows, centred = moments.n_rows, moments.centred
    scale = np.sqrt(np.maximum((centred.diagonal()[:-1] / n_rows), 0))
    scale = np.where(scale > _MIN_SCALE, scale, 1.0)
    gram = centred[:-1, :-1] / np.outer(scale, scale)
    np.fill_diagonal(gram, gram.diagonal() + RIDGE * n_rows)
    covariance, variation = (centred[:-1, -1] / scale), float(centred[-1, -1])
    kept, products = np.arange(len(covariance)), gram
    inverse = np.linalg.inv(products)
    while len(kept) > 1:
        weights = inverse @ covariance[kept]
        error = max(variation - float(weights @ covariance[kept]), _MIN_ERROR * variation)
        growth = weights**2 / np.diag(inverse)  # of the squared error, without the column
        least = int(growth.argmin())
        ratio, penalty = logarithms(np.array([1 + growth[least] / error, n_rows]))
        if n_rows * ratio > penalty:
            break
        kept = np.delete(kept, least)
        if inverse[least, least] * n_rows > _MAX_INFLATION:
            inverse = np.linalg.inv(products[np.ix_(kept, kept)])
        else:
            inverse = _without(inverse, least)
    return kept


def _without(inverse: Floats, position: int) -> Floats:
    """Return the inverse of a matrix without one row and column, from its inverse with them."""
    column = inverse[:, position]
    inverse = inverse - np.outer(column, column) / inverse[position, position]
    return np.delete(np.delete(inverse, position, 0), position, 1)


REGRESSION = Family(words=_words, fit=_fit, equations=(Polynomial, Exponential), held_out=_held_out)
