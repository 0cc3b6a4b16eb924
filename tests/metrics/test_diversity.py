"""How much choice the counterfactuals of one row offer."""

import pytest

from proce.metrics.inputs import CounterfactualColumns
from proce.metrics.proximity import features_touched, pairwise_distance


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
