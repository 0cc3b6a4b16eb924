"""Rows that have no answer: the model broke on them, or the call ended before them."""

from dataclasses import replace
from typing import Any

import pandas as pd
import polars as pl
import pytest

from proce.explanation import Explanations, Outcome, unanswered

from ..samples import context, everything, people

REASON = "The model failed on this row: ValueError: no such job."


def failed(like: Explanations | None = None, frame: Any = None) -> Explanations:
    """Return explanations of all applicants on whom the model broke."""
    like = everything()[:0] if like is None else like
    return unanswered(like, people() if frame is None else frame, Outcome.FAILED, REASON)


def with_target(result: Explanations, target: Any) -> Explanations:
    """Return the result of a call that names a target."""
    options = {**result.provenance.options, "target": target}
    return replace(result, provenance=replace(result.provenance, options=options))


def test_nothing_is_known_of_the_rows_but_why() -> None:
    outcomes = failed().outcomes()
    assert outcomes["outcome"].tolist() == ["failed"] * 5
    assert outcomes[["predicted", "target", "probability"]].isna().all(axis=None)
    assert outcomes["reason"].tolist() == [REASON] * 5
    assert outcomes["n_counterfactuals"].tolist() == [0] * 5
    assert list(outcomes.index) == list(people().index)


def test_a_target_that_the_call_names_is_known() -> None:
    outcomes = failed(with_target(everything()[:0], "approved")).outcomes()
    assert outcomes["target"].tolist() == ["approved"] * 5
    assert outcomes["predicted"].isna().all()


@pytest.mark.parametrize("classes", [(0, 1), (False, True), (0.5, 1.5), ("no", "yes")], ids=str)
def test_classes_of_any_type_may_be_unknown(classes: tuple[Any, Any]) -> None:
    whole = everything(shared=context(classes=classes))
    joined = Explanations.join([failed(whole[:0], people()[:2]), whole[2:]])
    predicted = joined.outcomes()["predicted"]
    assert predicted.isna().tolist() == [True, True, False, False, False]
    assert predicted.dropna().tolist() == [classes[0]] * 3


def test_frames_of_other_libraries_have_nulls() -> None:
    outcomes = failed(frame=pl.from_pandas(people())).outcomes()
    columns = ("predicted", "target", "probability")
    assert [outcomes[name].null_count() for name in columns] == [5, 5, 5]


def test_they_go_together_with_the_rows_that_were_explained() -> None:
    whole = everything()
    like = whole[:0]
    rest = unanswered(like, people()[3:], Outcome.OUT_OF_TIME, "The run was stopped before.")
    joined = Explanations.join(
        [whole[:2], failed(like, people()[2:3]).counted_from(2), rest.counted_from(3)]
    )
    endings = ["found", "already_target", "failed", "out_of_time", "out_of_time"]
    assert joined.outcomes()["outcome"].tolist() == endings
    pd.testing.assert_frame_equal(joined.to_frame(), whole[:2].to_frame())


def test_json_gives_them_back() -> None:
    text = failed().to_json()
    read = Explanations.from_json(text)
    assert read.to_json() == text
    pd.testing.assert_frame_equal(read.outcomes(), failed().outcomes())


def test_no_rows_give_nothing() -> None:
    assert len(failed(frame=people()[:0])) == 0
