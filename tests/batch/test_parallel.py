"""Worker processes give the answers of one, and what breaks in them costs as little as it can."""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pandas.testing import assert_frame_equal

import proce
from proce import Explanations, ProCE, Progress, explain_parallel
from proce.errors import FileError, ModelError, SchemaError, SearchError, WorkerError
from proce.methods import Nearest

from .. import worlds
from .models import ODD_AGE, Breaking, Tracing

SCHEMA = worlds.SCHEMA.edit("age", action="fixed")


def banker(model: Any = worlds.bank) -> ProCE:
    return ProCE(model, SCHEMA, settings=worlds.TINY).fit(worlds.people(200))


@pytest.fixture(scope="module")
def explainer() -> ProCE:
    """An explainer of the bank."""
    return banker()


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """People with names, whom the bank refuses or not."""
    frame = worlds.people(30, seed=1)
    frame.index = pd.Index([f"C{number:03}" for number in range(30)], name="customer")
    return frame


def told(result: Explanations) -> Any:
    """Return all that a result says, but for the time that it took."""
    content = json.loads(result.to_json(view="auditor"))
    del content["provenance"]["elapsed_seconds"]
    return content


def gathered(*arguments: Any, **options: Any) -> Explanations:
    result = explain_parallel(*arguments, **options)
    assert isinstance(result, Explanations)
    return result


@pytest.mark.parametrize(
    ("n_jobs", "chunk_rows"),
    [
        (2, 7),
        pytest.param(1, None, marks=pytest.mark.slow),
        pytest.param(3, 1, marks=pytest.mark.slow),
    ],
)
def test_the_answers_are_those_of_one_process(
    explainer: ProCE, rows: pd.DataFrame, n_jobs: int, chunk_rows: int | None
) -> None:
    expected = explainer.explain(rows, target=1, n=2, max_changes=2)
    result = gathered(
        explainer, rows, n_jobs=n_jobs, chunk_rows=chunk_rows, target=1, n=2, max_changes=2
    )
    assert told(result) == told(expected)
    assert_frame_equal(result.to_frame(), expected.to_frame())
    assert_frame_equal(result.outcomes(), expected.outcomes())
    assert result[3].front is not None


@pytest.mark.parametrize(
    "library", [pl.from_pandas, pytest.param(pa.Table.from_pandas, marks=pytest.mark.slow)]
)
def test_a_frame_of_any_library_comes_back_in_it(
    explainer: ProCE, rows: pd.DataFrame, library: Callable[[pd.DataFrame], Any]
) -> None:
    frame = library(rows.reset_index(drop=True))
    result = gathered(explainer, frame, n_jobs=1, chunk_rows=16, target=1).to_frame()
    expected = explainer.explain(frame, target=1).to_frame()
    assert type(result) is type(expected)
    assert nw.from_native(result).to_arrow().equals(nw.from_native(expected).to_arrow())


def test_no_rows_give_no_explanations(explainer: ProCE, rows: pd.DataFrame) -> None:
    assert len(gathered(explainer, rows[:0], n_jobs=2, target=1)) == 0


@pytest.mark.slow
def test_another_method_is_explained_in_processes_too(rows: pd.DataFrame) -> None:
    nearest = Nearest(worlds.bank, SCHEMA).fit(worlds.people(200))
    result = gathered(nearest, rows, n_jobs=1, chunk_rows=16, target=1)
    assert told(result) == told(nearest.explain(rows, target=1))


@pytest.mark.parametrize(
    ("kills", "reason"),
    [
        pytest.param(
            True,
            "The model broke on this row: its process was ended by SIGSEGV",
            marks=pytest.mark.slow,
        ),
        (False, "this age is not in the table"),
    ],
)
def test_a_row_on_which_the_model_breaks_has_failed_and_the_rest_is_explained(
    explainer: ProCE, rows: pd.DataFrame, kills: bool, reason: str
) -> None:
    broken = rows.copy()
    broken.loc[["C005", "C021"], "age"] = ODD_AGE
    result = gathered(banker(Breaking(kills)), broken, n_jobs=2, chunk_rows=15, target=1)
    outcomes = result.outcomes()
    failed = outcomes[outcomes["outcome"] == "failed"]
    assert failed.index.tolist() == ["C005", "C021"]
    assert all(reason in text for text in failed["reason"])
    assert failed["probability"].isna().all()
    rest = explainer.explain(rows.drop(["C005", "C021"]), target=1).outcomes().drop(columns="row")
    kept = outcomes[outcomes["outcome"] != "failed"].drop(columns="row")
    assert_frame_equal(kept, rest, check_dtype=False)


