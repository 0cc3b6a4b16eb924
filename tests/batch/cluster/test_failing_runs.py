"""What goes wrong with a run is told, and what is done stays."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client
from pandas.testing import assert_frame_equal

from proce import ProCE
from proce.batch.cluster import store, task
from proce.batch.cluster.explainer_payload import ExplainerPayload, pack
from proce.batch.cluster.outputs import MARKER
from proce.batch.cluster.plan import Plan, plan_run
from proce.batch.cluster.run import run_plan
from proce.errors import FileError, WorkerError

from ... import worlds
from .jobs import OPTIONS, FolderOf, customers, in_one_process, interrupt, lines, parts, run


class Fragile:
    """The bank, whose computer breaks on people of some ages once it is worn."""

    def __init__(self, ages: range) -> None:
        self.ages = ages
        self.worn = False

    def __call__(self, frame: pd.DataFrame) -> Any:
        if self.worn and frame["age"].isin(self.ages).any():
            raise OverflowError("too much for this age")
        return worlds.bank(frame)


def test_a_row_on_which_the_model_breaks_is_failed_and_the_rest_completes(
    client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    model = Fragile(range(33, 34))
    fragile = pack(ProCE(model, settings=worlds.TINY).fit(worlds.people(200)))
    people = worlds.people(9, seed=1).assign(age=[33 if row == 4 else 40 for row in range(9)])
    request = request_of(
        folder_of(a=people.assign(key=range(9))),
        outcomes=request_of("").out + "-all",
        id_name="key",
    )
    run(fragile, request, client)
    expected = lines(request.outcomes)
    request = replace(request, out=request.out + "-worn", outcomes=request.outcomes + "-worn")
    plan = plan_run(fragile, request)
    model.worn = True
    summary = run_plan(plan, client)
    assert summary.rows.tally["failed"] == 1
    assert summary.rows.reasons[0].startswith("a.parquet, row 4 (4): ")
    got = lines(request.outcomes)
    assert (got["outcome"] == "failed").tolist() == [row == 4 for row in range(9)]
    assert "too much for this age" in got["reason"][4]
    assert got["predicted"].isna().tolist() == [row == 4 for row in range(9)]
    others = [row for row in range(9) if row != 4]
    assert_frame_equal(got.loc[others], expected.loc[others], check_dtype=False)


def test_a_model_that_always_breaks_is_given_up(
    client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    model = Fragile(range(200))
    fragile = pack(ProCE(model, settings=worlds.TINY).fit(worlds.people(200)))
    plan = plan_run(fragile, request_of(folder_of(a=worlds.people(6, seed=1))))
    model.worn = True
    summary = run_plan(plan, client)
    assert "fails on 6 of 6 rows" in summary.failures["a.parquet"]
    assert "too much for this age" in summary.failures["a.parquet"]
    assert not parts(plan.assignment.out.url)


def test_a_folder_of_somebody_else_is_refused(
    payload: ExplainerPayload, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    rows = folder_of(a=worlds.people(3, seed=1))
    request = request_of(rows)
    out = Path(request.out)
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    for restart in (False, True):
        with pytest.raises(FileError, match=r"holds 'notes.txt' and no _proce.json"):
            plan_run(payload, replace(request, restart=restart))
    (out / MARKER).write_text("{}")
    with pytest.raises(FileError, match=r"no _proce.json of a run of ours"):
        plan_run(payload, request)
    assert (out / "notes.txt").read_text() == "mine"


def test_parts_of_another_run_are_refused_until_they_are_discarded(
    payload: ExplainerPayload, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    rows = folder_of(a=worlds.people(3, seed=1))
    request = request_of(rows)
    interrupt(plan_run(payload, request), client)
    other = replace(request, options={**OPTIONS, "n": 2})
    with pytest.raises(FileError, match=r"another run \(options differ\).*--restart"):
        plan_run(payload, other)
    (Path(request.out) / "kept.txt").write_text("mine")
    for restart in (False, True):
        with pytest.raises(FileError, match=r"holds 'kept.txt', which no run of ours writes"):
            plan_run(payload, replace(other, restart=restart))
    (Path(request.out) / "kept.txt").unlink()
    interrupt(plan_run(payload, replace(other, restart=True)), client)
    assert lines(request.out)["rank"].max() == 2
    folder_of(a=worlds.people(4, seed=5))
    with pytest.raises(FileError, match=r"whose rows have changed since .* with --restart"):
        run(payload, other, client)


def test_rows_and_results_are_kept_apart(
    payload: ExplainerPayload, folder_of: FolderOf, request_of: Any
) -> None:
    rows = folder_of(a=worlds.people(3, seed=1))
    for out in (rows, rows / "out", rows.parent):
        with pytest.raises(FileError, match="or lies among them"):
            plan_run(payload, request_of(rows, out=str(out)))
    with pytest.raises(FileError, match="give each a folder"):
        plan_run(payload, request_of(rows, outcomes=request_of("").out))


def test_a_store_behind_a_url_will_do(
    banker: ProCE, payload: ExplainerPayload, client: Client, request_of: Any
) -> None:
    store, frame = fsspec.filesystem("memory"), customers(9, 1)
    store.pipe_file("/bank/rows/a.parquet", frame.to_parquet(index=False))
    try:
        request = request_of("memory://bank/rows", out="memory://bank/out")
        run(payload, request, client)
        names = [name for name in store.ls("/bank/out", detail=False) if "part-" in name]
        tables = [pq.read_table(pa.BufferReader(store.cat_file(name))) for name in sorted(names)]
    finally:
        store.rm("/bank", recursive=True)
    expected, _ = in_one_process(banker, a=frame)
    got = pa.concat_tables(tables).to_pandas()
    assert_frame_equal(got, expected[list(got.columns)])


def test_a_full_disk_ends_the_run_and_keeps_what_is_whole(
    payload: ExplainerPayload,
    client: Client,
    folder_of: FolderOf,
    request_of: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    request = request_of(folder_of(a=worlds.people(9, seed=1)), piece_rows=3)
    plan = plan_run(payload, request)
    write = store._write_draft

    def full(files: Any, draft: str, content: bytes) -> None:
        if "part-00000-00001" in draft:
            with files.open(draft, "wb") as stream:
                stream.write(content[:100])
            raise OSError(28, "No space left on device")
        write(files, draft, content)

    monkeypatch.setattr(store, "_write_draft", full)
    with pytest.raises(FileError, match=r"No space left on device \(.*part-00000-00001.*make room"):
        run_plan(plan, client)
    assert not list(Path(request.out).glob(".*"))
    assert all(pq.read_table(part) is not None for part in parts(request.out))
    monkeypatch.setattr(store, "_write_draft", write)
    assert run(payload, request, client).rows.tally.total() == 9


def test_an_interrupted_run_keeps_its_parts_and_goes_on(
    payload: ExplainerPayload, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    request = request_of(folder_of(a=worlds.people(18, seed=1)), piece_rows=3)
    interrupt(plan_run(payload, request), client)
    assert 1 <= len(parts(request.out)) < 6
    summary = run(payload, request, client)
    assert summary.n_done_before >= 3
    assert summary.rows.tally.total() == 18
    assert len(parts(request.out)) == 6


def test_a_worker_of_another_version_is_refused(
    payload: ExplainerPayload,
    client: Client,
    folder_of: FolderOf,
    request_of: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan: Plan = plan_run(payload, request_of(folder_of(a=worlds.people(3, seed=1))))
    monkeypatch.setattr(task, "own_version", lambda: "0.0.1")
    with pytest.raises(WorkerError, match=r"a worker has proce 0.0.1"):
        task.explain_piece(plan.payload, plan.assignment, plan.pieces[0])
