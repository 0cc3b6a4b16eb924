"""A small explainer, fitted once, and rows of any number for it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from proce import Explanations, ProCE
from proce.batch.job import CallTerms, GivenExplainer, Job
from proce.batch.reading.rows import Rows
from proce.batch.reading.source import Source
from proce.batch.reading.typed import TypedColumns
from proce.batch.tables import tally

from .. import worlds

N_ROWS = 21


def all_rows(rows: Rows) -> pa.Table:
    """Return the rows of all chunks as one table."""
    return pa.concat_tables(chunk.table for chunk in rows.chunks()).combine_chunks()


def rows_of(explainer: ProCE, path: Path, id_name: str | None = None) -> Rows:
    """Return the rows of a source in chunks of 8, read 5 at a time."""
    types = TypedColumns.of(explainer.fitted_.codec)
    return Rows.checked(Source.open(path), types, chunk_rows=8, batch_rows=5, id_name=id_name)


def job_of(explainer: ProCE, rows: Rows, **more: Any) -> Job:
    """Return a job that leads rows to the class 1, in this process if nothing else is said."""
    options = {"target": 1, "keep_front": False}
    empty = explainer.explain(next(rows.chunks()).table[:0], **options)
    call = CallTerms(options, empty.provenance.options)
    return Job(rows, GivenExplainer(explainer), call, empty, **more)


@pytest.fixture(scope="session")
def banker() -> ProCE:
    """An explainer of the bank, with a schema read off the rows."""
    return ProCE(worlds.bank, settings=worlds.TINY).fit(worlds.people(200))


@pytest.fixture
def people(tmp_path: Path) -> Callable[[int], Path]:
    """Return what writes so many people to a Parquet file."""

    def write(n: int) -> Path:
        path = tmp_path / f"people-{n}.parquet"
        worlds.people(n, seed=1).to_parquet(path)
        return path

    return write


@pytest.fixture(scope="session")
def whole(banker: ProCE) -> Explanations:
    """Return the explanations of some named people, some of them not found."""
    table = pa.Table.from_pandas(worlds.people(N_ROWS, seed=1))
    result = banker.explain(table, target=1, n=2, vary=["debt"])
    assert len(tally(result)) > 1
    return result.labelled(pd.Index([f"C{n:03}" for n in range(N_ROWS)], name="customer"))
