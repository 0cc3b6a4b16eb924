"""The lines of some rows, wherever they stand."""

import numpy as np

from proce.explanation.record.counterfactuals import lines_of


def test_the_lines_of_rows_come_in_the_order_of_the_rows() -> None:
    owner = np.array([0, 0, 2, 2, 2, 5])
    lines, index = lines_of(owner, np.array([2, 1, 0, 5]))
    assert lines.tolist() == [2, 3, 4, 0, 1, 5]
    assert index.tolist() == [0, 0, 0, 2, 2, 3]


def test_without_lines_or_rows_there_are_none() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    assert lines_of(nothing, np.array([3]))[0].tolist() == []
    assert lines_of(np.array([1, 1]), nothing)[0].tolist() == []
