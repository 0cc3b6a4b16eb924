"""What does not fit the result is refused, with what to do."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import proce
from proce.causal import Additive, CausalGraph, StructuralCausalModel
from proce.latent import AutoEncoderSettings
from proce.metrics import Judges, Neighbourhood
from proce.metrics.inputs import CounterfactualColumns
from proce.schema import Codec, Continuous, Schema
from proce.training import TrainingSettings


def refused(world, error, match, **given):
    with pytest.raises(error, match=match):
        proce.evaluate(world.four_people(), **given)


def test_a_frame_is_no_result(world):
    with pytest.raises(proce.SearchError, match=r"result is a DataFrame; expected what explain"):
        proce.evaluate(world.train)


def test_training_rows_of_other_columns(world):
    short = world.train.drop(columns="city")
    refused(world, proce.SchemaError, "lacks the column 'city'", train=short)


def test_training_rows_may_have_columns_that_are_no_features(world):
    result = world.four_people()
    plain = proce.evaluate(result, train=world.train)
    assert proce.evaluate(result, train=world.train.assign(label=1)).frame.equals(plain.frame)


def other_world() -> StructuralCausalModel:
    frame = pd.DataFrame({"wealth": [0.0, 1], "skill": [0.0, 1]})
    codec = Codec.fit(Schema([Continuous("wealth"), Continuous("skill")]), frame)
    equations = {"skill": Additive(lambda parents: parents["wealth"])}
    return StructuralCausalModel(CausalGraph([("wealth", "skill")]), equations, codec)


def test_a_truth_of_other_features(world):
    refused(world, proce.GraphError, "names 'wealth', which is not a feature", truth=other_world())
    refused(world, proce.GraphError, "truth is a CausalGraph", truth=world.truth.graph)


def test_a_truth_that_was_fitted_on_another_scale(world):
    frame = pd.concat([world.train] * 20, ignore_index=True)
    codec = Codec.fit(world.schema(), frame.assign(study=2 * frame["study"]))
    graph = CausalGraph([("study", "skill")])
    fitted = StructuralCausalModel.fit(graph, codec.encode(frame), codec, mechanism="linear")
    refused(world, proce.GraphError, "fitted on another unit range", truth=fitted)


def test_a_graph_of_other_features(world):
    rules = ["study ~> skill"]
    refused(world, proce.GraphError, "wealth", rules=rules, graph=[("wealth", "skill")])
    refused(world, proce.GraphError, "expected a CausalGraph", rules=rules, graph=3)


def three_classes(frame):
    return np.full((len(frame), 3), 1 / 3)


def test_models_of_other_classes(world):
    match = r"model has the classes 0, 1, 2; the result has 0, 1"
    refused(world, proce.ModelError, match, model=three_classes)
    match = r"refits\[1\] has the classes 0, 1, 2; the result has 0, 1"
    refused(world, proce.ModelError, match, refits=[world.model(), three_classes])


def test_a_single_model_is_no_list_of_refits(world):
    refused(world, proce.ModelError, "refits is a function; expected a list", refits=world.model())


def test_rules_that_cannot_be_read(world):
    refused(world, proce.RuleError, "expected a list of rules", rules="study ~> skill")
    refused(world, proce.RuleError, "wealth", rules=["wealth ~> skill"])


def test_a_schema_of_other_features(world):
    schema = Schema(list(world.schema())[::-1])
    match = "expected those of the result in their order"
    refused(world, proce.SchemaError, match, recourse_schema=schema)
    refused(world, proce.SchemaError, "recourse_schema is a list", recourse_schema=["study"])


@pytest.mark.parametrize("seed", [-1, 1.5, True])
def test_a_seed_that_is_none(world, seed):
    refused(world, proce.SearchError, "seed is .*; expected a whole number", seed=seed)


def test_judges_and_neighbours_of_other_rows(world):
    training = TrainingSettings(n_epochs=1)
    settings = AutoEncoderSettings(latent_size=2, hidden_size=2, training=training)
    wide = replace(world.codec, span=2 * world.codec.span)
    rows, predicted = world.codec.encode(world.train), np.array([0, 0, 1, 1, 1])
    others = Judges.fit(wide, rows, predicted, 2, settings=settings)
    refused(world, proce.ModelError, "Fit them with result.context.codec", judges=others)
    around = Neighbourhood.fit(world.codec, rows, predicted, 3)
    refused(world, proce.ModelError, "of 3 classes", neighbourhood=around)
    refused(world, proce.ModelError, "judges is an int; expected", judges=3)
    refused(world, proce.ModelError, "neighbourhood is a Judges", neighbourhood=others)


def test_every_counterfactual_of_the_rows_that_needed_one_is_there(world):
    columns = CounterfactualColumns.of(world.four_people())
    assert columns.searched.tolist() == [0, 1, 3]
    assert columns.counts.tolist() == [2, 0, 1]
    assert columns.frame_row.tolist() == [0, 0, 3]
    assert columns.rank.tolist() == [1, 2, 1]
    assert np.allclose(columns.rows[1], world.row(skill=8, city="b"))
    assert (columns.predicted.tolist(), columns.target.tolist()) == ([0, 0, 0], [1, 1, 1])


def test_actions_holds_and_changes_without_a_mark_are_done_by_hand(world):
    changes = {
        "study": ("action", 6),
        "skill": ("hold", 3),
        "city": ("unmarked", "b"),
        "grade": ("consequence", "high"),
    }
    columns = CounterfactualColumns.of(world.result(world.explained(changes)))
    assert columns.by_hand.tolist() == [[True, True, True, False]]


def test_a_result_of_nobody_has_no_counterfactuals(world):
    columns = CounterfactualColumns.of(world.result())
    assert (len(columns), len(columns.searched)) == (0, 0)
    assert columns.rows.shape == columns.by_hand.shape == (0, 4)


def test_some_of_them_keep_all_rows_that_were_searched(world):
    columns = CounterfactualColumns.of(world.four_people())
    first = columns.take(columns.rank == 1)
    assert (first.frame_row.tolist(), first.searched.tolist()) == ([0, 3], [0, 1, 3])
