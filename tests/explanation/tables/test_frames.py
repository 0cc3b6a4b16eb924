"""Explanations as frames: X's own columns and dtypes, and ours beside them."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pandas.testing import assert_frame_equal

from proce.explanation import Outcome

from .. import samples
from ..samples import CHANGE_JOB, RAISE_SAVINGS, everything, explanation, explanations, people


def test_counterfactuals_look_like_the_frame_that_came_in() -> None:
    frame = everything().counterfactuals()
    assert list(frame.index) == ["ann", "ann", "eve"]
    assert frame.dtypes.equals(people().dtypes)
    assert frame["savings"].tolist() == [3_500, 2_000, 0]
    assert frame["job"].tolist() == ["service", "office", "office"]
    assert frame["credit_score"].tolist() == [655, 640, 450]


def test_to_frame_has_row_and_rank_in_front() -> None:
    frame = everything().to_frame()
    assert list(frame.columns) == ["row", "rank", *people().columns]
    assert frame["row"].tolist() == [0, 0, 4]
    assert frame["rank"].tolist() == [1, 2, 1]
    assert_frame_equal(frame[list(people().columns)], everything().counterfactuals())


def test_best_is_the_first_of_each() -> None:
    best = everything().best()
    assert list(best.index) == ["ann", "eve"]
    assert best["savings"].tolist() == [3_500, 0]


def test_a_slice_keeps_positions_and_labels() -> None:
    frame = everything()[3:].to_frame()
    assert list(frame.index) == ["eve"]
    assert frame["row"].tolist() == [4]


def test_an_unchanged_cell_is_the_number_that_came_in() -> None:
    """0.1 + 0.2 is not 0.3, and stays so."""
    frame = explanations(explanation(CHANGE_JOB, row=1)).counterfactuals()
    assert frame["ratio"].to_numpy().tobytes() == np.float64(0.1 + 0.2).tobytes()


def test_our_columns_give_way_to_those_of_the_frame() -> None:
    renamed = {"savings": "row", "ratio": "_rank"}
    schema = samples.Schema([_renamed(feature, renamed) for feature in samples.SCHEMA])
    frame = people().rename(columns=renamed)
    codec = samples.Codec.fit(schema, frame)
    shared = samples.context(codec=codec, edges=())
    result = explanations(explanation(CHANGE_JOB, shared=shared), frame=frame)
    assert list(result.to_frame().columns[:4]) == ["__row", "__rank", "row", "_rank"]


def test_outcomes_has_a_line_for_every_row() -> None:
    lines = everything().outcomes()
    assert lines["outcome"].tolist() == [
        "found",
        "already_target",
        "not_found",
        "out_of_time",
        "found",
    ]
    first = lines.iloc[0].to_dict()
    assert first == {
        "row": 0,
        "outcome": "found",
        "predicted": "rejected",
        "target": "approved",
        "probability": 0.31,
        "n_counterfactuals": 2,
        "new_probability": 0.62,
        "distance": 0.2,
        "n_actions": 1,
        "n_holds": 1,
        "n_consequences": 1,
        "margin_met": True,
        "confidence": first["confidence"],
        "robustness": first["robustness"],
        "reason": first["reason"],
    }
    assert lines["confidence"].isna().all()  # no equations were fitted again
    assert lines["robustness"].isna().all()  # no other models were asked
    assert pd.isna(first["reason"])
    assert lines["reason"].iloc[2] == samples.diagnosis().reason
    assert lines["n_actions"].isna().tolist() == [False, True, True, True, False]
    assert lines["new_probability"].isna().tolist() == [False, True, True, True, False]
    assert lines["margin_met"].iloc[4] is np.False_ or not lines["margin_met"].iloc[4]


def test_with_learned_graphs_frames_count_those_that_hold() -> None:
    shared = samples.context(n_graphs=50, origin="discovered by PC")
    ways = (samples.RAISE_SAVINGS, samples.CHANGE_JOB)
    result = samples.explanations(
        samples.explanation(*ways, shared=shared, support=[46, 12]),
        samples.explanation(row=1, shared=shared),
    )
    assert result.outcomes()["support"].tolist() == [46, pd.NA]
    assert result.changes()["support"].tolist() == [46, 46, 46, 12]
    assert result.changes().columns[-2:].tolist() == ["confidence", "support"]
    assert "support" not in everything().outcomes()
    assert "support" not in everything().changes()


def test_changes_has_a_line_for_every_change() -> None:
    lines = everything().changes()
    measured = ["holds_from", "holds_to", "confidence"]
    assert lines.columns[-3:].tolist() == measured
    assert lines.drop(columns=measured).to_numpy().tolist() == [
        [0, 1, "savings", 2_000, 3_500, "action"],
        [0, 1, "amount", 25_500, 25_500, "hold"],
        [0, 1, "credit_score", 640, 655, "consequence"],
        [0, 2, "job", "service", "office", "action"],
        [4, 1, "ratio", 0.5, 0.25, "action"],
    ]
    assert lines["before"].dtype == object
    assert type(lines["before"].iloc[0]) is int
    assert type(lines["before"].iloc[4]) is float
    assert lines[measured].isna().all().all()  # nothing was tried here


def test_outcomes_and_changes_say_how_sure_advice_is() -> None:
    ways = (samples.RAISE_SAVINGS, CHANGE_JOB)
    result = explanations(explanation(*ways, confidence=[0.99, 0.75]))
    assert result.outcomes()["confidence"].tolist() == [0.99]
    assert result.changes().groupby("rank")["confidence"].unique().tolist() == [[0.99], [0.75]]


def test_changes_say_on_which_interval_an_action_holds() -> None:
    held = samples.holds(savings=(3_400, 9_000, "none"))
    lines = samples.explanations(explanation(samples.RAISE_SAVINGS, intervals=held)).changes()
    assert lines["holds_from"].dtype == lines["holds_to"].dtype == "float64"
    assert lines[["holds_from", "holds_to"]].iloc[0].tolist() == [3_400, 9_000]
    assert lines[["holds_from", "holds_to"]].iloc[1:].isna().all().all()


@pytest.mark.parametrize("items", [(), (explanation(outcome=Outcome.OUT_OF_TIME),)])
def test_without_any_counterfactual_columns_and_dtypes_are_the_same(items: Any) -> None:
    full, empty = everything(), explanations(*items)
    for name in ("counterfactuals", "to_frame", "outcomes", "changes", "summary", "best"):
        expected, found = getattr(full, name)(), getattr(empty, name)()
        assert len(found) == (len(items) if name == "outcomes" else 0)
        assert list(found.columns) == list(expected.columns), name
        assert found.dtypes.equals(expected.dtypes), name


def test_whole_frames_of_other_dtypes_come_back() -> None:
    frame = people().astype(
        {"savings": "Int32", "ratio": "float32", "education": "string", "sex": "category"}
    )
    back = explanations(explanation(RAISE_SAVINGS, frame=frame), frame=frame).counterfactuals()
    assert back.dtypes.equals(frame.dtypes)
    assert_frame_equal(back[["ratio", "sex"]], frame.loc[["ann"], ["ratio", "sex"]])


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_the_library_that_came_in_comes_out(library: str) -> None:
    pandas = people().reset_index(drop=True)
    frame: Any = pl.from_pandas(pandas) if library == "polars" else pa.Table.from_pandas(pandas)
    result = everything(frame=frame)
    for name in ("counterfactuals", "to_frame", "outcomes", "changes", "summary"):
        assert type(getattr(result, name)()) is type(frame), name
        assert type(getattr(explanations(frame=frame), name)()) is type(frame), name
    table = result.to_frame().to_pandas()
    assert table["row"].tolist() == [0, 0, 4]
    assert table["job"].tolist() == ["service", "office", "office"]
    changes = result.changes().to_pandas()
    assert changes["after"].tolist() == ["3500", "25500", "655", "office", "0.25"]


def test_a_result_has_a_length_slices_and_iterates() -> None:
    result = everything()
    assert len(result) == 5
    assert [item.row for item in result[1:3]] == [1, 2]
    assert repr(result) == (
        "Explanations(5 rows: 2 found, 1 already_target, 1 not_found, 1 out_of_time)"
    )
    assert repr(explanations()) == "Explanations(0 rows)"


def test_numbers_and_flags_can_be_classes() -> None:
    for classes, dtype in (((0, 1), "int64"), ((False, True), "bool"), ((0.5, 2.0), "float64")):
        result = everything(shared=samples.context(classes=classes))
        assert str(result.outcomes()["target"].dtype) == dtype
        assert result.outcomes()["target"].iloc[0] == classes[1]


def _renamed(feature: Any, names: dict[str, str]) -> Any:
    from dataclasses import replace

    return replace(feature, name=names.get(feature.name, feature.name))


def test_a_row_that_is_not_there_is_named() -> None:
    result = everything()
    assert result[-1].row == result[4].row == 4
    with pytest.raises(IndexError, match="there is no row 99; the result has 5 rows"):
        _ = result[99]
