"""What a method collects one by one is shown as it is in the end: different rows."""

import numpy as np

from proce.methods.published.collector import CounterfactualCollector


def test_a_row_that_differs_from_a_collected_one_by_rounding_is_not_collected() -> None:
    collector = CounterfactualCollector(np.zeros((1, 2, 2)), np.zeros((1, 2), np.bool_))
    for number in (0.5, 0.5 + 1e-12, 0.5 + 1e-8):
        collector.add(np.array([0]), np.array([[number, np.nan]]))
    assert collector.filled.tolist() == [[True, True]]
    assert collector.rows[0, :, 0].tolist() == [0.5, 0.5 + 1e-8]
