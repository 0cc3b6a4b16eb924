"""The inputs of ``evaluate``: the result as columns, and all else checked against it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from proce.arguments import kind_name
from proce.arrays import Array, cells_differ
from proce.causal import CausalGraph, StructuralCausalModel
from proce.classifier import Classifier, as_classifier, predict_in_blocks
from proce.classifier.accept import same_rows
from proce.compiled.streams import check_seed
from proce.errors import (
    GraphError,
    ModelError,
    ModelInterfaceError,
    RuleError,
    SchemaError,
    SearchError,
)
from proce.explanation import Change, Context, Explanations, Outcome, done_by_hand
from proce.latent import Judges
from proce.metrics.neighbourhood import Neighbourhood
from proce.objective import EffectPredictor, fit_effect, has_causes
from proce.schema import Codec, Rule, Schema
from proce.schema.features.levels import quoted
from proce.schema.rules.tree import Mechanism


@dataclass(frozen=True, eq=False)
class CounterfactualColumns:
    """Every counterfactual of a result, in the order of the result."""

    # Rows that have the target class already needed no counterfactual and are not here.

    # ``(i,)``, the positions in their frame of the rows that needed a counterfactual
    searched: Array
    # ``(c,)``, the row that each counterfactual belongs to, as a position in ``searched``
    owner: Array
    rank: Array  # ``(c,)``, the rank of each counterfactual of its row; 1 is the recommended one
    factual: Array  # ``(c, f)``, the rows before and after
    rows: Array
    changes: Array  # ``(c, f)``, a ``Change`` for each cell
    # ``(c, f)``, what the person does: actions, holds, and changes that carry no mark
    by_hand: Array
    losses: Array  # ``(c, 3)``; see :class:`proce.losses.Loss`
    # ``(c,)``, the class that the model gives the row, and the wanted one, as positions
    predicted: Array
    target: Array

    @classmethod
    def of(cls, result: Explanations) -> "CounterfactualColumns":
        """Return the columns of a result."""
        record = result.rows
        searched = np.flatnonzero(record.outcomes != Outcome.ALREADY_TARGET.code)
        ways = record.counterfactuals.owned_by(searched)
        owner = searched[ways.owner]
        factual = record.factual[owner]
        changed = cells_differ(ways.rows, factual)
        unmarked = (ways.changes == Change.NONE) & changed
        return cls(
            searched=record.positions[searched],
            owner=ways.owner,
            rank=ways.ranks(),
            factual=factual,
            rows=ways.rows,
            changes=ways.changes,
            by_hand=done_by_hand(ways.changes) | unmarked,
            losses=ways.losses,
            predicted=record.predicted[owner],
            target=record.target[owner],
        )

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def counts(self) -> Array:
        """How many counterfactuals each searched row has, ``(i,)``."""
        return np.bincount(self.owner, minlength=len(self.searched))

    @property
    def frame_row(self) -> Array:
        """The position in its frame of each counterfactual's row, ``(c,)``."""
        return self.searched[self.owner]

    def on_range(self, codec: Codec) -> "CounterfactualColumns":
        """Return the same with the rows in the entries of ``codec.by_range``."""
        factual, rows = codec.on_range(self.factual), codec.on_range(self.rows)
        return replace(self, factual=factual, rows=rows)

    def take(self, which: Array) -> "CounterfactualColumns":
        """Return some of the counterfactuals, by flags or positions; ``searched`` stays whole."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        del own["searched"]
        return replace(self, **{name: column[which] for name, column in own.items()})


RuleWithPredictors = tuple[Rule, Mapping[str, Mechanism]]


def check_call(result: Any, seed: Any) -> None:
    """Refuse a result that is not one, and a seed that cannot be."""
    if not isinstance(result, Explanations):
        raise SearchError(
            f"result is {kind_name(result)}; expected what explain(...) returned, a"
            " proce.Explanations."
        )
    check_seed(seed)


def read_model(name: str, model: Any, context: Context, threshold: float | None) -> Classifier:
    """Return a model behind our interface; its classes must be those of the result."""
    try:
        classifier = as_classifier(model, context.codec, threshold)
    except ModelInterfaceError as error:
        raise ModelInterfaceError(f"{name}: {error}") from None
    if classifier.classes != context.classes:
        raise ModelError(
            f"{name} has the classes {quoted(classifier.classes)}; the result has"
            f" {quoted(context.classes)}, in this order. Give the model that was explained, or one"
            " trained on the same labels."
        )
    return classifier


def read_refits(refits: Any, context: Context, threshold: float | None) -> tuple[Classifier, ...]:
    """Return the refitted models behind our interface."""
    if isinstance(refits, str | bytes) or not isinstance(refits, Sequence):
        raise ModelError(f"refits is {kind_name(refits)}; expected a list of models.")
    return tuple(
        read_model(f"refits[{number}]", refit, context, threshold)
        for number, refit in enumerate(refits)
    )


def read_equations(name: str, scm: Any, codec: Codec) -> StructuralCausalModel:
    """Return a structural causal model over the rows of a codec."""
    if not isinstance(scm, StructuralCausalModel):
        raise GraphError(
            f"{name} is {kind_name(scm)}; expected a proce.StructuralCausalModel, such as"
            " the truth of a generated data set."
        )
    if same_rows(scm.codec, codec):
        return replace(scm, codec=codec)
    return scm.with_codec(codec)


def read_schema(schema: Any, codec: Codec) -> Codec:
    """Return the codec with another schema, which must have the same features."""
    if schema is None:
        return codec
    if not isinstance(schema, Schema):
        raise SchemaError(f"recourse_schema is {kind_name(schema)}; expected proce.Schema.")
    other = replace(codec, schema=schema)
    if schema.names != codec.schema.names or not same_rows(other, codec):
        raise SchemaError(
            f"recourse_schema has the features {quoted(schema.names)}; expected those of the result"
            f" in their order and with their levels, {quoted(codec.schema.names)}. Only actions and"
            " ranges may differ."
        )
    return other


def read_judges(judges: Any, context: Context) -> Judges | None:
    """Return the judges; they must be of the rows and classes of the result."""
    if judges is None:
        return None
    if not isinstance(judges, Judges):
        raise ModelError(f"judges is {kind_name(judges)}; expected proce.metrics.Judges.fit(...).")
    _check_fit("judges", judges.of_all.codec, len(judges.by_class), context)
    return judges


def read_neighbourhood(
    neighbourhood: Any,
    context: Context,
    classifier: Classifier | None,
    train: Array | None,
    seed: int,
) -> Neighbourhood | None:
    """Return the neighbourhood that was given, or one of the rows that the model classifies."""
    if neighbourhood is not None:
        if not isinstance(neighbourhood, Neighbourhood):
            raise ModelError(
                f"neighbourhood is {kind_name(neighbourhood)}; expected"
                " proce.metrics.Neighbourhood.fit(...)."
            )
        _check_fit("neighbourhood", neighbourhood.codec, len(neighbourhood.members), context)
        return neighbourhood
    if classifier is None or train is None:
        return None
    predicted = predict_in_blocks(classifier, train)
    return Neighbourhood.fit(context.codec, train, predicted, len(context.classes), seed=seed)


def read_rules(rules: Any, codec: Codec) -> tuple[Rule, ...]:
    """Return the parsed rules."""
    if isinstance(rules, str) or not isinstance(rules, Sequence):
        raise RuleError(f"rules is {rules!r}; expected a list of rules, such as [{rules!r}].")
    return tuple(Rule.parse(str(text), codec) for text in rules)


def read_strict_rules(
    rules: Sequence[Rule],
    codec: Codec,
    truth: StructuralCausalModel | None,
    graph: Any,
    train: Array | None,
    seed: int,
) -> tuple[RuleWithPredictors, ...] | None:
    """Return rules with the predictor of each effect; ``None`` where one cannot be had."""
    # The predictor is the true equation; or that of the graph, fitted here where the graph has no
    # equations; or one fitted on the causes that the rule names.
    known = [truth, _read_graph(graph, codec)]
    bound: list[RuleWithPredictors] = []
    for rule in rules:
        predictors: dict[str, Mechanism] = {}
        if rule.dependence is not None:
            causes, effect = rule.dependence
            scm = _equation_of(effect, causes, known, codec, train, seed)
            if scm is None:
                return None
            predictors = {effect: EffectPredictor(scm, effect)}
        bound.append((rule, predictors))
    return tuple(bound)


def _read_graph(graph: Any, codec: Codec) -> CausalGraph | StructuralCausalModel | None:
    """Return a graph, or equations, over the features of a codec."""
    if isinstance(graph, StructuralCausalModel):
        return read_equations("graph", graph, codec)
    return None if graph is None else CausalGraph.accept(graph).over(codec.schema)


def _equation_of(
    effect: str,
    causes: Sequence[str],
    known: Sequence[CausalGraph | StructuralCausalModel | None],
    codec: Codec,
    train: Array | None,
    seed: int,
) -> StructuralCausalModel | None:
    """Return the first known model with these causes of an effect, fitted if need be."""
    for model in known:
        if isinstance(model, StructuralCausalModel) and has_causes(model.graph, causes, effect):
            return model
        if isinstance(model, CausalGraph) and has_causes(model, causes, effect):
            causes = model.parents(effect)
    return None if train is None else fit_effect(causes, effect, train, codec, seed)


def _check_fit(name: str, codec: Codec, n_classes: int, context: Context) -> None:
    """Refuse judges or a neighbourhood of other rows or classes than those of the result."""
    if n_classes != len(context.classes) or not same_rows(codec, context.codec):
        raise ModelError(
            f"the {name} are of {n_classes} classes of {quoted(codec.schema.names)}; the result has"
            f" {len(context.classes)} classes of {quoted(context.codec.schema.names)}, on the range"
            " of its own training rows. Fit them with result.context.codec.by_range."
        )
