"""The explanations of rows as tables and counts."""

from dataclasses import replace

import numpy as np
import pandas as pd
from pandas.testing import assert_frame_equal

from proce import Explanations, ProCE
from proce.batch.tables import doubts, outcome_table, reasons, table_of
from proce.explanation import Diagnosis

from .. import worlds
from ..explanation import samples
from .conftest import N_ROWS


def test_an_id_by_the_name_of_one_of_our_columns_is_the_id(whole: Explanations) -> None:
    named = whole.labelled(pd.Index(range(N_ROWS), name="row"))
    assert outcome_table(named).column_names[:3] == ["row", "_row", "outcome"]
    assert table_of(named).column_names[:3] == ["row", "_row", "rank"]


def test_frames_of_pandas_are_tables_too(banker: ProCE, whole: Explanations) -> None:
    """An index without a name is not written; one with a name stands in front."""
    frame = worlds.people(N_ROWS, seed=1).set_axis([f"C{n:03}" for n in range(N_ROWS)])
    result = banker.explain(frame, target=1, n=2, vary=["debt"])
    assert outcome_table(result).equals(outcome_table(whole).drop_columns("customer"))
    named = banker.explain(frame.rename_axis("customer"), target=1, n=2, vary=["debt"])
    assert_frame_equal(table_of(named).to_pandas(), table_of(whole).to_pandas())


def test_a_reason_names_the_row_and_its_id(whole: Explanations) -> None:
    (first, *_) = reasons(whole, 3)
    row = outcome_table(whole).to_pandas().query("reason.notna()").iloc[0]
    assert first == f"Row {row['customer']}: {row['reason']}"


def test_neither_outcomes_nor_reasons_tell_an_applicant_what_is_protected() -> None:
    """The auditor's table has the reason; the applicant's says only that nothing was found."""
    codec = replace(samples.CODEC, schema=samples.SCHEMA.edit("sex", protected=True))
    diagnosis = Diagnosis("It would take another sex.", None, 0.4, 0.6)
    shared = samples.context(codec=codec)
    result = samples.explanations(samples.explanation(row=2, diagnosis=diagnosis, shared=shared))
    for view, words in (
        ("applicant", "No change was found."),
        ("auditor", "It would take another sex."),
    ):
        shown = result.seen_by(view)
        assert outcome_table(shown)["reason"].to_pylist() == [words]
        assert reasons(shown, 3) == [f"Row cem: {words}"]


def test_rows_whose_advice_is_in_doubt_are_counted() -> None:
    """The recommended counterfactual counts; a row may be in doubt twice."""
    shared = samples.context(n_refits=20, n_models=20, robust=0.9)
    items = [
        samples.explanation(
            samples.RAISE_SAVINGS,
            row=row,
            shared=shared,
            refits=np.array([20]),
            confidence=np.array([chance]),
            robustness=np.array([count]),
        )
        for row, (chance, count) in enumerate([(0.99, 18), (0.97, 17), (0.99, 17)])
    ]
    result = samples.explanations(*items)
    assert doubts(result) == {"less robust than asked for": 2, "unsure": 1}
    assert doubts(samples.explanations(items[0])) == {}
