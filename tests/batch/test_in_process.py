"""A file is explained chunk by chunk, as if it had been explained at once."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pandas.testing import assert_frame_equal

from proce import ProCE, Progress
from proce.batch.in_process import ExplainTable, InProcessJob
from proce.batch.parts.parts import Parts
from proce.batch.parts.spans import Span
from proce.batch.reading.rows import Rows
from proce.batch.reading.source import Source
from proce.batch.reading.typed import TypedColumns
from proce.batch.tables import as_table, table_of, tally
from proce.errors import FileError, ModelError, SchemaError
from proce.explanation import Outcome, unanswered

from .conftest import all_rows

People = Callable[[int], Path]


def rows_of(banker: ProCE, path: Path) -> Rows:
    """Return the rows of a file in chunks of 8, read 5 at a time."""
    types = TypedColumns.of(banker.fitted_.codec)
    return Rows.checked(Source.open(path), types, chunk_rows=8, batch_rows=5)


def asking(banker: ProCE, **options: Any) -> ExplainTable:
    return lambda table, progress: banker.explain(table, target=1, progress=progress, **options)


def job_of(rows: Rows, ask: ExplainTable, **more: Any) -> InProcessJob:
    """Return a job whose model breaks on nobody."""

    def give_up(_table: pa.Table, reason: str) -> NoReturn:
        raise AssertionError(reason)

    return InProcessJob(rows, ask, give_up, **more)


def test_chunks_are_cut_at_the_same_places_whatever_is_read_at_a_time(
    banker: ProCE, people: People
) -> None:
    rows = rows_of(banker, people(21))
    parts = list(rows.chunks())
    assert rows.count == 21
    assert [(part.first_row, len(part.table)) for part in parts] == [(0, 8), (8, 8), (16, 5)]
    (whole,) = replace(rows, chunk_rows=21, batch_rows=21).chunks()
    assert pa.concat_tables(part.table for part in parts).equals(whole.table)


def test_csv_and_parquet_give_the_same_rows(banker: ProCE, people: People) -> None:
    path = people(21)
    pd.read_parquet(path).to_csv(path.with_suffix(".csv"), index=False)
    text = all_rows(rows_of(banker, path.with_suffix(".csv")))
    assert all_rows(rows_of(banker, path)).equals(text)


def test_a_file_in_chunks_gets_the_answers_of_the_whole_frame(
    banker: ProCE, people: People
) -> None:
    path = people(21)
    whole = banker.explain(pd.read_parquet(path), target=1, keep_front=False)
    results = list(job_of(rows_of(banker, path), asking(banker)).explanations())
    frames = [result.to_frame().to_pandas() for result in results]
    expected = whole.to_frame().reset_index(drop=True)
    assert len(expected)
    assert_frame_equal(pd.concat(frames, ignore_index=True), expected)
    outcomes = pd.concat([each.outcomes().to_pandas() for each in results], ignore_index=True)
    assert outcomes["outcome"].tolist() == whole.outcomes()["outcome"].tolist()
    assert outcomes["row"].tolist() == list(range(21))


def test_progress_counts_the_rows_of_the_file(banker: ProCE, people: People) -> None:
    told: list[Progress] = []
    list(job_of(rows_of(banker, people(21)), asking(banker), progress=told.append).explanations())
    searched = [each for each in told if each.stage == "search"]
    assert {each.total for each in searched} == {21}
    assert searched[-1].done == 21
    assert [each.done for each in searched] == sorted(each.done for each in searched)


def test_a_wrong_cell_at_the_end_is_found_at_the_beginning(banker: ProCE, people: People) -> None:
    path = people(21)
    frame = pd.read_parquet(path)
    frame.loc[20, "home"] = "squats"
    frame.to_parquet(path)
    with pytest.raises(SchemaError, match=r"people-21.parquet: feature 'home': row 20 "):
        rows_of(banker, path)


def test_a_file_without_rows_gives_a_table_without_rows(banker: ProCE, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,savings,debt,school,home\n")
    rows = rows_of(banker, path)
    assert rows.count == 0
    (result,) = job_of(rows, asking(banker)).explanations()
    assert len(result) == 0
    assert result.to_frame().column_names[:3] == ["row", "rank", "age"]
    with Parts.open(tmp_path / "result.parquet", {}) as parts:
        job_of(rows, asking(banker)).keep(parts)
        parts.put_together(0)
    assert pq.read_table(tmp_path / "result.parquet").num_rows == 0


def test_ids_come_back_in_front_of_every_counterfactual(
    banker: ProCE, people: People, tmp_path: Path
) -> None:
    """The file has a column that the schema does not name; chunks of 8 rows keep its values."""
    path = people(21)
    frame = pd.read_parquet(path).assign(customer=[f"C{n:03}" for n in range(21)])
    frame.to_parquet(path)
    types = TypedColumns.of(banker.fitted_.codec)
    rows = Rows.checked(Source.open(path), types, chunk_rows=8, batch_rows=5, id_name="customer")
    tables = [table_of(result) for result in job_of(rows, asking(banker)).explanations()]
    table = pa.concat_tables(tables)
    assert table.column_names[:3] == ["customer", "row", "rank"]
    assert len(table)
    assert table["customer"].to_pylist() == [f"C{n:03}" for n in table["row"].to_pylist()]
    plain = pa.concat_tables(
        as_table(result.to_frame())
        for result in job_of(rows_of(banker, path), asking(banker)).explanations()
    )
    assert table.drop_columns(["customer"]).equals(plain)


def test_an_error_about_a_chunk_says_where_its_rows_begin(banker: ProCE, people: People) -> None:
    """Something is wrong in the second chunk; row numbers of errors begin anew there."""

    def ask(table: pa.Table, _progress: Any) -> Any:
        if table["age"][0].as_py() == ages[8]:
            raise SchemaError("row 3 is 7.")
        return banker.explain(table, target=1)

    path = people(21)
    ages = pd.read_parquet(path)["age"].tolist()
    assert ages[0] != ages[8]
    message = r"^people-21.parquet, counted from its row 8: row 3 is 7\.$"
    with pytest.raises(SchemaError, match=message):
        list(job_of(rows_of(banker, path), ask).explanations())
    ages[8] = ages[0]
    with pytest.raises(SchemaError, match=r"^row 3 is"):
        list(job_of(rows_of(banker, path), ask).explanations())


def test_a_row_on_which_the_model_breaks_has_failed_and_the_rest_is_explained(
    banker: ProCE, people: People
) -> None:
    """As in worker processes: the outcome does not depend on how many there are."""

    def ask(table: pa.Table, _progress: Any) -> Any:
        if ages[10] in table["age"].to_pylist():
            raise ModelError("row 0, a candidate with age=1: ValueError: no such age.")
        return banker.explain(table, target=1)

    def give_up(table: pa.Table, reason: str) -> Any:
        like = banker.explain(table.slice(0, 0), target=1)
        return unanswered(like, table, Outcome.FAILED, reason)

    path = people(21)
    frame = pd.read_parquet(path)
    frame.loc[10, "age"] = 77 if 77 not in set(frame["age"]) else 78
    frame.to_parquet(path)
    ages = frame["age"].tolist()
    results = list(InProcessJob(rows_of(banker, path), ask, give_up).explanations())
    assert [row for result in results for row in result.rows.positions.tolist()] == list(range(21))
    outcomes = pd.concat([each.outcomes().to_pandas() for each in results], ignore_index=True)
    assert outcomes.index[outcomes["outcome"] == "failed"].tolist() == [10]
    assert outcomes["reason"][10] == "A candidate with age=1: ValueError: no such age."
    expected = banker.explain(frame, target=1).outcomes()["outcome"].drop(10)
    assert outcomes["outcome"].drop(10).tolist() == expected.tolist()


def test_an_id_is_no_feature(banker: ProCE, people: People) -> None:
    types = TypedColumns.of(banker.fitted_.codec)
    with pytest.raises(FileError, match="'age' is a feature, which changes"):
        Rows.checked(Source.open(people(21)), types, id_name="age")
    with pytest.raises(FileError, match="lacks the column 'customer'"):
        Rows.checked(Source.open(people(21)), types, id_name="customer")


def test_parts_become_one_file_in_the_order_of_the_rows(
    banker: ProCE, people: People, tmp_path: Path
) -> None:
    path = people(21)
    for name in ("result.parquet", "result.csv"):
        with Parts.open(tmp_path / name, {}) as parts:
            job_of(rows_of(banker, path), asking(banker)).keep(parts)
            assert parts.summary().tally.total() == 21
            parts.put_together(21)
    expected = banker.explain(all_rows(rows_of(banker, path)), target=1)
    table = pq.read_table(tmp_path / "result.parquet")
    assert table.equals(as_table(expected.to_frame()))
    assert_frame_equal(pd.read_csv(tmp_path / "result.csv"), table.to_pandas())
    assert {each.name for each in tmp_path.iterdir()} == {path.name, "result.csv", "result.parquet"}


def test_an_interrupted_file_goes_on_where_it_stopped(
    banker: ProCE, people: People, tmp_path: Path
) -> None:
    rows, out = rows_of(banker, people(21)), tmp_path / "result.parquet"
    asked: list[int] = []

    def ask(table: pa.Table, progress: Any) -> Any:
        asked.append(len(table))
        if len(asked) == 3:
            raise KeyboardInterrupt
        return banker.explain(table, target=1)

    with pytest.raises(KeyboardInterrupt), Parts.open(out, {"n": 1}) as parts:
        job_of(rows, ask).keep(parts)
    assert not out.exists()
    with Parts.open(out, {"n": 1}) as parts:
        assert parts.covered() == [Span(0, 8), Span(8, 8)]
        job_of(rows, ask).keep(parts)
        parts.put_together(21)
    assert asked == [8, 8, 5, 5]
    whole = banker.explain(all_rows(rows), target=1)
    assert pq.read_table(out).equals(as_table(whole.to_frame()))
    assert tally(whole).total() == 21
