"""Fit the mechanism of each endogenous feature on training rows, and choose its form."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from proce.arguments import kind_name
from proce.arrays import MIN_DIFFERENCE, Array
from proce.causal.equations.consistency import require_equation
from proce.causal.equations.families import Kind, check_kind, describe, family_for
from proce.causal.equations.learning import EffectRows, Fit, Folds
from proce.causal.equations.mechanism import (
    NO_THRESHOLDS,
    Additive,
    Choice,
    Mechanism,
    Multiplicative,
    Ordered,
    Ranked,
    link_record,
    mean_rank,
)
from proce.causal.equations.regression import Form
from proce.causal.equations.terms import FINE_KNOT_QUANTILES, Equation
from proce.causal.graph import CausalGraph
from proce.causal.graphs.features import require_features
from proce.causal.programs.links import explanations, shares_between, write_ends
from proce.causal.programs.program import Link
from proce.compiled.elementary import logarithms
from proce.errors import GraphError
from proce.losses import loss_of_chance, target_probability
from proce.schema import Categorical, Codec, Continuous, Feature, Ordinal
from proce.schema.features.levels import rank_span

_MIN_ROWS_PER_WEIGHT = 5  # below, a curved equation is not tried
_MAX_ERROR_RATIO = 0.99  # to which a less simple equation must cut the squared error
_ORDERED_SHARE = 0.2  # of that, for ordered levels: a row tells less of them than of a number
_MAX_LOSS_OF_SPARSE = 2.0  # over the number of rows: what needless terms win by chance


@dataclass(frozen=True, slots=True)
class MechanismRecord:
    """How a mechanism was chosen."""

    # `linear`, `quadratic`, `spline` or `fine-spline`; one of the curved ones with `sparse-`
    # before it where needless terms were dropped; one of all these with `log-` or `ordered-`
    # before it; `boosting`, `logistic` or `given`
    kind: str
    # cross-validated by kind: the root mean squared error on the unit range (ranks count as
    # fractions of the last rank), or the log-loss of levels
    errors: Mapping[str, float]
    n_rows: int  # complete rows that it was fitted on
    notes: tuple[str, ...] = ()  # what a reader should know of the fit, such as collinear parents

    @property
    def description(self) -> str:
        """The kind in words."""
        return describe(self.kind)


def fit_mechanisms(
    graph: CausalGraph,
    rows: Array,
    codec: Codec,
    kind: Kind,
    equations: Mapping[str, Mechanism | Equation],
    seed: int,
) -> dict[str, tuple[Mechanism, MechanismRecord]]:
    """Return a mechanism for every endogenous feature, and how it was chosen."""
    require_features(graph.nodes, codec.schema)
    for name in equations:
        require_equation(name, graph)
    fitted = {}
    for name in graph.endogenous:
        if name in equations:
            mechanism = given_mechanism(codec.schema[name], equations[name])
            fitted[name] = mechanism, MechanismRecord("given", {}, 0)
        else:
            fitted[name] = fit_mechanism(name, graph, rows, codec, kind, seed)
    return fitted


def fit_mechanism(
    name: str, graph: CausalGraph, rows: Array, codec: Codec, kind: Kind = "auto", seed: int = 0
) -> tuple[Mechanism, MechanismRecord]:
    """Fit g of one endogenous feature on the rows in which it and its parents are present."""
    check_kind(kind)
    effect = EffectRows.of(name, graph, rows, codec)
    effect.refuse_constant()
    effect.refuse_too_few()
    chosen: str = "logistic" if isinstance(effect.feature, Categorical) else kind
    if chosen == "auto":
        chosen, errors = _choose(effect, seed)
    else:
        folds = Folds.of(effect, seed)
        predicted = family_for(chosen, effect).predict_unseen(chosen, effect, folds, seed)
        errors = {chosen: _error(effect, folds, predicted)}
    record = MechanismRecord(chosen, errors, effect.n_rows, effect.notes)
    mechanism = family_for(chosen, effect).fit(chosen, effect, seed)(effect.counts)
    if isinstance(mechanism, Ordered):
        mechanism = replace(mechanism, noise="median")
    return mechanism, record


def refitting(
    name: str, graph: CausalGraph, rows: Array, codec: Codec, kind: str, seed: int
) -> Fit:
    """Return what fits a mechanism of a known kind again, given how often each row occurs."""
    # Such a mechanism differs from that of `fit_mechanism` in the noise of ordered levels, which
    # is drawn: what is not known of a person is then another guess in each of many refits.
    effect = EffectRows.of(name, graph, rows, codec)
    fit = family_for(kind, effect).fit(kind, effect, seed)
    return lambda times: fit(effect.counts_of(times))


def given_mechanism(feature: Feature, equation: Mechanism | Equation) -> Mechanism:
    """Return a user's equation as a mechanism: as it is, or with the usual noise around it."""
    if isinstance(equation, Additive | Multiplicative | Ranked | Ordered | Choice):
        return equation
    if not callable(equation):
        if hasattr(equation, "respond"):
            return equation
        raise GraphError(
            f"the equation of {feature.name!r} is {kind_name(equation)}; expected a function"
            " from its parents (by name, in raw units) to an array, or a mechanism."
        )
    if isinstance(feature, Categorical):
        return Choice(equation, len(feature.levels))
    if isinstance(feature, Ordinal):
        return Ranked(equation, len(feature.levels))
    return Additive(equation)


