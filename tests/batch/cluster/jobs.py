"""Runs over a folder in small pieces, and what one process says of the same rows."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client

from proce import ProCE, Progress
from proce.batch.cluster.explainer_payload import ExplainerPayload
from proce.batch.cluster.plan import FolderRequest, Plan, plan_run
from proce.batch.cluster.run import RunSummary, run_plan

from ... import worlds

FolderOf = Callable[..., Path]
OPTIONS = {"target": 1, "n": 1, "keep_front": False, "vary": ["savings", "debt"]}


def run(payload: ExplainerPayload, request: FolderRequest, client: Client) -> RunSummary:
    return run_plan(plan_run(payload, request), client)


def interrupt(plan: Plan, client: Client) -> None:
    """Begin a run, and stop it when its first piece has ended."""

    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_plan(plan, client, stop)


def lines(folder: str | Path) -> pd.DataFrame:
    """Return all parts of a folder in the order of their names, which is that of the rows."""
    return pa.concat_tables(pq.read_table(part) for part in parts(folder)).to_pandas()


def parts(folder: str | Path) -> list[Path]:
    return sorted(Path(folder).glob("part-*.parquet"))


def in_one_process(banker: ProCE, **frames: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the counterfactuals and the outcomes of files, each explained at once."""
    tables: list[Any] = []
    for name in sorted(frames):
        table = pa.Table.from_pandas(frames[name][list(worlds.SCHEMA.names)], preserve_index=False)
        result = banker.explain(table, **OPTIONS)
        tables.append(
            [
                frame.to_pandas().assign(file=f"{name}.parquet")
                for frame in (result.to_frame(), result.outcomes())
            ]
        )
    found, outcomes = (pd.concat(column, ignore_index=True) for column in zip(*tables, strict=True))
    return found, outcomes


def customers(n: int, seed: int, **columns: Any) -> pd.DataFrame:
    """Return people with a number each."""
    frame = worlds.people(n, seed=seed)
    return frame.assign(customer=[f"C{seed}-{row:03}" for row in range(n)], **columns)
