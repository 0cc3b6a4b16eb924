"""Fit the mechanism of each endogenous feature on training rows."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, cast, get_args

import torch
from torch import Tensor

from proce.causal.graph import CausalGraph
from proce.causal.graphs.features import require_features
from proce.causal.models.comparison import Fit, comparable_rows, error, held_out, surprise
from proce.causal.models.consistency import require_equation
from proce.causal.models.mechanism import (
    Additive,
    Choice,
    Equation,
    Mechanism,
    Multiplicative,
    Parents,
    Ranked,
)
from proce.causal.models.regression import NONE, Boosted, Exponential, Polynomial, Terms
from proce.errors import GraphError, did_you_mean
from proce.schema import Categorical, Codec, Continuous, Feature, Ordinal
from proce.schema.bulk import bulk_ends

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
_MIN_POSITIVE_SHARE = 0.5  # of the rows: a number that is zero more often is not an amount
_MIN_ROWS_PER_WEIGHT = 5  # below, a curved equation is not tried


@dataclass(frozen=True, slots=True)
class MechanismRecord:
    """How a mechanism was chosen.

    Attributes
    ----------
    kind
        ``linear``, ``quadratic``, ``spline``, one of these with ``log-`` before it, ``boosting``,
        ``logistic`` or ``given``.
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


