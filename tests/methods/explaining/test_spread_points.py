"""Points are spread over a side, each asked about once, and narrow down where advice ends."""

import numpy as np

from proce.methods.phases.annotate import MAX_COUNT, SpreadPoints


def spread(ends: list[int], n_points: int, starts: list[int] | None = None) -> SpreadPoints:
    end = np.array(ends)
    start = np.zeros_like(end) if starts is None else np.array(starts)
    return SpreadPoints.spread(end > start, start, end, n_points)


def test_points_are_spread_evenly_and_the_last_is_the_end() -> None:
    points = spread([100, 0, 10], 4, starts=[0, 0, 2])
    assert points.side.tolist() == [0, 2]
    assert points.points.tolist() == [[25, 50, 75, 100], [4, 6, 8, 10]]


def test_on_a_short_side_every_point_is_asked_about_once() -> None:
    side, point = spread([2], 8).asked
    assert side.tolist() == [0, 0]
    assert point.tolist() == [1, 2]


def test_the_first_point_that_fails_ends_what_holds() -> None:
    """Of 10, 20, 30 and 40 the second fails; that 30 holds again says nothing."""
    points = spread([40], 4)
    holds = np.array([True, False, True, True])
    last, failed = points.learned(holds, np.array([0]), np.array([41]))
    assert last.tolist() == [10]
    assert failed.tolist() == [20]


def test_a_failure_below_what_was_thought_to_hold_takes_it_back() -> None:
    points = spread([20], 4)
    holds = np.array([True, False, True, True])
    last, failed = points.learned(holds, np.array([20]), np.array([25]))
    assert last.tolist() == [5]
    assert failed.tolist() == [10]


def test_sides_that_are_not_tried_stay_as_they_were() -> None:
    points = spread([0, 8], 2)
    last, failed = points.learned(np.array([True, True]), np.array([3, 0]), np.array([7, 9]))
    assert last.tolist() == [3, 8]
    assert failed.tolist() == [7, 9]


def test_nothing_to_try_teaches_nothing() -> None:
    points = spread([0], 4)
    nothing = np.zeros(0, dtype=bool)
    last, failed = points.learned(nothing, np.array([0]), np.array([MAX_COUNT]))
    assert (last.tolist(), failed.tolist()) == ([0], [MAX_COUNT])


def test_the_rest_of_a_side_is_what_was_not_asked_below_the_first_failure() -> None:
    """Of 1 to 9 the points 3, 6 and 9 were asked about, and 6 fails."""
    points = spread([9, 9], 3)
    failed = np.array([6, 10])
    rest = points.rest(np.array([True, False]), failed)
    side, point = rest.asked
    assert side.tolist() == [0, 0, 0, 0]
    assert point.tolist() == [1, 2, 4, 5]
    holds = np.array([True, True, True, False])
    last, first_failed = rest.learned(holds, np.array([3, 0]), failed)
    assert last.tolist() == [4, 0]
    assert first_failed.tolist() == [5, 10]


def test_a_side_that_was_tried_at_every_point_has_no_rest() -> None:
    points = spread([4], 8)
    side, _ = points.rest(np.array([True]), np.array([5])).asked
    assert not len(side)
