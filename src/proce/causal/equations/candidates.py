"""The kinds of equations that an effect can have, and how each is fitted."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from proce.arrays import Array
from proce.causal.equations.boosted import Boosted
from proce.causal.equations.comparison import Fit, Folds, held_out
from proce.causal.equations.effect_rows import EffectRows
from proce.causal.equations.forms import Form
from proce.causal.equations.logistic import fit_logistic
from proce.causal.equations.mechanism import (
    Additive,
    Choice,
    Equation,
    Mechanism,
    Multiplicative,
    Ranked,
)
from proce.causal.equations.ordered import OrderedRows, fit_ordered
from proce.causal.equations.polynomial import Exponential, Polynomial, polynomial_of
from proce.causal.equations.selection import sparse_least_squares
from proce.causal.equations.tables import columns_of
from proce.causal.equations.terms import (
    FINE_KNOT_QUANTILES,
    KNOT_QUANTILES,
    NONE,
    Terms,
)
from proce.causal.moments import Moments, least_squares
from proce.compiled.elementary import logarithms
from proce.errors import GraphError
from proce.schema import Categorical, Continuous, Feature, Ordinal

Solve = Callable[[Moments], Array]  # from sums over rows to weights
_MIN_ROWS_PER_WEIGHT = 5  # below, a curved equation is not tried


def simple_forms(effect: EffectRows) -> list[Form]:
    """Return the forms that are compared first; those with too many weights are left out."""
    curved = replace(effect.terms, degree=2)
    affordable = effect.n_rows > _MIN_ROWS_PER_WEIGHT * curved.size
    forms = [Form("linear")]
    forms += [Form("quadratic"), Form("spline")] if affordable else []
    if effect.is_amount:
        forms += [replace(form, is_logarithmic=True) for form in forms]
    if isinstance(effect.feature, Ordinal):
        forms += [replace(form, is_ordered=True) for form in forms]
    return forms


def finer_form(form: Form, effect: EffectRows) -> Form | None:
    """Return the form with more knots, of a spline of which there are rows enough."""
    n_numbers = sum(isinstance(cause, Continuous) for cause in effect.causes)
    size = replace(effect.terms, degree=2).size + (len(FINE_KNOT_QUANTILES) - 2) * n_numbers
    return form.finer if effect.n_rows > 2 * _MIN_ROWS_PER_WEIGHT * size else None


def sparser_form(form: Form, effect: EffectRows) -> Form | None:
    """Return the form without needless terms, of a curve that has some."""
    sparser = form.sparser
    if sparser is None:
        return None
    fitted: Any = fit_of(sparser.kind, effect, seed=0)(effect.counts)
    weights = polynomial_of(fitted.predict).weights
    return sparser if bool((weights[1:] == 0).any()) else None


def fit_of(kind: str, effect: EffectRows, seed: int) -> Fit:
    """Return how a mechanism of some kind is fitted; levels without an order have but one.

    Knots lie at quantiles of all rows, however often each of them then counts: they tell nothing
    of the effect.
    """
    feature = effect.feature
    if isinstance(feature, Categorical):
        columns = columns_of(effect.terms, effect.parents)
        return partial(_fit_choice, effect.terms, columns, effect.target, len(feature.levels))
    if kind == "boosting":
        return partial(_fit_boosted, effect, Terms(effect.causes), seed)
    form = Form.of(kind)
    if form.is_logarithmic and not effect.is_amount:
        raise GraphError(
            f"{feature.name!r} is not an amount, above zero in most rows and never below, so its"
            f" equation cannot be {kind}; choose linear, quadratic, spline or auto."
        )
    terms = _terms(form, effect)
    columns = columns_of(terms, effect.parents)
    if form.is_ordered and isinstance(feature, Ordinal):
        rows = OrderedRows(columns, effect.target, effect.counts, len(feature.levels))
        return partial(fit_ordered, terms, rows)
    return partial(_fit_form, form, effect, terms, columns)


def held_out_of(kind: str, effect: EffectRows, folds: Folds, seed: int) -> Array:
    """Return what a kind of equation predicts of the rows of each fold, fitted on the others.

    A number or rank ``(u,)``, or chances ``(u, l)`` of levels that are fitted as such.
    """
    if isinstance(effect.feature, Categorical) or kind == "boosting" or Form.of(kind).is_ordered:
        return held_out(fit_of(kind, effect, seed), effect, folds)
    return _held_out_regression(Form.of(kind), effect, folds)


def _fit_choice(
    terms: Terms, columns: Array, codes: Array, n_levels: int, counts: Array
) -> Mechanism:
    equation = fit_logistic(terms, columns, codes, counts, n_levels)
    return Choice(equation, n_levels, units="unit")


def _fit_boosted(effect: EffectRows, terms: Terms, seed: int, counts: Array) -> Mechanism:
    rows = np.repeat(np.arange(len(counts)), counts.astype(np.int64))
    columns = columns_of(terms, effect.parents)[rows]
    equation = Boosted.fit(terms, columns, effect.target[rows], seed)
    return _with_added_noise(effect.feature, equation)


def _fit_form(
    form: Form, effect: EffectRows, terms: Terms, columns: Array, counts: Array
) -> Mechanism:
    used, target = _regressed(form, effect)
    used &= counts > 0
    weights = _solve(form)(Moments.of(columns[used], target[used], counts[used]))
    equation = _equation(form, effect, terms, weights)
    if form.is_logarithmic:
        return Multiplicative(equation, effect.origin, units="unit")
    return _with_added_noise(effect.feature, equation)


def _equation(form: Form, effect: EffectRows, terms: Terms, weights: Array) -> Equation:
    polynomial = Polynomial(terms, weights)
    return Exponential(polynomial, effect.origin) if form.is_logarithmic else polynomial


def _regressed(form: Form, effect: EffectRows) -> tuple[Array, Array]:
    """Return flags ``(d,)`` of the rows that least squares use, and what they are to predict."""
    if not form.is_logarithmic:
        return np.ones_like(effect.target, dtype=np.bool_), effect.target
    return effect.comparable, logarithms(np.maximum(effect.target - effect.origin, NONE))


def _solve(form: Form) -> Solve:
    return sparse_least_squares if form.is_sparse else least_squares


def _held_out_regression(form: Form, effect: EffectRows, folds: Folds) -> Array:
    """Return what least squares predict of unseen rows, from the sums over all rows."""
    terms, solve = _terms(form, effect), _solve(form)
    columns, (used, target) = columns_of(terms, effect.parents), _regressed(form, effect)
    whole = Moments.of(columns[used], target[used], effect.counts[used])
    parts = []
    for counts, unseen in zip(folds.counts, folds.unseen, strict=True):
        part = unseen[used[unseen]]
        taken = Moments.of(columns[part], target[part], counts[part], whole.middle)
        equation = _equation(form, effect, terms, solve(whole - taken))
        parts.append(equation({name: values[unseen] for name, values in effect.parents.items()}))
    return np.concatenate(parts)


def _with_added_noise(feature: Feature, equation: Equation) -> Mechanism:
    if isinstance(feature, Ordinal):
        return Ranked(equation, len(feature.levels), units="unit")
    return Additive(equation, units="unit")


def _terms(form: Form, effect: EffectRows) -> Terms:
    """Return the columns of a form; a straight line may go on for outliers."""
    if form.curve == "linear":
        curved = form.is_logarithmic or form.is_ordered
        return effect.terms if curved else Terms(effect.causes)
    terms = replace(effect.terms, degree=2)
    if form.is_sparse:
        terms = terms.from_zeros(effect.zeros)
    numbers = tuple(cause for cause in effect.causes if isinstance(cause, Continuous))
    if form.curve == "quadratic" or not numbers:
        return terms
    columns = columns_of(Terms(numbers, maps=terms.maps), effect.parents)
    values = np.repeat(columns, effect.counts.astype(np.int64), axis=0)
    fine = form.curve == "fine-spline"
    return terms.with_knots(values, FINE_KNOT_QUANTILES if fine else KNOT_QUANTILES)
