"""What a solution says of the candidates of its rows, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from proce.explanation import Change
from proce.losses import Loss
from proce.methods.phases.check import Solution

# Three candidates of the first row, of which two passed; one of the second; none of the third.
OWNER = np.array([0, 0, 0, 1])
PASSED = np.array([False, True, True, True])
ACTIONS = np.array([[1, 1, 1], [1, 0, 0], [1, 1, 0], [2, 3, 1]], dtype=np.int8)


def solution() -> Solution:
    losses = np.zeros((4, len(Loss)))
    losses[:, Loss.DISTANCE] = np.array([0.1, 0.2, 0.3, 0.4])
    gap = np.array([0.0, 0.5, 0.0, 0.25])
    shortlist = SimpleNamespace(owner=OWNER, changes=ACTIONS, losses=losses, robustness_gap=gap)
    return Solution(
        shortlist,  # type: ignore[arg-type]
        SimpleNamespace(passed=PASSED),  # type: ignore[arg-type]
        cut_short=np.zeros(3, np.bool_),
        population=np.arange(3.0)[:, None, None],
    )


def test_the_first_candidate_that_passed_is_recommended() -> None:
    found = solution()
    assert ACTIONS[3, 0] == Change.HOLD
    assert found.is_solved.tolist() == [True, True, False]
    assert found.n_actions.tolist() == [1, 2, 0]
    assert found.distance.tolist() == pytest.approx([0.2, 0.4, np.inf])
    assert found.robustness_gap.tolist() == [0.5, 0.25, np.inf]


def test_as_many_are_shown_as_are_asked_for_and_failures_before_them_are_counted() -> None:
    found = solution()
    assert found.lines_to_show(1).tolist() == [1, 3]
    assert found.lines_to_show(2).tolist() == [1, 2, 3]
    assert found.n_dropped(1).tolist() == [1, 0, 0]
    assert found.n_dropped(3).tolist() == [1, 0, 0]


def test_the_populations_of_some_rows_are_taken() -> None:
    assert solution().take_population(np.array([2, 0])).population.ravel().tolist() == [2, 0]
