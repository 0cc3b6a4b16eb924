"""Equal rows, of which the first counts: by small examples and by a loop."""

import math
import struct

import numpy as np
import pytest

from proce.compiled.copies import distinct, first_of_each, firsts_of, groups_of, members_of

NAN = math.nan


def test_rows_that_miss_the_same_cells_are_one() -> None:
    rows = np.array([[2.0, NAN], [1.0, 3.0], [2.0, NAN], [2.0, 3.0], [1.0, 3.0], [NAN, 3.0]])
    assert distinct(rows).tolist() == [0, 1, 3, 5]


def test_no_number_stands_for_a_missing_one() -> None:
    assert distinct(np.array([[NAN], [-9.0], [0.0], [-0.0], [NAN]])).tolist() == [0, 1, 2]


def test_a_number_is_missing_whatever_bits_say_so_and_infinity_is_none() -> None:
    other = struct.unpack("d", struct.pack("Q", 0xFFF8000000000001))[0]
    rows = np.array([[NAN], [other], [-NAN], [math.inf], [-math.inf], [math.inf]])
    assert distinct(rows).tolist() == [0, 3, 4]


def test_of_no_rows_none_is_distinct() -> None:
    assert distinct(np.empty((0, 3))).tolist() == []


def test_rows_that_are_equal_are_one_group() -> None:
    rows = np.array([[2.0, NAN], [1.0, -0.0], [2.0, NAN], [-9.0, 3.0], [1.0, 0.0], [NAN, NAN]])
    firsts, group = groups_of(rows)
    assert firsts.tolist() == [0, 1, 3, 5]
    assert group.tolist() == [0, 1, 0, 2, 1, 3]
    assert [members.tolist() for members in members_of(group)] == [[0, 2], [1, 4], [3], [5]]


def test_each_row_is_told_which_of_its_group_it_equals_first() -> None:
    rows = np.array([[[1.0], [2.0], [1.0]], [[2.0], [NAN], [NAN]]])
    assert firsts_of(rows).tolist() == [[0, 1, 0], [0, 1, 1]]


def test_what_does_not_count_hides_nothing() -> None:
    rows = np.array([[[1.0], [1.0], [1.0], [2.0]], [[1.0], [2.0], [1.0], [2.0]]])
    counts = np.array([[False, True, True, True], [True, False, True, True]])
    expected = [[False, True, False, True], [True, False, False, True]]
    assert first_of_each(rows, counts).tolist() == expected
    assert counts[0].tolist() == [False, True, True, True]  # what is given is not written to


@pytest.mark.parametrize("n", [1, 7, 300])
def test_the_first_of_each_is_that_of_a_loop(n: int) -> None:
    draw = np.random.default_rng(n)
    rows = draw.choice([0.0, -0.0, 0.5, NAN], (3, n, 3))
    counts = draw.random((3, n)) < 0.7
    flags = first_of_each(rows, counts)
    for group in range(3):
        seen: list[list[str]] = []
        for c in range(n):
            own = [str(value + 0.0) for value in rows[group, c].tolist()]
            assert flags[group, c] == (counts[group, c] and own not in seen)
            seen += [own] if counts[group, c] else []
