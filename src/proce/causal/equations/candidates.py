"""The kinds of equations that an effect can have, and how each is fitted."""

from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from proce.causal.equations.comparison import Fit, folds, held_out
from proce.causal.equations.effect_rows import EffectRows
from proce.causal.equations.forms import Form
from proce.causal.equations.mechanism import (
    Additive,
    Choice,
    Equation,
    Mechanism,
    Multiplicative,
    Parents,
    Ranked,
)
from proce.causal.equations.moments import Moments, least_squares
from proce.causal.equations.ordered import fit_ordered, held_out_chances
from proce.causal.equations.regression import (
    FINE_KNOT_QUANTILES,
    KNOT_QUANTILES,
    NONE,
    Boosted,
    Exponential,
    Polynomial,
    Solve,
    Terms,
)
from proce.causal.equations.selection import sparse_least_squares
from proce.errors import GraphError
from proce.schema import Categorical, Continuous, Feature, Ordinal

_MIN_ROWS_PER_WEIGHT = 5  # below, a curved equation is not tried


def simple_forms(effect: EffectRows) -> list[Form]:
    """Return the forms that are compared first; those with too many weights are left out."""
    curved = replace(effect.terms, degree=2)
    affordable = len(effect.target) > _MIN_ROWS_PER_WEIGHT * curved.size
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
    return form.finer if len(effect.target) > 2 * _MIN_ROWS_PER_WEIGHT * size else None


def sparser_form(form: Form, effect: EffectRows) -> Form | None:
    """Return the form without needless terms, of a curve that has some."""
    sparser = form.sparser
    if sparser is None:
        return None
    fitted: Any = fit_of(sparser.kind, effect, seed=0)(effect.parents, effect.target)
    weights = getattr(fitted.predict, "polynomial", fitted.predict).weights
    return sparser if bool((weights[1:] == 0).any()) else None


def fit_of(kind: str, effect: EffectRows, seed: int) -> Fit:
    """Return how a mechanism of some kind is fitted; levels without an order have but one."""
    feature = effect.feature
    if isinstance(feature, Categorical):
        return partial(_fit_choice, effect.terms, len(feature.levels))
    if kind == "boosting":
        return partial(_fit_boosted, feature, Terms(effect.causes), seed)
    form = Form.of(kind)
    if form.is_logarithmic and not effect.is_amount:
        raise GraphError(
            f"{feature.name!r} is not an amount, above zero in most rows and never below, so its"
            f" equation cannot be {kind}; choose linear, quadratic, spline or auto."
        )
    return partial(_fit_form, form, effect)


def held_out_of(kind: str, effect: EffectRows, seed: int) -> Tensor:
    """Return what a kind of equation predicts of rows that it was not fitted on.

    A number or rank ``(i,)``; logits ``(i, l)`` of levels without an order, and chances ``(i, l)``
    of ordered levels that are fitted as such. Knots lie at quantiles of all rows, which tell
    nothing of the effect.
    """
    fit, feature = fit_of(kind, effect, seed), effect.feature
    if isinstance(feature, Categorical) or kind == "boosting":
        return held_out(fit, effect.parents, effect.target, seed)
    form = Form.of(kind)
    columns = _terms(form, effect, effect.parents)(effect.parents)
    places = folds(len(effect.target), seed)
    if form.is_ordered and isinstance(feature, Ordinal):
        return held_out_chances(columns, effect.target, len(feature.levels), places)
    return _held_out_regression(form, effect, columns, places)


def _fit_choice(terms: Terms, n_levels: int, parents: Parents, target: Tensor) -> Mechanism:
    return Choice(Polynomial.logistic(terms, parents, target, n_levels), n_levels, units="unit")


def _fit_boosted(
    feature: Feature, terms: Terms, seed: int, parents: Parents, target: Tensor
) -> Mechanism:
    return _with_added_noise(feature, Boosted.fit(terms, parents, target, seed))


def _fit_form(form: Form, effect: EffectRows, parents: Parents, target: Tensor) -> Mechanism:
    terms = _terms(form, effect, parents)
    if form.is_ordered and isinstance(effect.feature, Ordinal):
        return fit_ordered(terms, parents, target, len(effect.feature.levels))
    solve = _solve(form)
    if form.is_logarithmic:
        equation = Exponential.fit(terms, parents, target, effect.origin, solve)
        return Multiplicative(equation, effect.origin, units="unit")
    return _with_added_noise(effect.feature, Polynomial.fit(terms, parents, target, solve))


def _solve(form: Form) -> Solve:
    return sparse_least_squares if form.is_sparse else least_squares


def _held_out_regression(
    form: Form, effect: EffectRows, columns: Tensor, places: list[Tensor]
) -> Tensor:
    """Return what least squares predict of unseen rows, from the sums over all rows."""
    target = effect.target
    used = torch.ones_like(target, dtype=torch.bool)
    if form.is_logarithmic:
        used = effect.comparable
        target = (target - effect.origin).clamp(min=NONE).log()
    whole, solve = Moments.of(columns[used], target[used]), _solve(form)
    predicted = torch.empty_like(target)
    for unseen in places:
        part = unseen[used[unseen]]
        weights = solve(whole - Moments.of(columns[part], target[part], whole.middle))
        predicted[unseen] = columns[unseen] @ weights[1:] + weights[0]
    return predicted.exp() + effect.origin if form.is_logarithmic else predicted


def _with_added_noise(feature: Feature, equation: Equation) -> Mechanism:
    if isinstance(feature, Ordinal):
        return Ranked(equation, len(feature.levels), units="unit")
    return Additive(equation, units="unit")


def _terms(form: Form, effect: EffectRows, parents: Parents) -> Terms:
    """Return the columns of a form; a straight line may go on for outliers."""
    if form.curve == "linear":
        curved = form.is_logarithmic or form.is_ordered
        return effect.terms if curved else Terms(effect.causes)
    terms = replace(effect.terms, degree=2)
    if form.is_sparse:
        terms = terms.from_zeros(effect.zeros)
    if form.curve == "quadratic":
        return terms
    fine = form.curve == "fine-spline"
    return terms.with_knots(parents, FINE_KNOT_QUANTILES if fine else KNOT_QUANTILES)