def fit_mechanisms(
    graph: CausalGraph,
    rows: Tensor,
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
    name: str, graph: CausalGraph, rows: Tensor, codec: Codec, kind: Kind = "auto", seed: int = 0
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
        likeliest; the log kinds, for positive numbers, have noise in proportion to the value.
        Levels without an order are always fitted by multinomial logistic regression.
    seed
        Of the folds and the trees.
    """
    if kind not in get_args(Kind):
        raise GraphError(
            f"unknown kind of mechanism {kind!r}; expected one of {', '.join(get_args(Kind))}."
            + did_you_mean(kind, get_args(Kind))
        )
    feature = codec.schema[name]
    causes = tuple(codec.schema[cause] for cause in graph.parents(name))
    parents, target = _complete_rows(feature, causes, rows, codec)
    _refuse_constant(feature, target)
    origin = _origin(name, codec)
    terms = Terms(causes, ends=_ends(causes, codec))
    fits = _candidates(feature, terms, kind, target, origin, seed)
    unseen = {form: held_out(fit, parents, target, seed) for form, fit in fits.items()}
    errors = {form: error(feature, predicted, target) for form, predicted in unseen.items()}
    judged = comparable_rows(fits, target, origin)
    costs = {
        form: surprise(form, predicted[judged], target[judged], origin)
        for form, predicted in unseen.items()
        if len(fits) > 1
    }
    chosen = min(costs, key=costs.__getitem__, default=next(iter(fits)))
    record = MechanismRecord(chosen, errors, len(target), _collinear(causes, parents))
    return _with_noise(feature, chosen, fits[chosen](parents, target), origin), record


def fit_equation(
    name: str, graph: CausalGraph, rows: Tensor, codec: Codec, kind: str, seed: int
) -> Mechanism:
    """Fit a mechanism of a known kind, as :func:`fit_mechanism` would."""
    feature = codec.schema[name]
    causes = tuple(codec.schema[cause] for cause in graph.parents(name))
    parents, target = _complete_rows(feature, causes, rows, codec)
    origin = _origin(name, codec)
    terms = Terms(causes, ends=_ends(causes, codec))
    fits = _candidates(feature, terms, cast(Kind, kind), target, origin, seed)
    return _with_noise(feature, kind, fits[kind](parents, target), origin)


def _origin(name: str, codec: Codec) -> float:
    """Return where a number is 0 in raw units, on the unit range."""
    position = codec.schema.position(name)
    return -float(codec.low[position] / codec.span[position])


def _with_noise(feature: Feature, kind: str, equation: Equation, origin: float) -> Mechanism:
    if isinstance(feature, Categorical):
        return Choice(equation, len(feature.levels), units="unit")
    if isinstance(feature, Ordinal):
        return Ranked(equation, len(feature.levels), units="unit")
    if kind.startswith("log"):
        return Multiplicative(equation, origin, units="unit")
    return Additive(equation, units="unit")


def given_mechanism(feature: Feature, equation: Mechanism | Equation) -> Mechanism:
    """Return a user's equation as a mechanism: as it is, or with the usual noise around it."""
    if isinstance(equation, Additive | Multiplicative | Ranked | Choice):
        return equation
    if not callable(equation):
        if hasattr(equation, "respond"):
            return equation
        raise GraphError(
            f"the equation of {feature.name!r} is a {type(equation).__name__}; expected a function"
            " from its parents (by name, in raw units) to a tensor, or a mechanism."
        )
    if isinstance(feature, Categorical):
        return Choice(equation, len(feature.levels))
    if isinstance(feature, Ordinal):
        return Ranked(equation, len(feature.levels))
    return Additive(equation)


def _complete_rows(
    feature: Feature, causes: tuple[Feature, ...], rows: Tensor, codec: Codec
) -> tuple[dict[str, Tensor], Tensor]:
    """Return the parents by name and the effect, in the rows where none is missing.

    Rows with an outlier among them are left out, or a few of them would bend the equation.
    """
    positions = [codec.schema.position(used.name) for used in (feature, *causes)]
    low, high = bulk_ends(codec)[:, positions].to(rows)
    present = ~codec.missing(rows)[:, positions].any(-1)
    present &= ~((rows[:, positions] < low) | (rows[:, positions] > high)).any(-1)
    target, *parents = rows[present][:, positions].double().unbind(-1)
    return {cause.name: values for cause, values in zip(causes, parents, strict=True)}, target


def _ends(causes: tuple[Feature, ...], codec: Codec) -> tuple[tuple[str, float, float], ...]:
    """Return the values of causes with outliers beyond which no curve was learned."""
    ends = bulk_ends(codec).T.tolist()
    named = [(cause.name, *ends[codec.schema.position(cause.name)]) for cause in causes]
    return tuple((name, low, high) for name, low, high in named if high - low < math.inf)


def _candidates(
    feature: Feature,
    terms: Terms,
    kind: Kind,
    target: Tensor,
    origin: float,
    seed: int,
) -> dict[str, Fit]:
    """Return the equations to choose from, by kind; those with too many weights left out."""
    causes, curved = terms.parents, replace(terms, degree=2)
    straight = Terms(causes)  # a straight line may go on for outliers
    n_rows = len(target)
    if n_rows <= straight.size:
        raise GraphError(
            f"{n_rows} complete rows are too few for the {straight.size} weights of the equation of"
            f" {feature.name!r} ({', '.join(cause.name for cause in causes)}); give more rows, or"
            " remove edges into it."
        )
    if isinstance(feature, Categorical):
        count = len(feature.levels)
        return {"logistic": lambda p, t: Polynomial.logistic(terms, p, t, count)}
    fits: dict[str, Fit] = {
        "linear": lambda p, t: Polynomial.least_squares(straight, p, t),
        "quadratic": lambda p, t: Polynomial.least_squares(curved, p, t),
        "spline": lambda p, t: Polynomial.least_squares(curved.with_knots(p), p, t),
        "log-linear": lambda p, t: Exponential.fit(terms, p, t, origin),
        "log-quadratic": lambda p, t: Exponential.fit(curved, p, t, origin),
        "log-spline": lambda p, t: Exponential.fit(curved.with_knots(p), p, t, origin),
        "boosting": lambda p, t: Boosted.fit(straight, p, t, seed),
    }
    is_amount = isinstance(feature, Continuous) and bool((target >= origin - NONE).all())
    positive_share = float((target > origin + NONE).double().mean())
    is_amount = is_amount and positive_share > _MIN_POSITIVE_SHARE
    if kind.startswith("log") and not is_amount:
        raise GraphError(
            f"{feature.name!r} is not an amount, above zero in most rows and never below, so its"
            f" equation cannot be {kind}; choose linear, quadratic, spline or auto."
        )
    if kind != "auto":
        return {kind: fits[kind]}
    affordable = n_rows > _MIN_ROWS_PER_WEIGHT * curved.size
    kinds = ["linear", "quadratic", "spline"] if affordable else ["linear"]
    if is_amount:
        kinds += [f"log-{form}" for form in kinds]
    return {form: fits[form] for form in kinds}


def _refuse_constant(feature: Feature, target: Tensor) -> None:
    if len(target) and not bool((target != target[0]).any()):
        raise GraphError(
            f"{feature.name!r} has the same value in all {len(target)} complete rows, so its"
            " equation cannot be learned; give other rows, or remove the edges into it."
        )


def _collinear(causes: tuple[Feature, ...], parents: Parents) -> tuple[str, ...]:
    """Return a note where parents are combinations of each other."""
    columns = Terms(causes)(parents)
    n_categorical = sum(isinstance(cause, Categorical) for cause in causes)
    centred = columns - columns.mean(0)
    expected = columns.shape[1] - n_categorical  # the levels of a feature always add up to one
    rank = int(torch.linalg.matrix_rank(centred, rtol=1e-9)) if len(columns) else 0
    if rank >= expected:
        return ()
    names = ", ".join(cause.name for cause in causes)
    return (f"the parents {names} are collinear: what each does by itself cannot be told apart",)
