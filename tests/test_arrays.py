"""What NumPy has no name for, by small examples and by loops."""

import math

import numpy as np
import pytest

from proce.arrays import cells_differ, inwards, lowest_of_each, nth_of_owner, steps_within

NAN = math.nan


@pytest.mark.parametrize(
    ("own", "other", "differs"),
    [(1.0, 1.0, False), (1.0, 2.0, True), (NAN, NAN, False), (NAN, 1.0, True), (-1.0, 0.0, True)],
)
def test_a_missing_cell_is_the_same_as_a_missing_one_and_no_other(
    own: float, other: float, differs: bool
) -> None:
    assert cells_differ(np.array([own]), np.array([other])).tolist() == [differs]
    assert cells_differ(np.array([other]), np.array([own])).tolist() == [differs]


def test_any_difference_but_that_of_the_sign_of_zero_is_one_unless_rounding_is_allowed() -> None:
    rows, others = np.array([0.1, 0.0, NAN]), np.array([0.1 + 1e-12, -0.0, 0.3])
    assert cells_differ(rows, others).tolist() == [True, False, True]
    assert cells_differ(rows, others, 1e-9).tolist() == [False, False, True]


def test_candidates_are_compared_with_the_row_of_their_person() -> None:
    factual = np.array([[0.0, NAN], [1.0, 2.0]])
    candidates = np.array([[[0.0, NAN], [5.0, NAN]], [[1.0, 2.0], [1.0, NAN]]])
    differ = cells_differ(candidates, factual[:, None])
    assert differ.tolist() == [[[False, False], [True, False]], [[False, False], [False, True]]]


def test_each_owner_has_the_first_of_its_lowest_keys() -> None:
    owner, key = np.array([3, 0, 3, 0, 3]), np.array([2.0, 5.0, 1.0, NAN, 1.0])
    assert lowest_of_each(owner, key).tolist() == [1, 2]
    assert lowest_of_each(owner[:0], key[:0]).tolist() == []


def test_an_end_that_is_off_a_grid_by_rounding_lies_on_it() -> None:
    assert steps_within(-0.25, 0.3, 0.0, 0.1) == (-2, 3)
    assert inwards(0.05, 0.3, 0.0, 0.1) == (0.1, pytest.approx(0.3))


def test_lines_are_numbered_by_owner() -> None:
    assert nth_of_owner(np.array([0, 0, 2, 2, 2, 7])).tolist() == [0, 1, 0, 1, 2, 0]
    assert nth_of_owner(np.array([], np.int64)).tolist() == []
