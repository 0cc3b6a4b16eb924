"""Frames with more columns than features, and frames without rows."""

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from proce import Explanations, ProCE

from ...worlds import SCHEMA, TINY, WatchedBank, one, people


def test_columns_that_are_no_features_reach_neither_the_model_nor_the_result() -> None:
    model = WatchedBank()
    frame = people().assign(customer="x", joined=pd.Timestamp("2020-01-01"))
    explainer = ProCE(model, schema=SCHEMA, settings=TINY).fit(frame)
    rows = one().assign(customer="A7")[["customer", "home", "school", "debt", "savings", "age"]]
    rows.index = ["ann"]
    result = explainer.explain(rows, n=2)
    assert result[0].outcome == "found"
    assert {tuple(sorted(asked.columns)) for asked in model.frames} == {tuple(sorted(SCHEMA.names))}
    assert list(result.to_frame().columns) == ["row", "rank", *rows.columns[1:]]
    plain = explainer.explain(rows.drop(columns="customer"), n=2)
    pd.testing.assert_frame_equal(result.to_frame(), plain.to_frame())
    for table in (result.to_frame(), result.changes(), result.outcomes(), result.best()):
        assert set(table.index) == {"ann"}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_no_rows_give_an_empty_result(banker: ProCE, library: str, tmp_path: Path) -> None:
    empty: Any = one().head(0)
    if library != "pandas":
        empty = pl.from_pandas(one()).head(0)
        empty = empty if library == "polars" else empty.to_arrow()
    result = banker.explain(empty, target=1)
    assert len(result) == 0
    for table in (
        *(result.to_frame(), result.counterfactuals(), result.best(), result.outcomes()),
        *(result.changes(), result.summary()),
    ):
        assert type(table) is type(empty)
        assert table.shape[0] == 0
    assert len(result.reasons()) == 0
    text = result.to_json()
    assert Explanations.from_json(text).to_json() == text
    assert "0 rows" in result.save_html(tmp_path / "empty.html").read_text("utf-8")
    assert result._repr_html_()


def test_no_rows_of_no_library_give_an_empty_result(banker: ProCE) -> None:
    """A frame that was made without rows has lost the dtypes of its columns."""
    result = banker.explain(pd.DataFrame(columns=list(one().columns)))
    assert len(result.to_frame()) == 0
