"""Which candidates obey every limit, cell by cell and by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from proce.explanation import Change, done_by_hand, has_moved
from proce.objective import CallLimits
from proce.objective.terms import Bounds, find_beyond, obey_limits, write_obeying
from proce.schema import Codec, Continuous, Schema

NONE, ACTION, HOLD, FOLLOWS = Change.NONE, Change.ACTION, Change.HOLD, Change.CONSEQUENCE
# Where it may end at all, as a consequence, and by an action.
BOUNDS = (0.0, 1.0), (-1.0, 2.0), (0.2, 0.8)


def allowed(
    value: float,
    change: Change,
    before: float = 0.3,
    *,
    movable: bool = True,
    is_number: bool = True,
    avoided: tuple[bool, ...] = (False, False, False),
    max_changes: float = math.inf,
) -> bool:
    """Return whether a row of one cell obeys its limits."""
    changes = np.array([[[change]]], np.int8)
    answer = np.empty((1, 1), np.bool_)
    bounds = Bounds(
        np.array([[movable]]),
        np.array([before, *(end for pair in BOUNDS for end in pair)]).reshape(1, 7, 1),
        np.ones(1),
        np.array([is_number]),
        np.array([avoided]),
        max_changes,
    )
    flags, beyond = (has_moved(changes), done_by_hand(changes)), np.empty((1, 1, 1))
    write_obeying(np.array([[[value]]]), *flags, bounds, beyond, answer)
    return bool(answer[0, 0])


@pytest.mark.parametrize(
    ("value", "change", "expected"),
    [
        (0.5, ACTION, True),
        (0.2, ACTION, True),
        (0.8, ACTION, True),
        (0.9, ACTION, False),
        (0.1, ACTION, False),
        (0.9, FOLLOWS, True),
        (0.1, FOLLOWS, True),
        (2.0, FOLLOWS, True),
        (2.1, FOLLOWS, False),
        (-1.1, FOLLOWS, False),
        (0.3, HOLD, True),
        (0.3, NONE, True),
        (0.5, NONE, False),  # it moves and nobody says so
        (0.3, ACTION, False),  # somebody says so and it does not move
        (math.nan, NONE, True),
        (math.nan, ACTION, False),
    ],
)
def test_a_number_ends_within_the_limits_of_what_became_of_it(
    value: float, change: Change, expected: bool
) -> None:
    assert allowed(value, change) is expected


def test_each_cell_may_be_off_by_rounding_however_many_are() -> None:
    codec = Codec.fit(
        Schema([Continuous("a"), Continuous("b")]), pd.DataFrame({n: [0.0, 1.0] for n in "ab"})
    )
    limits, acts = CallLimits.read(codec), np.ones((1, 1, 2), np.bool_)
    factual, rows = np.full((1, 2), 0.5), np.full((1, 1, 2), 1 + 7e-7)
    own = limits.of_rows(codec, factual)
    assert not find_beyond(own, codec, factual, rows, acts).any()
    assert obey_limits(own, codec, factual, rows, acts, acts).all()
    rows[..., 0] = 1 + 2e-6
    assert find_beyond(own, codec, factual, rows, acts)[0, 0].tolist() == [True, False]
    assert not obey_limits(own, codec, factual, rows, acts, acts).any()


def test_a_value_outside_of_the_permitted_range_may_be_held_there() -> None:
    assert allowed(1.0, HOLD, before=1.0)
    assert allowed(0.0, HOLD, before=0.0)
    assert not allowed(1.1, HOLD, before=1.1)  # the range of the call binds it


def test_no_action_leads_out_of_the_permitted_range_to_the_end_of_that_of_the_call() -> None:
    """Permitted is 0.2 to 0.8, and the call says 0 to 1: who is at -1 must not stop at 0."""
    assert not allowed(0.0, ACTION, before=-1.0)
    assert not allowed(1.0, ACTION, before=0.3)
    assert allowed(0.2, ACTION, before=-1.0)


def test_what_may_not_be_acted_on_may_follow() -> None:
    assert not allowed(0.5, ACTION, movable=False)
    assert not allowed(0.3, HOLD, movable=False)
    assert allowed(0.5, FOLLOWS, movable=False)


def test_actions_and_holds_count_as_changes() -> None:
    assert allowed(0.5, ACTION, max_changes=1)
    assert not allowed(0.5, ACTION, max_changes=0)
    assert not allowed(0.3, HOLD, max_changes=0)
    assert allowed(0.5, FOLLOWS, max_changes=0)


def test_no_action_leads_to_an_avoided_level() -> None:
    first_avoided = (True, False, False)
    assert not allowed(0.0, ACTION, 1.0, is_number=False, avoided=(True, False, False))
    assert allowed(0.0, FOLLOWS, 1.0, is_number=False, avoided=first_avoided)
    assert allowed(-1.0, NONE, 1.0, is_number=False, avoided=first_avoided)


def test_what_is_no_level_is_no_avoided_one() -> None:
    assert not allowed(0.0, ACTION, 1.0, is_number=False, avoided=(True, False, True))
    assert allowed(0.5, ACTION, 1.0, is_number=False, avoided=(True, False, True))
