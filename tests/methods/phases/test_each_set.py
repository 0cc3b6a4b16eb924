"""The best candidates, each set of actions once, by hand."""

import math

import numpy as np
import pytest

from proce.methods.phases.candidates import CandidateBatch
from proce.methods.phases.scan import first_of_each_set

SETS = np.array([[1, 0], [1, 0], [0, 1], [1, 1]], np.bool_)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ([0.1, 0.2, 0.3, 0.4], [0, 2, 3]),  # the second does what the first does
        ([0.2, 0.1, 0.3, 0.4], [1, 2, 3]),
        ([0.4, 0.3, 0.2, 0.1], [3, 2, 1]),
        ([0.1, 0.1, 0.1, 0.1], [0, 2, 3]),  # of equal ones the earlier
        ([0.3, math.inf, 0.2, math.inf], [2, 0, 2]),  # two sets are left, then the first again
        ([math.inf, math.inf, 0.5, 0.2], [3, 2, 3]),
    ],
)
def test_the_lowest_keys_are_taken_and_no_set_of_actions_twice(
    keys: list[float], expected: list[int]
) -> None:
    none = np.zeros((1, 4))
    tried = CandidateBatch(none, SETS[None], none, none, none, none)
    assert first_of_each_set(tried, np.array([keys]), 3)[0].tolist() == expected
