"""What is missing, as kernels and NumPy read it."""

import math

import numpy as np

from proce.arrays import missing_cells
from proce.compiled.cells import is_missing

from .parts import whole


def test_a_number_is_missing_where_it_is_none_and_a_level_where_its_code_is_below_0() -> None:
    cells = np.array([[-1.0, -1.0], [math.nan, math.nan], [-0.0, -0.0], [math.inf, -math.inf]])
    is_number = np.array([True, False])
    expected = [[False, True], [True, False], [False, False], [False, True]]
    assert missing_cells(cells, is_number).tolist() == expected
    of_one = whole(is_missing)
    one_by_one = [[of_one(*cell) for cell in zip(row, is_number, strict=True)] for row in cells]
    assert one_by_one == expected
