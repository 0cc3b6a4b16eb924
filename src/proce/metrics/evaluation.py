"""``evaluate``: every measure of a result in one call, and which way each is better."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from proce.arrays import Array, cells_differ
from proce.causal import StructuralCausalModel
from proce.classifier import Classifier, kept_by, predict_frame
from proce.explanation import Explanations
from proce.latent import Judges
from proce.metrics.inputs import (
    CounterfactualColumns,
    RuleWithPredictors,
    check_call,
    read_equations,
    read_judges,
    read_model,
    read_neighbourhood,
    read_refits,
    read_rules,
    read_schema,
    read_strict_rules,
)
from proce.metrics.neighbourhood import Neighbourhood
from proce.metrics.proximity import (
    features_touched,
    levels_kept,
    mad_l1,
    pairwise_distance,
    robust_distance,
    squared_gap,
)
from proce.metrics.recourse import allowed, succeeds, take_actions
from proce.metrics.validity import Reading, constraint_states
from proce.schema import Codec, MixedDistance, Schema
from proce.schema.features.numerals import counted

Better = Literal["higher", "lower", "neither"]


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of counterfactuals, as ``docs/metrics.md`` explains it."""

    name: str  # the name of the measure in the frame and the summary of an evaluation
    better: Better  # which way is better
    missing: float  # what a row without a counterfactual counts as
    needs: str  # what must be given for the measure, in words
    # Whether the measure is of one counterfactual, or of all those of a row together
    per: Literal["counterfactual", "row"] = "counterfactual"


_UNDEFINED = math.nan
_ANYTHING = "nothing but the result"
_RULES = "rules="
_STRICT = "rules=, and truth=, train= or an equation in graph= for each effect of a rule with ~>"
_TRAIN = "train=, and a schema with numbers"
_ROWS = "model= and train=, or neighbourhood="
_JUDGES = "judges=proce.metrics.Judges.fit(...)"
_CHOICE = "more than one counterfactual for some row: explain(..., n=4)"
_TRUTH = "model= and truth="

