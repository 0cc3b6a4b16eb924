"""What is missing, as kernels and NumPy read it."""

import math

import numpy as np

from proce.arrays import missing_cells
from proce.compiled.cells import cell_gap, entered, is_level, is_missing, known_or_first

from .parts import whole


def test_a_number_is_missing_where_it_is_none_and_a_level_where_its_code_is_below_0() -> None:
    cells = np.array([[-1.0, -1.0], [math.nan, math.nan], [-0.0, -0.0], [math.inf, -math.inf]])
    is_number = np.array([True, False])
    expected = [[False, True], [True, False], [False, False], [False, True]]
    assert missing_cells(cells, is_number).tolist() == expected
    of_one = whole(is_missing)
    one_by_one = [[of_one(*cell) for cell in zip(row, is_number, strict=True)] for row in cells]
    assert one_by_one == expected


def test_a_missing_entry_counts_as_0_or_as_the_first_level() -> None:
    cells = [(math.nan, True), (-1.0, True), (-1.0, False), (2.0, False)]
    assert [whole(known_or_first)(*cell) for cell in cells] == [0.0, -1.0, 0.0, 2.0]


def test_only_whole_numbers_below_the_number_of_levels_are_levels() -> None:
    cells = [-1.0, -0.0, 0.5, 2.0, 3.0, math.nan, math.inf]
    assert [whole(is_level)(cell, 3) for cell in cells] == [False, True, False, True, *[False] * 3]


def test_a_number_enters_cut_to_its_range_before_it_is_divided() -> None:
    given = [whole(entered)(cell, 2.0, 1.0, -1.0, 3.0, 4.0) for cell in (-9.0, 0.0, 9.0)]
    assert given == [-0.25, 0.25, 0.75]


def test_levels_are_1_apart_and_ranks_and_numbers_as_far_as_their_share_of_the_range() -> None:
    given = [whole(cell_gap)(3.0, other, 4.0, level) for other in (3.0, 1.0) for level in (0, 1)]
    assert given == [0.0, 0.0, 0.5, 1.0]
