"""Rows that have no answer: the model broke on them, or the call ended before them."""

import json
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from proce import ReceiptError, SchemaError, evaluate
from proce.explanation import Explanations, Outcome, unanswered
from proce.schema import Codec

from ..samples import SCHEMA, context, everything, people

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


def test_the_sentence_is_the_reason_and_promises_nothing() -> None:
    assert failed()[0].sentences() == [REASON]
    assert str(failed()[0]) == REASON


def test_without_a_reason_the_outcome_is_told() -> None:
    bare = replace(failed(), rows=replace(failed().rows, diagnoses={}))
    assert str(bare[0]) == "The model failed on this row, so that nothing is known of it."
    late = unanswered(everything()[:0], people(), Outcome.OUT_OF_TIME, "")
    late = replace(late, rows=replace(late.rows, diagnoses={}))
    assert str(late[0]) == "The time ran out before this row was reached: allow more time."


def test_a_reason_is_one_visible_line_that_begins_with_a_capital() -> None:
    words = "it broke:\n\x1b[31m no.\r\n"
    result = unanswered(everything()[:0], people()[:1], Outcome.FAILED, words)
    assert result.outcomes()["reason"].tolist() == ["It broke: [31m no."]


def test_a_letter_gives_no_reasons() -> None:
    reasons = failed().reasons()
    assert reasons.letter(0).endswith(f"No reasons can be drafted. {REASON}\n")
    assert "The model said" not in reasons.letter(0)
    assert len(reasons.frame()) == 0
    assert json.loads(reasons.to_json())["rows"][0] == {
        "row": 0,
        "outcome": "failed",
        "predicted": None,
        "target": None,
        "reasons": [],
    }


def test_the_page_says_that_the_model_failed(tmp_path: Path) -> None:
    mixed = Explanations.join([failed(frame=people()[:1]), everything()[1:]])
    page = unescape(mixed.save_html(tmp_path / "page.html").read_text("utf-8"))
    assert "Row ann: the model failed" in page
    assert "What the model says of this row is not known." in page
    assert "1 the model failed" in page
    assert "not known" in page
    assert "nan" not in page
    assert REASON in page


def test_the_page_of_a_row_says_what_was_asked_for_where_that_is_known(tmp_path: Path) -> None:
    result = failed(with_target(everything()[:0], "approved"))
    page = unescape(result[0].save_html(tmp_path / "row.html").read_text("utf-8"))
    asked = "Looked for: what would have had to be different for it to say approved"
    assert f"What the model says of this row is not known. {asked}" in page


def test_a_notebook_shows_them() -> None:
    mixed = Explanations.join([failed(frame=people()[:1]), everything()[1:]])
    shown = unescape(mixed._repr_html_())
    assert "1 the model failed" in shown
    assert REASON in shown
    assert REASON in unescape(mixed[0]._repr_html_())


def test_pictures_say_why_there_is_nothing_to_draw() -> None:
    single = failed(frame=people()[:1])
    for draw in (single.plot_changes, single.plot_front):
        texts = " ".join(text.get_text() for text in draw().texts)
        assert " ".join(texts.split()) == REASON


def test_they_count_where_rows_are_counted() -> None:
    mixed = Explanations.join([failed(frame=people()[:3]), everything()[3:]])
    groups = mixed.summary(by=["a", "a", "b", "b", "b"])
    assert groups[["group", "rows", "found"]].to_numpy().tolist() == [["a", 2, 0], ["b", 3, 1]]
    assert mixed.summary()["rows"].tolist() == [1]
    assert repr(mixed) == "Explanations(5 rows: 3 failed, 1 out_of_time, 1 found)"


def test_evaluating_counts_them_as_not_found() -> None:
    mixed = Explanations.join([failed(frame=people()[:3]), everything()[3:]])
    summary = evaluate(mixed).summary()
    assert summary.loc["sparsity", "n"] == 1
    assert summary.loc["sparsity", "without"] == 0.8


def test_there_is_no_receipt_of_them() -> None:
    with pytest.raises(ReceiptError, match=r"row 0 has no answer .* its outcome is 'failed'"):
        failed().receipt(0)


def test_an_applicant_is_not_told_the_words_of_the_model() -> None:
    schema = SCHEMA.edit("sex", protected=True)
    like = everything(shared=context(codec=Codec.fit(schema, people())))[:0]
    result = unanswered(like, people(), Outcome.FAILED, "The model failed: KeyError: 'female'.")
    plain = "The model failed on this row, so that nothing is known of it."
    assert str(result[0]) == plain
    assert "female" not in result.to_json()
    assert "female" in str(result.seen_by("auditor")[0])


@pytest.mark.parametrize("field", ["predicted", "target", "probability"])
def test_only_rows_without_an_answer_may_lack_one_in_json(field: str) -> None:
    record = json.loads(everything().to_json())
    record["explanations"][0][field] = None
    with pytest.raises(SchemaError, match=rf"explanations\[0\].{field} .* has no answer"):
        Explanations.from_json(json.dumps(record))