def _error(effect: EffectRows, folds: Folds, predicted: Array) -> float:
    return error(effect.feature, predicted, effect.target[folds.positions], folds.weights)


def _choose(effect: EffectRows, seed: int) -> tuple[str, dict[str, float]]:
    """Return the kind under which unseen rows are the likeliest, and the errors of all tried."""
    # A spline that wins is tried with more knots, and a curve without needless terms.
    folds = Folds.of(effect, seed)
    errors: dict[str, float] = {}
    costs: dict[Form, float] = {}

    def attempt(form: Form) -> None:
        predicted = family_for(form.kind, effect).predict_unseen(form.kind, effect, folds, seed)
        errors[form.kind] = _error(effect, folds, predicted)
        costs[form] = _cost(form, effect, folds, predicted)

    for form in _simple_forms(effect):
        attempt(form)
    best = min(costs, key=costs.__getitem__)
    if len(costs) == 1 or isinstance(effect.feature, Ordinal):
        return best.kind, errors
    finer = _finer_form(best, effect)
    if finer is not None:
        attempt(finer)
        best = finer if costs[finer] <= costs[best] else best
    sparser = _sparser_form(best, effect)
    if sparser is not None:
        attempt(sparser)
        limit = costs[best] + _MAX_LOSS_OF_SPARSE / effect.n_rows
        best = sparser if costs[sparser] <= limit else best
    return best.kind, errors


def _simple_forms(effect: EffectRows) -> list[Form]:
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


def _finer_form(form: Form, effect: EffectRows) -> Form | None:
    """Return the form with more knots, of a spline of which there are rows enough."""
    n_numbers = sum(isinstance(cause, Continuous) for cause in effect.causes)
    size = replace(effect.terms, degree=2).size + (len(FINE_KNOT_QUANTILES) - 2) * n_numbers
    return form.finer if effect.n_rows > 2 * _MIN_ROWS_PER_WEIGHT * size else None


def _sparser_form(form: Form, effect: EffectRows) -> Form | None:
    """Return the form without needless terms, of a curve that has some."""
    sparser = form.sparser
    if sparser is None:
        return None
    fit = family_for(sparser.kind, effect).fit(sparser.kind, effect, 0)
    fitted: Any = fit(effect.counts)
    weights = fitted.predict.weights
    return sparser if bool((weights[1:] == 0).any()) else None


def _cost(form: Form, effect: EffectRows, folds: Folds, predicted: Array) -> float:
    target, weights = effect.target[folds.positions], folds.weights
    if isinstance(effect.feature, Ordinal):
        return surprise_of_levels(form, predicted, target, weights, len(effect.feature.levels))
    judged = effect.comparable[folds.positions]
    return surprise(form, predicted[judged], target[judged], weights[judged], effect.origin)


def error(
    feature: Feature,
    predicted: Array,
    target: Array,
    weights: Array,  # how many rows each prediction stands for
) -> float:
    """Return the log-loss of levels, or the root mean square on the unit range."""
    if isinstance(feature, Categorical):
        chances = target_probability(predicted, target.astype(np.int64))
        return _mean(loss_of_chance(chances), weights)
    if predicted.ndim > target.ndim:
        predicted = mean_rank(predicted)
    reach = rank_span(len(feature.levels)) if isinstance(feature, Ordinal) else 1
    return math.sqrt(_mean(np.square(predicted - target), weights)) / reach


def surprise(form: Form, predicted: Array, target: Array, weights: Array, origin: float) -> float:
    """Return the mean negative log-likelihood of numbers under normal noise, but for a constant."""
    # The likelihood distinguishes noise that grows with the value from noise that does not, which
    # the error of the prediction cannot do. The difference decides what follows for a person far
    # from the middle. For a logarithmic form every target must be above the origin.
    link = Link.MULTIPLICATIVE if form.is_logarithmic else Link.ADDITIVE
    record = link_record(link, 1, {"noise_origin": origin})
    noise = explanations(record, NO_THRESHOLDS, predicted[None], target, target)[..., 0]
    square = _mean(np.square(noise), weights)
    spread = 0.5 * float(logarithms(np.array(square))) if square > 0 else -math.inf
    spread += _handicap(form)
    return spread + (_mean(logarithms(target - origin), weights) if form.is_logarithmic else 0.0)


def surprise_of_levels(
    form: Form, predicted: Array, target: Array, weights: Array, n_levels: int
) -> float:
    """Return the mean negative log-likelihood of ordered levels."""
    # A predicted rank gives each level the chance of normal noise that is rounded to it; the noise
    # has the standard deviation of the errors.
    levels = target.astype(np.int64)
    if form.is_ordered:
        chances = target_probability(predicted, levels)
    else:
        spread = math.sqrt(_mean(np.square(predicted - target), weights))
        spread = max(spread, MIN_DIFFERENCE)
        low, high = ends = np.empty((2, len(levels)))
        halves = np.arange(0.5, n_levels - 1, dtype=np.float64) / spread
        write_ends(halves, levels, predicted / spread, ends)
        chances = shares_between(low, high)
    return _mean(loss_of_chance(chances), weights) + _handicap(form)


def _mean(values: Array, weights: Array) -> float:
    return float(values @ weights / weights.sum())


def _handicap(form: Form) -> float:
    handicap = -0.5 * math.log(_MAX_ERROR_RATIO) * form.n_steps
    return handicap * _ORDERED_SHARE if form.is_ordered else handicap
