"""Every measure of a result at once; the numbers are worked out by hand."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest

import proce
from proce.classifier import as_classifier
from proce.explanation import Outcome
from proce.latent import Reconstruction
from proce.latent.columns import NetworkColumns
from proce.methods import Nearest
from proce.metrics import (
    MEASURES,
    Judges,
    Neighbourhood,
    categorical_proximity,
    causal_constraint_validity,
    continuous_proximity,
    target_class_validity,
)
from proce.metrics.inputs import CounterfactualColumns
from proce.schema import Categorical, Codec, Continuous, Rule, Schema

from ..worlds import two_classes

NONE = math.nan


@dataclass
class Says:
    """An auto-encoder that rebuilds every row with the same skill, and all else exactly."""

    codec: Codec
    skill: float

    @property
    def columns(self):
        return NetworkColumns(self.codec)

    def reconstruct(self, rows):
        units = np.stack([rows[:, 0], np.full_like(rows[:, 1], self.skill)], axis=-1)
        city, grade = (np.eye(3)[rows[:, position].astype(np.int64)] for position in (2, 3))
        return Reconstruction(units, {"city": city, "grade": grade})


def everything(world, result):
    """Evaluate with every input that there is."""
    codec = world.codec
    return proce.evaluate(
        result,
        model=world.model(),
        train=world.train,
        rules=["study ~> skill"],
        truth=world.truth,
        recourse_schema=world.schema(skill="indirect"),
        judges=Judges((Says(codec, 0.2), Says(codec, 0.8)), Says(codec, 0.6)),
        refits=[world.model(above=5), world.model(above=7.5)],
    )


# The two ways of the first person, the second who got none, and the fourth.
BY_HAND = {
    "target_class_validity": [1, 1, 0, 1],
    "causal_constraint_validity": [1, 1, 0, 1],
    "causal_constraint_triggered": [1, 0, 0, 1],
    "causal_constraint_satisfied": [1, NONE, NONE, 1],
    "strict_constraint_validity": [1, 0, 0, 1],  # in the second way skill moves by itself
    "strict_constraint_triggered": [1, 1, 0, 1],
    "strict_constraint_satisfied": [1, 0, NONE, 1],
    "categorical_proximity": [2, 1, NONE, 2],
    "continuous_proximity": [-(0.4**2 + 0.4**2), -(0.5**2), NONE, -(0.1**2 + 0.5**2)],
    "sparsity": [2, 2, NONE, 2],
    "n_actions": [1, 2, NONE, 1],
    "gower_distance": [(0.4 + 0.4) / 4, (0.5 + 1) / 4, NONE, (0.1 + 0.5) / 4],
    # The central 99% of study and of skill: 0.04 to 9.92, and 0.06 to 9.96.
    "robust_distance": [
        (4 / 9.88 + 4 / 9.9) / 4,
        (5 / 9.9 + 1) / 4,
        NONE,
        (1 / 9.88 + 5 / 9.9) / 4,
    ],
    # Deviations: study 0.2 (of 4, 2, 0, 2, 6), skill 0.3 (of 7, 4, 0, 1, 3).
    "mad_l1": [0.4 / 0.2 + 0.4 / 0.3, 0.5 / 0.3, NONE, 0.1 / 0.2 + 0.5 / 0.3],
    "im1": [0.1**2 / 0.5**2, 0, NONE, 0],  # skill is 0.7, 0.8, 0.8; rebuilt as 0.8 and 0.2
    "im2": [0.2**2 / (0.6**2 + 0.7**2 + 2), 0.2**2 / 2.68, NONE, 0.2**2 / 2.73],
    "im1_unsquared": [0.1 / 0.5, 0, NONE, 0],
    "im2_unsquared": [0.2 / 2.85**0.5, 0.2 / 2.68**0.5, NONE, 0.2 / 2.73**0.5],
    # Training rows with skill above 5: (4, 7, b, middle), (6, 8, c, high), (10, 10, a, high).
    "nearest_target_row": [1.7 / 4, (0.2 + 0.1 + 0.5) / 4, NONE, 1.7 / 4],
    "recourse_success": [1, 1, 0, 0],
    "broken_promises": [0, 0, NONE, 1],
    "actionable_success": [1, 0, 0, 0],
    "actionable_broken_promises": [0, 1, NONE, 1],
    "action_cost": [0.4, 0.5 + 1, NONE, 0.1],
    "within_limits": [1, 0, 0, 1],
    "robustness": [0.5, 1, 0, 1],
}


@pytest.mark.parametrize("name", BY_HAND)
def test_each_measure_of_each_counterfactual(world, name):
    frame = everything(world, world.four_people()).frame
    part = frame[frame["metric"] == name]
    assert part["row"].tolist() == [0, 0, 1, 3]
    assert part["rank"].tolist() == [1, 2, 1, 1]
    assert part["value"].tolist() == pytest.approx(BY_HAND[name], nan_ok=True, rel=1e-5)


def test_measures_of_all_ways_of_a_person_have_rank_zero(world):
    frame = everything(world, world.four_people()).frame
    for name, wanted in {"diversity": [1.5 / 4, 0, 0], "features_touched": [3, 0, 2]}.items():
        part = frame[frame["metric"] == name]
        assert part["row"].tolist() == [0, 1, 3]
        assert part["rank"].tolist() == [0, 0, 0]
        assert part["value"].tolist() == pytest.approx(wanted)


def test_every_measure_is_taken_where_everything_is_given(world):
    evaluation = everything(world, world.four_people())
    assert evaluation.left_out == {}
    assert evaluation.summary().index.tolist() == [measure.name for measure in MEASURES]
    assert set(BY_HAND) | {"diversity", "features_touched", "local_outlier_factor"} == {
        measure.name for measure in MEASURES
    }


def test_the_summary_is_over_the_recommended_ones_and_counts_who_got_none(world):
    table = everything(world, world.four_people()).summary()
    columns = ["better", "n", "mean", "sd", "median", "without"]
    assert table.columns.tolist() == columns
    assert set(table["without"]) == {1 / 3}
    success = table.loc["recourse_success"]
    assert (success["n"], success["mean"], success["median"]) == (3, pytest.approx(1 / 3), 0)
    assert success["sd"] == pytest.approx(math.sqrt(1 / 3))  # of 1, 0, 0
    cost = table.loc["action_cost"]  # of the two who got something
    assert (cost["n"], cost["mean"], cost["better"]) == (2, pytest.approx(0.25), "lower")
    assert table.loc["diversity", "mean"] == pytest.approx(1.5 / 4 / 3)


def test_the_functions_of_rows_say_the_same(world):
    result = world.four_people()
    columns = CounterfactualColumns.of(result)
    found, first = columns.counts > 0, columns.take(columns.rank == 1)
    factual, rows = np.zeros((2, 3, 4))
    factual[found], rows[found] = first.factual, first.rows
    asked, target = as_classifier(world.model(), world.codec), np.ones(3, dtype=np.int64)
    rules = [Rule.parse("study ~> skill", world.codec)]
    constraints = causal_constraint_validity(rules, factual, rows, found)
    expected = {
        "target_class_validity": target_class_validity(asked, rows, found, target),
        "causal_constraint_validity": constraints.valid,
        "causal_constraint_triggered": constraints.triggered,
        "causal_constraint_satisfied": constraints.satisfied,
        "categorical_proximity": categorical_proximity(world.codec, factual, rows, found),
        "continuous_proximity": continuous_proximity(world.codec, factual, rows, found),
    }
    told = everything(world, result).summary()["mean"]
    assert {name: told[name] for name in expected} == pytest.approx(expected)


def test_what_was_not_given_is_left_out_and_named(world):
    evaluation = proce.evaluate(world.four_people())
    assert set(evaluation.frame["metric"]) == {
        "categorical_proximity",
        "continuous_proximity",
        "sparsity",
        "n_actions",
        "gower_distance",
        "diversity",
        "features_touched",
    }
    assert evaluation.left_out["target_class_validity"] == "model="
    assert evaluation.left_out["recourse_success"] == "model= and truth="
    assert len(evaluation.left_out) == len(MEASURES) - 7
    assert "3 rows, 1 without a counterfactual, 7 metrics, 22 left out" in repr(evaluation)


def test_the_strict_reading_is_left_out_without_an_equation(world):
    result = world.four_people()
    bare = proce.evaluate(result, rules=["study ~> skill"])
    assert "causal_constraint_validity" in set(bare.frame["metric"])
    assert "train=" in bare.left_out["strict_constraint_validity"]
    plain = proce.evaluate(result, rules=["cf.study >= x.study"])
    assert plain.summary().loc["strict_constraint_validity", "mean"] == pytest.approx(2 / 3)


def falling(world):
    """Return the world with training rows in which skill falls with study."""
    study = [float(each % 11) for each in range(200)]
    levels = {"city": ["a", "b"] * 100, "grade": ["low", "high"] * 100}
    train = pd.DataFrame({"study": study, "skill": [10 - each for each in study], **levels})
    return replace(world, train=train, codec=Codec.fit(world.schema(), train))


@pytest.mark.parametrize("graph", [None, [("study", "skill"), ("grade", "skill")]])
def test_the_strict_reading_fits_an_equation_on_the_training_rows(world, graph):
    world = falling(world)
    rules = ["study ~> skill"]
    table = proce.evaluate(
        world.four_people(), rules=rules, graph=graph, train=world.train
    ).summary()
    assert table.loc["causal_constraint_validity", "mean"] == pytest.approx(2 / 3)
    assert table.loc["strict_constraint_validity", "mean"] == 0


def test_the_true_equation_goes_before_one_that_is_fitted(world):
    world = falling(world)
    given = {"graph": [("study", "skill")], "train": world.train, "truth": world.truth}
    table = proce.evaluate(world.four_people(), rules=["study ~> skill"], **given).summary()
    assert table.loc["strict_constraint_validity", "mean"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("graph", "valid"), [(None, 0), ([("study", "skill"), ("grade", "skill")], 1)]
)
def test_all_causes_of_the_graph_enter_the_equation_of_the_strict_reading(world, graph, valid):
    study, grade = [float(each % 11) for each in range(330)], [each % 3 for each in range(330)]
    skill = [one + 4 * other for one, other in zip(study, grade, strict=True)]
    names = [("low", "middle", "high")[each] for each in grade]
    cities = ["a", "b"] * 165
    train = pd.DataFrame({"study": study, "skill": skill, "city": cities, "grade": names})
    world = replace(world, train=train, codec=Codec.fit(world.schema(), train))
    down = {"study": ("action", 3), "grade": ("action", "low"), "skill": ("action", 2)}
    item = world.explained(down, own=world.row(grade="high"))
    given = {"rules": ["study ~> skill"], "graph": graph, "train": train}
    table = proce.evaluate(world.result(item), **given).summary()
    assert table.loc["strict_constraint_validity", "mean"] == valid


def test_equations_may_be_given_where_a_graph_is_asked_for(world):
    table = proce.evaluate(world.four_people(), rules=["study ~> skill"], graph=world.truth)
    assert table.summary().loc["strict_constraint_validity", "mean"] == pytest.approx(2 / 3)


def test_the_schema_of_the_result_says_what_is_actionable_by_default(world):
    codec = Codec.fit(world.schema(skill="indirect"), world.train)
    result = replace(world, codec=codec).four_people()
    frame = proce.evaluate(result, model=world.model(), truth=world.truth).frame
    part = frame[frame["metric"] == "actionable_success"]
    assert part["value"].tolist() == BY_HAND["actionable_success"]


def test_changes_without_a_mark_are_actions(world):
    item = world.explained({"study": ("unmarked", 6), "skill": ("unmarked", 4)})
    table = proce.evaluate(world.result(item), model=world.model(), truth=world.truth).summary()
    assert table.loc["n_actions", "mean"] == 2
    assert table.loc["recourse_success", "mean"] == 0  # skill is set to 4, whatever study does
    assert table.loc["action_cost", "mean"] == pytest.approx(0.4 + 0.3)  # it would have been 7


def test_a_change_however_small_counts_as_often_as_it_is_marked(world):
    item = world.explained({"study": ("action", 2 + 5e-9), "skill": ("unmarked", 3 + 5e-9)})
    table = proce.evaluate(world.result(item)).summary()
    assert table.loc[["n_actions", "sparsity"], "mean"].tolist() == [2, 2]


def test_another_level_costs_one_whichever_it_is(world):
    item = world.explained({"city": ("action", "c"), "grade": ("action", "middle")})
    table = proce.evaluate(world.result(item), truth=world.truth).summary()
    assert table.loc["action_cost", "mean"] == pytest.approx(1 + 0.5)


def test_where_nothing_was_found_shares_are_zero_and_distances_missing(world):
    result = world.result(world.explained(row=0), world.explained(row=5))
    table = everything(world, result).summary()
    assert table.loc["recourse_success", ["n", "mean", "without"]].tolist() == [2, 0, 1]
    assert table.loc["gower_distance", "n"] == 0
    assert math.isnan(table.loc["gower_distance", "mean"])


@pytest.mark.parametrize("people", [0, 1])
def test_where_nobody_asked_there_is_nothing_to_say(world, people):
    happy = world.explained(outcome=Outcome.ALREADY_TARGET)
    evaluation = everything(world, world.result(*[happy] * people))
    assert len(evaluation.frame) == 0
    assert evaluation.frame.columns.tolist() == ["row", "rank", "metric", "value"]
    assert len(evaluation.summary()) == 0


def test_a_neighbourhood_may_be_made_once_for_many_results(world):
    rows, result = world.codec.encode(world.train), world.four_people()
    predicted = np.array([0, 0, 1, 1, 1])
    once = Neighbourhood.fit(world.codec, rows, predicted, 2)
    whole = proce.evaluate(result, model=world.model(), train=world.train).frame
    again = proce.evaluate(result, neighbourhood=once).frame
    for name in ("nearest_target_row", "local_outlier_factor"):
        one, other = (frame[frame["metric"] == name]["value"] for frame in (whole, again))
        assert one.tolist() == pytest.approx(other.tolist(), nan_ok=True)


def test_measures_of_features_that_are_not_there_are_left_out(world):
    schema = Schema([Continuous("study")])
    numbers = replace(world, codec=Codec.fit(schema, world.train[["study"]]))
    levels = replace(
        world,
        codec=Codec.fit(Schema([Categorical("city", ("a", "b", "c"))]), world.train[["city"]]),
    )
    half, first = np.array([0.5]), np.array([0.0])
    one = numbers.explained({"study": ("action", 9)}, own=half)
    other = levels.explained({"city": ("action", "b")}, own=first)
    left_out = proce.evaluate(numbers.result(one), train=world.train[["study"]]).left_out
    assert left_out["categorical_proximity"] == "a schema with levels"
    assert "mad_l1" not in left_out
    left_out = proce.evaluate(levels.result(other), train=world.train[["city"]]).left_out
    assert left_out["continuous_proximity"] == "a schema with numbers"
    assert "mad_l1" in left_out


def test_the_decision_threshold_of_the_call_is_used(world):
    def unsure(frame):
        return [[0.6, 0.4]] * len(frame)

    for threshold, reached in ((None, 0), (0.3, 2 / 3)):
        evaluation = proce.evaluate(world.four_people(), model=unsure, threshold=threshold)
        mean = evaluation.summary().loc["target_class_validity", "mean"]
        assert mean == pytest.approx(reached)


def test_what_is_measured_survives_json(world):
    result = world.four_people()
    again = proce.Explanations.from_json(result.to_json())
    one, other = (everything(world, each).frame for each in (result, again))
    pd.testing.assert_frame_equal(one, other)


def test_other_models_are_asked_about_the_frame_that_people_get():
    """They split at a value as it came in, which an entry of a row gives back a bit too low."""
    draw = np.random.default_rng(0)
    train = pd.DataFrame({"kept": np.exp(20 * draw.random(400)), "moved": draw.random(400)})
    train["moved"] = train["moved"].round(2)
    schema = Schema([Continuous("kept", action="fixed"), Continuous("moved")])
    codec = Codec.fit(schema, train)
    again = codec.to_raw(codec.encode(train))[:, 0]
    value = train["kept"][np.flatnonzero(again < train["kept"])[0]]

    def by_moved(frame):
        return two_classes(frame["moved"] > 0.5)

    def at_the_value(frame):
        return two_classes((frame["kept"] >= value) & (frame["moved"] > 0.5))

    explained = Nearest(by_moved, schema=schema, respect_schema=True).fit(train)
    result = explained.explain(pd.DataFrame({"kept": [value], "moved": [0.1]}), target=1, n=1)
    assert result.counterfactuals()["kept"].tolist() == [value]
    frame = proce.evaluate(result, refits=[at_the_value, by_moved]).frame
    assert frame.loc[frame["metric"] == "robustness", "value"].tolist() == [1]
    frame = proce.evaluate(result, model=at_the_value).frame
    assert frame.loc[frame["metric"] == "target_class_validity", "value"].tolist() == [1]
    one = np.ones(1, dtype=np.int64)  # the function of the same name is given the entry
    asked, rows = as_classifier(at_the_value, codec), codec.encode(result.counterfactuals())
    assert target_class_validity(asked, rows, one == 1, one) == 0
