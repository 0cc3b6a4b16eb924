"""The table in a notebook: changes marked, everything escaped, nothing that runs."""

import numpy as np
import pandas as pd

from proce.explanation import Explanation, Explanations
from proce.schema import Codec, Layout, Schema

from ...explained import explained_row
from .. import samples
from ..samples import CHANGE_JOB, RAISE_SAVINGS, everything, explanation, explanations, people
from .parsed import Page


def page_of(result: Explanations | Explanation) -> Page:
    return Page(result._repr_html_())


def test_changes_are_marked_by_weight_and_sign() -> None:
    html = everything()._repr_html_()
    assert "<b>2,000 → 3,500</b>" in html
    assert "<b>= 25,500</b>" in html
    assert "<i>640 ⇢ 655</i>" in html


def test_every_row_has_a_line() -> None:
    page = page_of(everything())
    assert "5 rows: 2 found, 1 not found, 1 already there, 1 out of time." in page.text
    assert "The model already says approved (70%): nothing needs to change." in page.text
    assert samples.diagnosis().reason in page.text
    assert "ann" in page.text
    assert "rejected → approved" in page.text


def test_only_marks_that_are_there_are_explained() -> None:
    page = page_of(explanations(explanation(CHANGE_JOB)))
    assert "2 → 3 to do" in page.text
    assert "= 2 to keep" not in page.text
    assert "2 ⇢ 3 expected to follow" not in page.text
    assert "= 2 to keep" in page_of(explanations(explanation(RAISE_SAVINGS))).text


def test_of_one_row_each_thing_is_said_once() -> None:
    lost = explanations(explanation(row=2, diagnosis=samples.diagnosis()))
    assert page_of(lost).text.count(samples.diagnosis().reason) == 1
    several = page_of(explanations(explanation(RAISE_SAVINGS, CHANGE_JOB)))
    assert "1 alternative" in several.text
    assert "other way" not in several.text


def test_alternatives_are_folded_away() -> None:
    html = explanations(explanation(RAISE_SAVINGS, CHANGE_JOB))._repr_html_()
    answer, folded = html.split("<details>")
    assert "<b>service → office</b>" not in answer
    assert "<b>service → office</b>" in folded
    assert "1 alternative</summary>" in folded


def test_one_row_has_all_its_sentences() -> None:
    result = explanations(explanation(RAISE_SAVINGS))
    for page in (page_of(result), page_of(result[0])):
        for sentence in result[0].sentences():
            assert sentence in page.text


def test_control_characters_and_line_breaks_are_left_out() -> None:
    item = explanation(CHANGE_JOB, notes=("one\x00\x1b\ntwo",))
    assert "one two" in page_of(item).text


def test_many_rows_are_cut_and_counted() -> None:
    frame = people().iloc[list(range(5)) * 5].reset_index(drop=True)
    items = [explanation(CHANGE_JOB, row=row, frame=frame) for row in range(25)]
    page = page_of(explanations(*items, frame=frame))
    assert len(page.named("tr")) == 21
    assert "5 more rows not shown here: to_frame() and outcomes() have all of them." in page.text


def test_of_many_features_only_those_that_change_are_shown() -> None:
    frame = pd.DataFrame({f"c{n}": [0.0, 1.0] for n in range(30)})
    codec = Codec.fit(Schema.infer(frame), frame)
    factual = codec.encode(frame)[0]
    rows, changes = factual.copy(), np.zeros(30, dtype=np.int8)
    rows[7], changes[7] = 0.5, 1
    shared = samples.context(codec=codec, edges=())
    item = explained_row(
        shared,
        factual,
        codec.raw_of_frame(frame)[0],
        rows[None],
        changes[None],
        np.array([0.7], dtype=np.float64),
        np.array([[0.3, 0.1, 0.2]], dtype=np.float64),
    )
    page = page_of(Explanations(item.alone(), Layout.of(frame), samples.provenance()))
    assert "c7" in page.text
    assert "c8" not in page.text
    assert "29 features without changes here left out." in page.text


def test_features_that_change_come_first() -> None:
    text = page_of(explanations(explanation({"amount": ("action", 1_000)}))).text
    assert text.index("amount", text.index("the model says")) < text.index("education")


def test_nothing_explained_is_not_an_error() -> None:
    assert page_of(explanations()).text == "0 rows: none."
    assert "found" in page_of(explanations(explanation())).text
