"""The model is asked about what is shown, and what cannot be shown does not pass."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from proce.classifier import as_classifier, predict_shown
from proce.methods.calls.call import LastCheck, as_shown, first_passed, last_check
from proce.objective import Requirement
from proce.schema import Codec, Continuous, Layout, Schema

from ...worlds import two_classes

FRAME = pd.DataFrame({"debt": [0, 10, 20, 100], "rate": [0.1, 0.2, 0.3, 1.1]})
CODEC = Codec.fit(Schema([Continuous("debt", step=1), Continuous("rate")]), FRAME)


def low_debt(frame: pd.DataFrame) -> object:
    return two_classes((frame["debt"] < 15) * 0.8)


def checked(rows: Sequence[Sequence[float]], person: int = 2) -> LastCheck:
    entries = np.array(rows, dtype=np.float64)
    count = len(entries)
    factual = CODEC.encode(FRAME)[[person] * count]
    raw = CODEC.raw_of_frame(FRAME)[[person] * count]
    shown = as_shown(CODEC, entries, factual, raw, Layout.of(FRAME))
    return last_check(
        shown,
        predict_shown(as_classifier(low_debt, CODEC), shown.read),
        np.ones(count, np.bool_),
        factual=factual,
        target=np.ones(count, dtype=np.int64),
        requirement=Requirement(None, margin=0.0),
        rules=(),
    )


def test_the_model_decides_at_the_values_of_the_callers_dtypes() -> None:
    """A debt of 14.6 becomes 15 in a column of whole numbers, which is too much."""
    check = checked([[0.144, 0.2], [0.146, 0.2], [0.15, 0.2]])
    assert check.passed.tolist() == [True, False, False]
    assert check.probabilities.tolist() == [0.8, 0.0, 0.0]
    assert CODEC.to_raw(check.shown.told())[:, 0].tolist() == [14, 15, 15]


def test_a_cell_that_went_beyond_all_bounds_is_no_error_and_does_not_pass() -> None:
    """Equations can lead anywhere, also where whole numbers end."""
    check = checked([[0.1, 0.2], [-1e30, 0.2], [0.1, 1e12], [-2.0, 0.2]])
    assert check.passed.tolist() == [True, False, False, True]


def test_nothing_to_check_asks_nothing() -> None:
    entries = np.zeros((0, 2))
    shown = as_shown(CODEC, entries, entries, entries, Layout.of(FRAME))
    assert len(shown) == 0


def test_what_the_callers_dtypes_cannot_hold_is_told_as_it_is_shown() -> None:
    """A column of whole numbers holds no half hours; a cell that nobody moved stays as it is."""
    frame = pd.DataFrame({"hours": [0, 10, 4], "pay": [0, 8, 3]})
    codec = Codec.fit(Schema([Continuous("hours"), Continuous("pay")]), frame)
    factual = codec.encode(frame)[2:3]
    raw = codec.raw_of_frame(frame)[2:3]
    moved = factual.copy()
    moved[0, 0] = 0.66
    shown = as_shown(codec, moved, factual, raw, Layout.of(frame))
    assert shown.raw.tolist() == [[7.0, 3.0]]
    told = shown.told()
    assert codec.to_raw(told).tolist() == [[7.0, 3.0]]
    assert told[0, 1] == factual[0, 1]
    exact = as_shown(codec, factual, factual, raw, Layout.of(frame))
    assert np.array_equal(exact.told(), factual)


def test_what_fails_behind_those_that_are_shown_is_not_counted() -> None:
    owner = np.array([0, 0, 0, 2, 2, 2, 3])
    passed = np.array([False, True, False, True, False, True, False])
    shown, failed = first_passed(owner, passed, 1)
    assert (shown.tolist(), failed.tolist()) == ([1, 3], [0, 6])
    shown, failed = first_passed(owner, passed, 2)
    assert (shown.tolist(), failed.tolist()) == ([1, 3, 5], [0, 2, 4, 6])
