"""How near counterfactuals are (Eqs. 21 and 22)."""

import math

import numpy as np
import pandas as pd
import pytest

from proce.metrics import categorical_proximity, continuous_proximity
from proce.metrics.inputs import CounterfactualColumns
from proce.metrics.proximity import features_touched, mad_l1, pairwise_distance
from proce.schema import Categorical, Codec, Continuous, Ordinal, Schema

FEATURES = [
    Continuous("age"),
    Categorical("job", ("a", "b", "c")),
    Ordinal("school", ("low", "middle", "high")),
    Continuous("income"),
    Categorical("city", ("n", "s")),
]
FRAME = pd.DataFrame(
    {
        "age": [20.0, 70.0],
        "job": ["a", "b"],
        "school": ["low", "high"],
        "income": [0.0, 1000.0],
        "city": ["n", "s"],
    }
)
AGES_AND_INCOMES = [(0.0, 0.5), (0.2, 0.5), (0.4, 0.5), (0.6, 0.25), (1.0, 0.75)]


def codec_of(*kinds) -> Codec:
    features = [feature for feature in FEATURES if isinstance(feature, kinds)]
    return Codec.fit(Schema(features), FRAME[[feature.name for feature in features]])


CODEC = codec_of(Continuous, Categorical, Ordinal)


def rows(*people) -> np.ndarray:
    return np.array(people, dtype=np.float64)


def test_levels_that_stayed_are_counted_ordinal_ones_too():
    before = rows((0.1, 0, 1, 0.5, 1), (0.1, 2, 0, 0.5, 0))
    after = rows((0.9, 0, 1, 0.5, 0), (0.1, 1, 2, 0.5, 0))
    assert categorical_proximity(CODEC, before, after) == 1.5  # two of three, one of three


def test_numbers_lose_their_squared_distance_on_the_unit_range():
    before = rows((0.1, 0, 1, 0.5, 1), (0.4, 2, 0, 0.5, 0))
    after = rows((0.4, 0, 1, 0.1, 0), (0.4, 1, 2, 0.5, 0))
    assert continuous_proximity(CODEC, before, after) == pytest.approx(-(0.09 + 0.16) / 2)


def test_an_unchanged_row_is_as_near_as_can_be():
    before = rows((0.1, 0, 1, 0.5, 1))
    assert categorical_proximity(CODEC, before, before) == 3
    assert continuous_proximity(CODEC, before, before) == 0


def test_what_is_missing_on_both_sides_did_not_change():
    before = rows((math.nan, -1, 1, 0.5, 1))
    assert categorical_proximity(CODEC, before, before) == 3
    assert continuous_proximity(CODEC, before, before) == 0


def test_without_such_features_there_is_no_proximity():
    numbers, levels = codec_of(Continuous), codec_of(Categorical)
    assert math.isnan(categorical_proximity(numbers, rows((0.1, 0.2)), rows((0.3, 0.2))))
    assert math.isnan(continuous_proximity(levels, rows((0, 1)), rows((2, 1))))


def test_a_row_without_a_counterfactual_has_no_proximity():
    before = rows((0.1, 0, 1, 0.5, 1), (0.4, 2, 0, 0.5, 0))
    after = rows((0.4, 0, 1, 0.1, 0), (0.4, 1, 2, 0.5, 0))
    first, neither = np.array([True, False]), np.array([False, False])
    assert categorical_proximity(CODEC, before, after, first) == 2
    assert continuous_proximity(CODEC, before, after, first) == pytest.approx(-0.25)
    assert math.isnan(categorical_proximity(CODEC, before, after, neither))
    assert math.isnan(continuous_proximity(CODEC, before, after, neither))


def test_numbers_are_also_measured_in_median_absolute_deviations():
    train = rows(*((age, 0, 0, income, 0) for age, income in AGES_AND_INCOMES))
    before, after = rows((0.5, 0, 1, 0.5, 1)), rows((0.1, 1, 2, 0.6, 1))
    # Age: median 0.4, deviations 0.4, 0.2, 0, 0.2, 0.6. Income: more than half are 0.5, so the
    # mean deviation 0.1 stands in. Levels do not count.
    wanted = 0.4 / 0.2 + 0.1 / 0.1
    assert mad_l1(CODEC, before, after, train).tolist() == pytest.approx([wanted])


def test_without_numbers_there_are_no_deviations():
    levels = codec_of(Categorical)
    assert np.isnan(mad_l1(levels, rows((0, 1)), rows((2, 1)), rows((0, 1), (2, 0)))).all()


def test_both_agree_with_a_loop():
    before, after = np.random.default_rng(0).random((2, 40, 5))
    for level in (1, 2, 4):
        before[:, level] = np.floor(before[:, level] * 2)
        after[:, level] = np.floor(after[:, level] * 2)
    matches = squares = 0.0
    for one, other in zip(before.tolist(), after.tolist(), strict=True):
        matches += sum(one[level] == other[level] for level in (1, 2, 4))
        squares += sum((one[number] - other[number]) ** 2 for number in (0, 3))
    assert categorical_proximity(CODEC, before, after) == pytest.approx(matches / 40)
    assert continuous_proximity(CODEC, before, after) == pytest.approx(-squares / 40)


def measured(world, result) -> tuple[list[float], list[float]]:
    columns = CounterfactualColumns.of(result)
    distance = pairwise_distance(world.codec, columns)
    return distance.tolist(), features_touched(columns).tolist()


def test_choice_is_the_mean_distance_between_two_and_the_features_that_any_changes(world):
    distance, touched = measured(world, world.four_people())
    # Between study 6, skill 7, city a and study 2, skill 8, city b; one way alone is no choice.
    assert distance == pytest.approx([(0.4 + 0.1 + 1) / 4, 0, 0])
    assert touched == [3, 0, 2]


def test_of_three_each_pair_counts_once(world):
    ways = [{"study": ("action", value)} for value in (3, 5, 9)]
    distance, touched = measured(world, world.result(world.explained(*ways)))
    assert distance == pytest.approx([(0.2 + 0.4 + 0.6) / 3 / 4])
    assert touched == [1]


def test_the_same_twice_is_no_choice(world):
    way = {"study": ("action", 6)}
    assert measured(world, world.result(world.explained(way, way))) == ([0], [1])


def test_without_rows_there_is_nothing(world):
    assert measured(world, world.result()) == ([], [])
