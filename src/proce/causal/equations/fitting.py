"""Fit the mechanism of each endogenous feature on training rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from proce.arguments import kind_name
from proce.arrays import Array
from proce.causal.equations.candidates import (
    finer_form,
    fit_of,
    held_out_of,
    simple_forms,
    sparser_form,
)
from proce.causal.equations.comparison import Fit, Folds, error, surprise, surprise_of_levels
from proce.causal.equations.consistency import require_equation
from proce.causal.equations.effect_rows import EffectRows
from proce.causal.equations.forms import Form, describe
from proce.causal.equations.mechanism import (
    Additive,
    Choice,
    Equation,
    Mechanism,
    Multiplicative,
    Ordered,
    Ranked,
)
from proce.causal.graph import CausalGraph
from proce.causal.graphs.features import require_features
from proce.errors import GraphError, did_you_mean
from proce.schema import Categorical, Codec, Feature, Ordinal

Kind = Literal[
    "auto",
    "linear",
    "quadratic",
    "spline",
    "log-linear",
    "log-quadratic",
    "log-spline",
    "boosting",
]
_MAX_LOSS_OF_SPARSE = 2.0  # over the number of rows: what needless terms win by chance


@dataclass(frozen=True, slots=True)
class MechanismRecord:
    """How a mechanism was chosen.

    Attributes
    ----------
    kind
        ``linear``, ``quadratic``, ``spline`` or ``fine-spline``; one of the curved ones with
        ``sparse-`` before it where needless terms were dropped; one of all these with ``log-``
        or ``ordered-`` before it; ``boosting``, ``logistic`` or ``given``.
    errors
        Cross-validated by kind: the root mean squared error on the unit range (ranks count
        as fractions of the last rank), or the log-loss of levels.
    n_rows
        Complete rows that it was fitted on.
    notes
        What a reader should know of the fit, such as collinear parents.
    """

    kind: str
    errors: Mapping[str, float]
    n_rows: int
    notes: tuple[str, ...] = ()

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
    """Fit g of one endogenous feature on the rows in which it and its parents are present.

    Parameters
    ----------
    name
        An endogenous feature of the graph.
    graph, rows, codec
        The causes, the training rows ``(i, f)``, and what they mean.
    kind
        ``auto`` takes the smooth equation under which rows that it was not fitted on are the
        likeliest; the log kinds, for positive numbers, have noise in proportion to the value, and
        ordered levels may have thresholds. Levels without an order are always fitted by
        multinomial logistic regression.
    seed
        Of the folds and the trees.
    """
    if kind not in get_args(Kind):
        raise GraphError(
            f"unknown kind of mechanism {kind!r}; expected one of {', '.join(get_args(Kind))}."
            + did_you_mean(kind, get_args(Kind))
        )
    effect = EffectRows.of(name, graph, rows, codec)
    effect.refuse_constant()
    effect.refuse_too_few()
    if isinstance(effect.feature, Categorical):
        chosen, errors = "logistic", _errors("logistic", effect, seed)
    elif kind != "auto":
        chosen, errors = kind, _errors(kind, effect, seed)
    else:
        chosen, errors = _choose(effect, seed)
    record = MechanismRecord(chosen, errors, effect.n_rows, effect.notes)
    mechanism = fit_of(chosen, effect, seed)(effect.counts)
    if isinstance(mechanism, Ordered):
        mechanism = replace(mechanism, noise="median")
    return mechanism, record


def refitting(
    name: str, graph: CausalGraph, rows: Array, codec: Codec, kind: str, seed: int
) -> Fit:
    """Return what fits a mechanism of a known kind again, given how often each row occurs.

    Such a mechanism differs from that of :func:`fit_mechanism` in the noise of ordered levels,
    which is drawn: what is not known of a person is then another guess in each of many refits.
    """
    effect = EffectRows.of(name, graph, rows, codec)
    fit = fit_of(kind, effect, seed)
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


def _errors(kind: str, effect: EffectRows, seed: int) -> dict[str, float]:
    folds = Folds.of(effect, seed)
    return {kind: _error(effect, folds, held_out_of(kind, effect, folds, seed))}


def _error(effect: EffectRows, folds: Folds, predicted: Array) -> float:
    return error(effect.feature, predicted, effect.target[folds.positions], folds.weights)


def _choose(effect: EffectRows, seed: int) -> tuple[str, dict[str, float]]:
    """Return the kind under which unseen rows are the likeliest, and the errors of all tried.

    A spline that wins is tried with more knots, and a curve without needless terms.
    """
    folds = Folds.of(effect, seed)
    errors: dict[str, float] = {}
    costs: dict[Form, float] = {}

    def attempt(form: Form) -> None:
        predicted = held_out_of(form.kind, effect, folds, seed)
        errors[form.kind] = _error(effect, folds, predicted)
        costs[form] = _cost(form, effect, folds, predicted)

    for form in simple_forms(effect):
        attempt(form)
    best = min(costs, key=costs.__getitem__)
    if len(costs) == 1 or isinstance(effect.feature, Ordinal):
        return best.kind, errors
    finer = finer_form(best, effect)
    if finer is not None:
        attempt(finer)
        best = finer if costs[finer] <= costs[best] else best
    sparser = sparser_form(best, effect)
    if sparser is not None:
        attempt(sparser)
        limit = costs[best] + _MAX_LOSS_OF_SPARSE / effect.n_rows
        best = sparser if costs[sparser] <= limit else best
    return best.kind, errors


def _cost(form: Form, effect: EffectRows, folds: Folds, predicted: Array) -> float:
    target, weights = effect.target[folds.positions], folds.weights
    if isinstance(effect.feature, Ordinal):
        return surprise_of_levels(form, predicted, target, weights, len(effect.feature.levels))
    judged = effect.comparable[folds.positions]
    return surprise(form, predicted[judged], target[judged], weights[judged], effect.origin)
