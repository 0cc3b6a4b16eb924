"""A file is explained piece by piece, as if it had been explained at once."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pandas.testing import assert_frame_equal

from proce import ProCE, Progress
from proce.batch.parts.parts import Parts
from proce.batch.parts.spans import Span
from proce.batch.reading.rows import Rows
from proce.errors import ModelError, SchemaError

from .. import worlds
from .conftest import all_rows, job_of, rows_of
from .models import Disturbed, FailingOn

People = Callable[[int], Path]
IN_ONE_PROCESS_AND_TWO = pytest.mark.parametrize("n_workers", [None, 2])


def numbered(banker: ProCE, n_rows: int, folder: Path, chunk_rows: int = 100) -> Rows:
    """Return rows of people whose savings are their number."""
    frame = worlds.people(n_rows, seed=1).assign(savings=range(n_rows))
    frame.to_parquet(folder / "numbered.parquet")
    return replace(rows_of(banker, folder / "numbered.parquet"), chunk_rows=chunk_rows)


def test_chunks_are_cut_at_the_same_places_whatever_is_read_at_a_time(
    banker: ProCE, people: People
) -> None:
    rows = rows_of(banker, people(21))
    parts = list(rows.chunks())
    assert rows.count == 21
    assert [(part.first_row, len(part.table)) for part in parts] == [(0, 8), (8, 8), (16, 5)]
    (whole,) = replace(rows, chunk_rows=21, batch_rows=21).chunks()
    assert pa.concat_tables(part.table for part in parts).equals(whole.table)


@IN_ONE_PROCESS_AND_TWO
def test_a_file_in_chunks_gets_the_answers_of_the_whole_frame(
    banker: ProCE, people: People, n_workers: int | None
) -> None:
    path = people(21)
    whole = banker.explain(pd.read_parquet(path), target=1, keep_front=False)
    job = job_of(banker, rows_of(banker, path), n_workers=n_workers)
    results = list(job.explanations())
    frames = [result.to_frame().to_pandas() for result in results]
    expected = whole.to_frame().reset_index(drop=True)
    assert len(expected)
    assert_frame_equal(pd.concat(frames, ignore_index=True), expected)
    outcomes = pd.concat([each.outcomes().to_pandas() for each in results], ignore_index=True)
    assert outcomes["outcome"].tolist() == whole.outcomes()["outcome"].tolist()
    assert outcomes["row"].tolist() == list(range(21))


def test_progress_counts_the_rows_of_the_file(banker: ProCE, people: People) -> None:
    told: list[Progress] = []
    list(job_of(banker, rows_of(banker, people(21)), progress=told.append).explanations())
    searched = [each for each in told if each.stage == "search"]
    assert {each.total for each in searched} == {21}
    assert searched[-1].done == 21
    assert [each.done for each in searched] == sorted(each.done for each in searched)


def test_an_error_about_a_chunk_says_where_its_rows_begin(banker: ProCE, people: People) -> None:
    """Something is wrong in a chunk; row numbers of errors begin anew in each."""

    def refuse(rows: pa.Table) -> None:
        if len(rows) and rows["age"][0].as_py() == wrong:
            raise SchemaError("row 3 is 7.")

    path = people(21)
    ages = pd.read_parquet(path)["age"].tolist()
    assert ages[0] != ages[8]
    disturbed: Any = Disturbed(banker, refuse)
    wrong = ages[8]
    message = r"^people-21.parquet, counted from its row 8: row 3 is 7\.$"
    with pytest.raises(SchemaError, match=message):
        list(job_of(disturbed, rows_of(banker, path)).explanations())
    wrong = ages[0]
    with pytest.raises(SchemaError, match=r"^row 3 is"):
        list(job_of(disturbed, rows_of(banker, path)).explanations())


NINE_OF_TEN = set(range(200)) - set(range(5, 200, 10))
FAILING = {
    "one": (21, {10}),
    "the last, alone in its chunk, after a hundred answers": (101, {100}),
    "nine of ten": (200, NINE_OF_TEN),
    "the first chunk, and more": (200, set(range(120))),
}


@pytest.mark.parametrize(
    ("n_workers", "n_rows", "failing"),
    [
        *((None, *case) for case in FAILING.values()),
        (2, *FAILING["nine of ten"]),
        (2, *FAILING["the first chunk, and more"]),
    ],
    ids=[*FAILING, "nine of ten in workers", "the first chunk in workers"],
)
def test_rows_on_which_the_model_breaks_have_failed_and_the_rest_is_explained(
    banker: ProCE, tmp_path: Path, n_workers: int | None, n_rows: int, failing: set[int]
) -> None:
    rows = numbered(banker, n_rows, tmp_path)
    disturbed: Any = Disturbed(banker, FailingOn(frozenset(failing)))
    results = list(job_of(disturbed, rows, n_workers=n_workers).explanations())
    outcomes = pd.concat([each.outcomes().to_pandas() for each in results], ignore_index=True)
    assert outcomes["row"].tolist() == list(range(n_rows))
    assert set(outcomes.index[outcomes["outcome"] == "failed"]) == failing
    reasons = outcomes["reason"][sorted(failing)]
    assert set(reasons) == {"A candidate with debt=1: ValueError: no such debt."}
    expected = banker.explain(all_rows(rows), target=1).outcomes().to_pandas()["outcome"]
    others = expected.drop(sorted(failing))
    assert outcomes["outcome"].drop(sorted(failing)).tolist() == others.tolist()


@IN_ONE_PROCESS_AND_TWO
@pytest.mark.parametrize("n_answered", [0, 1])
def test_a_model_that_fails_on_nearly_everything_is_given_up_and_answers_are_kept(
    banker: ProCE, tmp_path: Path, n_workers: int | None, n_answered: int
) -> None:
    """Of three hundred rows at most some dozens are asked about one by one."""
    rows, out = numbered(banker, 300, tmp_path, 150), tmp_path / "result.csv"
    failing = FailingOn(frozenset(range(n_answered, 300)))
    disturbed: Any = Disturbed(banker, failing)
    words = r"the model fails on (\d+) of (\d+) rows, so it is not the rows\. Row \d+: a candidate"
    with pytest.raises(ModelError) as told, Parts.open(out, {}) as parts:
        job_of(disturbed, rows, n_workers=n_workers).keep(parts)
    match = re.match(words, str(told.value))
    assert match is not None
    n_failed, n_asked = map(int, match.groups())
    assert 32 <= n_failed <= 36
    n_kept = n_asked - n_failed  # a worker that is late to open may not have come to the row
    assert n_kept == n_answered if n_workers is None else n_kept <= n_answered
    with Parts.open(out, {}) as parts:
        assert (Span(0, 1) in parts.covered()) == bool(n_kept)
        assert n_kept or not parts.covered()