@pytest.mark.slow
def test_a_worker_that_dies_once_costs_nothing_but_time(
    explainer: ProCE, rows: pd.DataFrame, tmp_path: Path
) -> None:
    odd = rows.copy()
    odd.loc["C005", "age"] = ODD_AGE
    model = Breaking(kills=True, once=tmp_path / "broken")
    result = gathered(banker(model), odd, n_jobs=1, chunk_rows=15, target=1)
    assert (tmp_path / "broken").exists()
    assert_frame_equal(result.outcomes(), explainer.explain(odd, target=1).outcomes())


@pytest.mark.parametrize("n_answered", [1, pytest.param(0, marks=pytest.mark.slow)])
def test_of_a_model_that_is_given_up_the_answers_are_returned(
    rows: pd.DataFrame, n_answered: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Most rows are not asked about; where nothing was answered, there is only the error."""
    many = pd.concat([rows.assign(age=ODD_AGE)] * 4).reset_index(drop=True)
    many.loc[: n_answered - 1, "age"] = 40
    words = rf"the model fails on 32 of {32 + n_answered} rows.*not in the table"
    fragile = banker(Breaking(kills=False))
    if not n_answered:
        with pytest.raises(ModelError, match=words):
            explain_parallel(fragile, many, n_jobs=1, target=1)
        return
    with caplog.at_level(logging.WARNING):
        outcomes = gathered(fragile, many, n_jobs=1, target=1).outcomes()
    assert "the model was given up: the model fails on 32 of 33 rows" in caplog.text
    assert outcomes.index[outcomes["outcome"] != "failed"].tolist() == [0]
    assert len(outcomes) == 120
    assert outcomes["reason"][1:].str.contains("not in the table").all()
    assert outcomes["reason"].str.lower().str.match(words).sum() == 120 - 33


@pytest.mark.parametrize(
    "name",
    [
        "result.json",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("result.parquet", "result.csv")),
    ],
)
def test_a_file_has_what_one_call_returns(
    explainer: ProCE, rows: pd.DataFrame, tmp_path: Path, name: str
) -> None:
    out, beside = tmp_path / name, tmp_path / "outcomes.parquet"
    given = {"n_jobs": 1, "chunk_rows": 16, "target": 1}
    assert explain_parallel(explainer, rows, out=out, outcomes=beside, **given) == out
    expected = explainer.explain(rows, target=1)
    if name.endswith(".json"):
        assert told(Explanations.from_json(out.read_text())) == told(expected)
    else:
        read = pd.read_csv if name.endswith(".csv") else pd.read_parquet
        frame = read(out)
        assert_frame_equal(frame, expected.to_frame().reset_index(), check_dtype=False)
    outcomes = pd.read_parquet(beside)
    assert outcomes["customer"].tolist() == rows.index.tolist()
    assert outcomes["outcome"].tolist() == expected.outcomes()["outcome"].tolist()
    assert {path.name for path in tmp_path.iterdir()} == {name, "outcomes.parquet"}


@pytest.mark.slow
def test_an_interrupted_call_is_taken_up_and_repeats_nothing(
    rows: pd.DataFrame, tmp_path: Path
) -> None:
    traced, out = banker(Tracing(tmp_path / "trace")), tmp_path / "result.parquet"
    given = {"n_jobs": 1, "chunk_rows": 5, "target": 1, "out": out}

    def interrupt(progress: Progress) -> None:
        if progress.done >= 15:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match=r"interrupted after \d+ of 30 rows; they are kept"):
        explain_parallel(traced, rows, progress=interrupt, **given)
    kept = len(list((tmp_path / "result.parquet.parts").glob("*.outcomes.parquet")))
    assert 2 <= kept < 6
    assert not out.exists()
    done: list[int] = []
    explain_parallel(traced, rows, progress=lambda each: done.append(each.done), **given)
    assert done[0] >= 5 * kept
    assert_frame_equal(
        pd.read_parquet(out), banker().explain(rows, target=1).to_frame().reset_index()
    )
    with pytest.raises(KeyboardInterrupt):
        explain_parallel(traced, rows, progress=interrupt, **given)
    with pytest.raises(FileError, match="an unfinished run with other rows"):
        explain_parallel(traced, rows[:20], **given)
    explain_parallel(traced, rows[:20], resume=False, **given)
    assert pd.read_parquet(out)["row"].max() < 20


@pytest.mark.slow
def test_a_part_that_somebody_removes_meanwhile_is_told_and_explained_again(
    explainer: ProCE, rows: pd.DataFrame, tmp_path: Path
) -> None:
    out = tmp_path / "result.parquet"
    given = {"n_jobs": 1, "chunk_rows": 10, "target": 1, "out": out}

    def remove(progress: Progress) -> None:
        if progress.done == 30:
            next((tmp_path / "result.parquet.parts").glob("*-000000000010-*")).unlink()

    with pytest.raises(FileError, match=r"10 of 30 rows, from row 10 on, are in no part"):
        explain_parallel(explainer, rows, progress=remove, **given)
    assert not out.exists()
    explain_parallel(explainer, rows, **given)
    assert_frame_equal(
        pd.read_parquet(out), explainer.explain(rows, target=1).to_frame().reset_index()
    )


def test_ctrl_c_returns_what_is_done(
    explainer: ProCE, rows: pd.DataFrame, caplog: pytest.LogCaptureFixture
) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.done >= 10:
            raise KeyboardInterrupt

    with caplog.at_level(logging.WARNING):
        result = gathered(explainer, rows, n_jobs=1, chunk_rows=5, target=1, progress=interrupt)
    outcomes = result.outcomes()
    reached = outcomes[outcomes["outcome"] != "out_of_time"]
    assert 5 <= len(reached) < 30
    assert_frame_equal(
        reached, explainer.explain(rows, target=1).outcomes()[: len(reached)], check_dtype=False
    )
    assert set(outcomes["reason"][len(reached) :]) == {
        "The call ended before this row was reached."
    }
    assert "rows were finished" in caplog.text


def test_a_callback_that_says_false_and_a_budget_end_the_call(
    explainer: ProCE, rows: pd.DataFrame
) -> None:
    for options in ({"progress": lambda progress: False}, {"budget_seconds": 1e-3}):
        result = gathered(explainer, rows, n_jobs=2, chunk_rows=5, target=1, **options)
        assert len(result) == 30
        assert set(result.outcomes()["outcome"]) <= {"out_of_time", "already_target"}


def test_a_wrong_cell_is_found_before_anybody_works(explainer: ProCE, rows: pd.DataFrame) -> None:
    wrong = rows.copy()
    wrong.loc["C029", "home"] = "squats"
    with pytest.raises(SchemaError, match=r"'home'.*squats"):
        explain_parallel(explainer, wrong, n_jobs=2, target=1)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        *(
            ({"n_jobs": n_jobs}, SearchError, r"n_jobs is .*; expected a whole number from 1 on")
            for n_jobs in (0, 1.5, True, "two", np.array([1, 2]), pd.Series([1]))
        ),
        ({"chunk_rows": 0}, SearchError, "chunk_rows is 0"),
        ({"resume": "no"}, SearchError, "resume is 'no'; expected True or False"),
        ({"out": "result.txt"}, FileError, r"expected a name that ends in \.parquet, \.csv"),
        ({"out": "nowhere/result.csv"}, FileError, "does not exist"),
        ({"outcomes": "result.csv"}, FileError, "outcomes= needs out="),
        ({"out": "r.csv", "outcomes": "./r.csv"}, FileError, "outcomes and out are both"),
        ({"progress": 5}, SearchError, "expected a function"),
        ({"max_changes": 0}, SearchError, "max_changes is 0"),
        ({"target": 7}, ModelError, "7"),
    ],
)
def test_wrong_requests_are_refused_before_anybody_works(
    explainer: ProCE, rows: pd.DataFrame, options: dict[str, Any], error: Any, words: str
) -> None:
    with pytest.raises(error, match=words):
        explain_parallel(explainer, rows, **options)


def test_a_frame_that_is_none_is_refused(explainer: ProCE) -> None:
    with pytest.raises(SchemaError, match="expected a data frame"):
        explain_parallel(explainer, [1, 2])


def test_a_model_that_cannot_be_copied_is_named(rows: pd.DataFrame) -> None:
    lock = Lock()
    locked = banker(lambda frame: worlds.bank(frame) if lock else None)
    with pytest.raises(WorkerError, match="cannot be sent to them: cannot pickle"):
        explain_parallel(locked, rows, target=1)


def test_it_is_there_after_importing_the_package() -> None:
    assert proce.explain_parallel is explain_parallel