MEASURES = (
    Measure("target_class_validity", "higher", 0.0, "model="),
    Measure("causal_constraint_validity", "higher", 0.0, _RULES),
    Measure("causal_constraint_triggered", "neither", 0.0, _RULES),
    Measure("causal_constraint_satisfied", "higher", _UNDEFINED, _RULES),
    Measure("strict_constraint_validity", "higher", 0.0, _STRICT),
    Measure("strict_constraint_triggered", "neither", 0.0, _STRICT),
    Measure("strict_constraint_satisfied", "higher", _UNDEFINED, _STRICT),
    Measure("categorical_proximity", "higher", _UNDEFINED, "a schema with levels"),
    Measure("continuous_proximity", "higher", _UNDEFINED, "a schema with numbers"),
    Measure("sparsity", "lower", _UNDEFINED, _ANYTHING),
    Measure("n_actions", "lower", _UNDEFINED, _ANYTHING),
    Measure("gower_distance", "lower", _UNDEFINED, _ANYTHING),
    Measure("robust_distance", "lower", _UNDEFINED, "train="),
    Measure("mad_l1", "lower", _UNDEFINED, _TRAIN),
    Measure("im1", "lower", _UNDEFINED, _JUDGES),
    Measure("im2", "lower", _UNDEFINED, _JUDGES),
    Measure("im1_unsquared", "lower", _UNDEFINED, _JUDGES),
    Measure("im2_unsquared", "lower", _UNDEFINED, _JUDGES),
    Measure("nearest_target_row", "lower", _UNDEFINED, _ROWS),
    Measure("local_outlier_factor", "lower", _UNDEFINED, _ROWS),
    Measure("diversity", "higher", 0.0, _CHOICE, "row"),
    Measure("features_touched", "higher", 0.0, _CHOICE, "row"),
    Measure("recourse_success", "higher", 0.0, _TRUTH),
    Measure("broken_promises", "lower", _UNDEFINED, _TRUTH),
    Measure("actionable_success", "higher", 0.0, _TRUTH),
    Measure("actionable_broken_promises", "lower", _UNDEFINED, _TRUTH),
    Measure("action_cost", "lower", _UNDEFINED, "truth="),
    Measure("within_limits", "higher", 0.0, "recourse_schema="),
    Measure("robustness", "higher", 0.0, "refits=, models trained again"),
)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The measures of a result; ``docs/metrics.md`` explains each.

    Attributes
    ----------
    frame
        One line for each measure and counterfactual: ``row`` (the position in the frame that was
        explained), ``rank`` (from 1), ``metric``, ``value``. A row without a counterfactual has
        one line of rank 1 for each measure. A measure of all counterfactuals of a row together
        has one line of rank 0 for each row.
    n_asked
        How many rows needed a counterfactual; those that had the target class already did not.
    n_without
        How many of these rows have none.
    left_out
        The measures that could not be taken, by name, and what they need.
    """

    frame: pd.DataFrame
    n_asked: int
    n_without: int
    left_out: Mapping[str, str]

    @classmethod
    def of(cls, columns: CounterfactualColumns, values: Mapping[str, Array]) -> "Evaluation":
        """Lay out the values of measures, ``(c,)`` or ``(i,)`` by name, as a long frame."""
        without = np.flatnonzero(columns.counts == 0)
        owner = np.concatenate([columns.owner, without])
        order = np.argsort(owner, kind="stable")
        row = columns.searched[owner[order]]
        rank = np.concatenate([columns.rank, np.ones_like(without)])[order]
        taken = [measure for measure in MEASURES if measure.name in values]
        parts: list[tuple[Array, Array, Array]] = []
        for measure in taken:
            value = values[measure.name].astype(np.float64)
            if measure.per == "row":
                parts.append((columns.searched, np.zeros_like(columns.searched), value))
            else:
                missing = np.full(len(without), measure.missing)
                parts.append((row, rank, np.concatenate([value, missing])[order]))
        rows, ranks, numbers = (np.concatenate(part) for part in zip(*parts, strict=True))
        lengths = [len(part[0]) for part in parts]
        names = np.repeat([measure.name for measure in taken], lengths)
        frame = pd.DataFrame({"row": rows, "rank": ranks, "metric": names, "value": numbers})
        left_out = {
            measure.name: measure.needs for measure in MEASURES if measure.name not in values
        }
        return cls(frame, len(columns.searched), len(without), left_out)

    def summary(self) -> pd.DataFrame:
        """Return one line for each measure, over the recommended counterfactuals (rank 1).

        ``better`` says which way is better; ``n`` is the number of rows that have a value, and
        ``mean``, ``sd`` and ``median`` are over these rows; ``without`` is the share of rows that
        needed a counterfactual and have none.
        """
        first = self.frame[self.frame["rank"] <= 1]
        grouped = first.groupby("metric", sort=False)["value"]
        table = grouped.agg(["count", "mean", "std", "median"])
        table = table.rename(columns={"count": "n", "std": "sd"})
        better = {measure.name: measure.better for measure in MEASURES}
        table.insert(0, "better", [better[name] for name in table.index])
        table["without"] = self.n_without / self.n_asked if self.n_asked else np.nan
        return table

    def __repr__(self) -> str:
        return (
            f"Evaluation({counted(self.n_asked, 'row')}, {self.n_without} without a counterfactual,"
            f" {counted(self.frame['metric'].nunique(), 'metric')}, {len(self.left_out)} left out)"
        )


def evaluate(
    result: Explanations,
    *,
    model: Any = None,
    threshold: float | None = None,
    train: Any = None,
    rules: Sequence[str] = (),
    graph: Any = None,
    truth: StructuralCausalModel | None = None,
    recourse_schema: Schema | None = None,
    judges: Judges | None = None,
    neighbourhood: Neighbourhood | None = None,
    refits: Sequence[Any] = (),
    seed: int = 0,
) -> Evaluation:
    """Measure the counterfactuals of any method.

    Measures whose ingredients are not given are left out, and listed with what they need. Rows
    that have the target class already do not count; rows without a counterfactual do.

    Parameters
    ----------
    result
        What a method's ``explain`` returned; features and scale are taken from it.
    model
        The model that was explained, asked again: anything that ``proce.ProCE`` takes.
    threshold
        The decision threshold of the model and of the refits, if it was explained with one.
    train
        The training rows, a frame with the columns that were explained.
    rules
        The conditions of %Ccv, such as ``"LSAT, UGPA ~> ZFYA"``.
    graph
        The causes of the effects in rules with ``~>``, for the strict reading: equations are
        fitted here on ``train``, never taken from the explainer. A graph, edges, or a
        ``StructuralCausalModel`` that whoever measures has fitted. Not needed with ``truth``.
    truth
        The true equations, where they are known.
    recourse_schema
        Says what can be acted on, for ``within_limits`` and for the measures named
        ``actionable_...``, which take the schema of the result where it is not given.
    judges
        The auto-encoders of IM1 and IM2, trained apart from the explainer.
    neighbourhood
        The training rows of each class. It is made from ``train`` and ``model`` where it is not
        given; give it to measure several results against the same rows.
    refits
        Models that were trained again, as ``proce.metrics.bootstrap_refits`` does.
    seed
        The seed of the noise that a row alone does not determine, of fits and of draws.

    Returns
    -------
    Evaluation
        The measures: ``frame``, ``summary()``, and those that were ``left_out``.

    Raises
    ------
    SchemaError, RuleError, GraphError, ModelError, SearchError
        If something that was given does not fit the result.
    """
    check_call(result, seed)
    own, found = result.context.codec, CounterfactualColumns.of(result)
    context = replace(result.context, codec=own.by_range)  # the scale of the literature
    codec, columns = context.codec, found.on_range(own)
    classifier = None if model is None else read_model("model", model, context, threshold)
    rows = None if train is None else np.ascontiguousarray(codec.encode(train))
    world = None if truth is None else read_equations("truth", truth, codec)
    limits = read_schema(recourse_schema, codec)
    conditions = read_rules(rules, codec)
    values = _proximity(codec, columns, rows) | _diversity(codec, columns, found)
    values["sparsity"] = cells_differ(found.rows, found.factual).sum(-1)
    robust = own if train is None else Codec.fit(own.schema, train, "bulk")
    if robust.by_range is not robust or train is not None:
        values["robust_distance"] = robust_distance(robust, own, found.factual, found.rows)
    if conditions:
        values |= _constraints("causal", [(rule, {}) for rule in conditions], columns, "direction")
        strict = read_strict_rules(conditions, codec, world, graph, rows, seed)
        values |= {} if strict is None else _constraints("strict", strict, columns, "strict")
    if classifier is not None:
        values["target_class_validity"] = _have_target(result, columns, [classifier])[0]
    if world is not None:
        values |= _recourse(columns, world, limits, classifier, seed)
    if recourse_schema is not None:
        values["within_limits"] = allowed(limits, columns)
    if (checked_judges := read_judges(judges, context)) is not None:
        values |= _interpretability(checked_judges, columns)
    around = read_neighbourhood(neighbourhood, context, classifier, rows, seed)
    if around is not None:
        values["nearest_target_row"] = around.nearest(columns.rows, columns.target)
        values["local_outlier_factor"] = around.outlier_factor(columns.rows, columns.target)
    if refitted := read_refits(refits, context, threshold):
        values["robustness"] = _have_target(result, columns, refitted).mean(0)
    return Evaluation.of(columns, values)


def _have_target(
    result: Explanations, columns: CounterfactualColumns, models: Sequence[Classifier]
) -> Array:
    """Return flags ``(m, c)``: a model says the target of the frame that the result gives."""
    # The function ``target_class_validity`` asks about rows; the frame is what people get, to the
    # last bit.
    if not len(columns):
        return np.zeros((len(models), 0), dtype=np.bool_)
    frame, codec = result.counterfactuals(), result.context.codec.by_range
    return kept_by(models, lambda model: predict_frame(model, frame, codec), columns.target)


def _proximity(
    codec: Codec, columns: CounterfactualColumns, train: Array | None
) -> dict[str, Array]:
    factual, rows = columns.factual, columns.rows
    values = {
        "n_actions": columns.by_hand.sum(-1),
        "gower_distance": MixedDistance.gower(codec).mean(rows, factual),
    }
    if not codec.is_number.all():
        values["categorical_proximity"] = levels_kept(codec, factual, rows)
    if codec.is_number.any():
        values["continuous_proximity"] = -squared_gap(codec, factual, rows)
        if train is not None:
            values["mad_l1"] = mad_l1(codec, factual, rows, train)
    return values


def _diversity(
    codec: Codec, columns: CounterfactualColumns, found: CounterfactualColumns
) -> dict[str, Array]:
    """Return distances on the common scale, and what changed on that of the method."""
    if not bool((columns.counts > 1).any()):
        return {}
    return {
        "diversity": pairwise_distance(codec, columns),
        "features_touched": features_touched(found),
    }


def _constraints(
    name: str, rules: Sequence[RuleWithPredictors], columns: CounterfactualColumns, reading: Reading
) -> dict[str, Array]:
    states = constraint_states(rules, columns.factual, columns.rows, reading=reading)
    return {
        f"{name}_constraint_validity": ~states.broken,
        f"{name}_constraint_triggered": states.triggered,
        f"{name}_constraint_satisfied": states.satisfied,
    }


def _recourse(
    columns: CounterfactualColumns,
    truth: StructuralCausalModel,
    limits: Codec,
    classifier: Classifier | None,
    seed: int,
) -> dict[str, Array]:
    taken = take_actions(columns, truth, seed)
    if classifier is None:
        return {"action_cost": taken.cost}
    succeeded = succeeds(columns, taken, classifier)
    actionable = succeeded & allowed(limits, columns)
    return {
        "recourse_success": succeeded,
        "broken_promises": ~succeeded,
        "actionable_success": actionable,
        "actionable_broken_promises": ~actionable,
        "action_cost": taken.cost,
    }


def _interpretability(judges: Judges, columns: CounterfactualColumns) -> dict[str, Array]:
    by_norm = judges.by_norm(columns.rows, columns.target, columns.predicted)
    (im1, im2), (im1_unsquared, im2_unsquared) = by_norm["squared"], by_norm["unsquared"]
    return {
        "im1": im1,
        "im2": im2,
        "im1_unsquared": im1_unsquared,
        "im2_unsquared": im2_unsquared,
    }
