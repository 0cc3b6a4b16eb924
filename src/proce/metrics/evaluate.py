"""One door to every measure."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from proce.causal import StructuralCausalModel
from proce.classifier import Classifier
from proce.explanation import Explanations
from proce.metrics.answers import Answers
from proce.metrics.diversity import features_touched, pairwise_distance
from proce.metrics.evaluation import Evaluation
from proce.metrics.ingredients import (
    BoundRule,
    check_call,
    read_equations,
    read_judges,
    read_model,
    read_neighbourhood,
    read_refits,
    read_rules,
    read_schema,
    read_strict,
)
from proce.metrics.interpretability import Judges
from proce.metrics.neighbourhood import Neighbourhood
from proce.metrics.proximity import changed, levels_kept, mad_l1, squared_gap
from proce.metrics.recourse import allowed, succeeds, take_actions
from proce.metrics.robustness import share_still_valid
from proce.metrics.validity import Reading, constraint_states
from proce.objective import MixedDistance
from proce.schema import Codec, Continuous, Schema


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
        Its decision threshold and that of the refits, if it was explained with one.
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
        Says what can be acted on, for the measures named ``actionable_...``; by default the
        schema of the result.
    judges
        The auto-encoders of IM1 and IM2, trained apart from the explainer.
    neighbourhood
        Made from ``train`` and ``model`` where it is not given; give it to measure several
        results against the same rows.
    refits
        The model trained again, as ``proce.metrics.bootstrap_refits`` does.
    seed
        Of noise that a row alone does not determine, of fits and of draws.

    Returns
    -------
    Evaluation
        With ``frame``, ``summary()`` and ``left_out``.

    Raises
    ------
    SchemaError, RuleError, GraphError, ModelError, SearchError
        Something given does not fit the result.
    """
    check_call(result, seed)
    context, codec = result.context, result.context.codec
    answers = Answers.of(result)
    classifier = None if model is None else read_model("model", model, context, threshold)
    rows = None if train is None else codec.encode(train).contiguous()
    world = None if truth is None else read_equations("truth", truth, codec)
    limits = read_schema(recourse_schema, codec)
    conditions = read_rules(rules, codec)
    values = _nearness(codec, answers, rows) | _choice(codec, answers)
    if conditions:
        values |= _obedience("causal", [(rule, {}) for rule in conditions], answers, "direction")
        strict = read_strict(conditions, codec, world, graph, rows, seed)
        values |= {} if strict is None else _obedience("strict", strict, answers, "strict")
    if classifier is not None:
        values["target_class_validity"] = classifier.predict(answers.rows) == answers.target
    if world is not None:
        values |= _true_world(answers, world, limits, classifier, seed)
    if (judged := read_judges(judges, context)) is not None:
        values |= _interpretability(judged, answers)
    around = read_neighbourhood(neighbourhood, context, classifier, rows, seed)
    if around is not None:
        values["nearest_target_row"] = around.nearest(answers.rows, answers.target)
        values["local_outlier_factor"] = around.outlier_factor(answers.rows, answers.target)
    if again := read_refits(refits, context, threshold):
        values["robustness"] = share_still_valid(again, answers.rows, answers.target)
    return Evaluation.of(answers, values)


def _nearness(codec: Codec, answers: Answers, train: Tensor | None) -> dict[str, Tensor]:
    factual, rows = answers.factual, answers.rows
    numbers = [isinstance(feature, Continuous) for feature in codec.schema]
    values = {
        "sparsity": changed(codec, factual, rows).sum(-1),
        "n_actions": answers.by_hand.sum(-1),
        "gower_distance": MixedDistance.gower(codec)(rows, factual).mean(-1),
    }
    if not all(numbers):
        values["categorical_proximity"] = levels_kept(codec, factual, rows)
    if any(numbers):
        values["continuous_proximity"] = -squared_gap(codec, factual, rows)
        if train is not None:
            values["mad_l1"] = mad_l1(codec, factual, rows, train)
    return values


def _choice(codec: Codec, answers: Answers) -> dict[str, Tensor]:
    if not bool((answers.counts > 1).any()):
        return {}
    return {
        "diversity": pairwise_distance(codec, answers),
        "features_touched": features_touched(codec, answers),
    }


def _obedience(
    name: str, rules: Sequence[BoundRule], answers: Answers, reading: Reading
) -> dict[str, Tensor]:
    states = constraint_states(rules, answers.factual, answers.rows, reading=reading)
    obeys = (~states.broken).double()
    return {
        f"{name}_constraint_validity": obeys,
        f"{name}_constraint_triggered": states.triggered,
        f"{name}_constraint_satisfied": obeys.masked_fill(~states.triggered, torch.nan),
    }


def _true_world(
    answers: Answers,
    truth: StructuralCausalModel,
    limits: Codec,
    classifier: Classifier | None,
    seed: int,
) -> dict[str, Tensor]:
    taken = take_actions(answers, truth, seed)
    if classifier is None:
        return {"action_cost": taken.cost}
    works = succeeds(answers, taken, classifier)
    can_be_done = works & allowed(limits, answers)
    return {
        "recourse_success": works,
        "broken_promises": ~works,
        "actionable_success": can_be_done,
        "actionable_broken_promises": ~can_be_done,
        "action_cost": taken.cost,
    }


def _interpretability(judges: Judges, answers: Answers) -> dict[str, Tensor]:
    rows, target, own = answers.rows, answers.target, answers.predicted
    return {
        "im1": judges.im1(rows, target, own),
        "im2": judges.im2(rows, target),
        "im1_unsquared": judges.im1(rows, target, own, norm="unsquared"),
        "im2_unsquared": judges.im2(rows, target, norm="unsquared"),
    }
