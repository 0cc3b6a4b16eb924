"""A folder goes through a cluster as through one process: every row once, what is done stays."""

import json
from collections.abc import Callable
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
from proce.batch.cluster import place, task
from proce.batch.cluster.job import FolderRequest, Plan, RunProgress, RunSummary, plan_run, run_plan
from proce.batch.cluster.outputs import MARKER
from proce.batch.cluster.parcel import Parcel, pack
from proce.errors import FileError, SearchError, WorkerError

from ... import worlds
from .conftest import customers

FolderOf = Callable[..., Path]
OPTIONS = {"target": 1, "n": 2, "keep_front": False}


@pytest.fixture(scope="module")
def parcel(banker: ProCE) -> Parcel:
    return pack(banker)


@pytest.fixture
def request_of(tmp_path: Path) -> Callable[..., FolderRequest]:
    """Return what asks for a folder in small pieces."""

    def make(rows: Path | str, **changes: Any) -> FolderRequest:
        out = str(tmp_path / "out")
        asked = FolderRequest(str(rows), out, None, OPTIONS, piece_rows=8, chunk_rows=3)
        return replace(asked, **changes)

    return make


def run(parcel: Parcel, request: FolderRequest, client: Client) -> RunSummary:
    return run_plan(plan_run(parcel, request), client)


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


def test_every_row_is_there_once_with_the_values_of_one_process(
    banker: ProCE, parcel: Parcel, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    frames = {"a": customers(19, 1), "b": customers(0, 2), "c": customers(8, 3)}
    outcomes = Path(request_of("").out).with_name("outcomes")
    request = request_of(folder_of(**frames), outcomes=str(outcomes), id_name="customer")
    told: list[RunProgress] = []
    summary = run_plan(plan_run(parcel, request), client, told.append)
    assert summary.rows.tally.total() == 27
    assert not summary.failures
    assert [each.done for each in told] == sorted(each.done for each in told)
    assert (told[-1].done, told[-1].total) == (27, 27)
    expected, told_of = in_one_process(banker, **frames)
    got, got_outcomes = lines(request.out), lines(outcomes)
    assert len(expected)
    assert list(got.columns[:4]) == ["customer", "file", "row", "rank"]
    assert list(got_outcomes.columns[:4]) == ["customer", "file", "row", "outcome"]
    assert_frame_equal(got.drop(columns="customer"), expected[list(got.columns[1:])])
    assert_frame_equal(
        got_outcomes.drop(columns="customer"), told_of[list(got_outcomes.columns[1:])]
    )
    everybody = pd.concat(frames.values())["customer"].tolist()
    assert got_outcomes["customer"].tolist() == everybody
    by_row = got_outcomes.set_index(["file", "row"])["customer"]
    owners = list(zip(got["file"], got["row"], strict=True))
    assert got["customer"].tolist() == by_row.loc[owners].tolist()
    assert json.loads((outcomes / MARKER).read_text())["finished"] is True


def test_all_parts_have_the_same_columns_whatever_their_file_has(
    parcel: Parcel, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    """Another order, narrower numbers, a dictionary, and nobody for whom something is found."""
    narrow = worlds.people(6, seed=1).astype({"age": "int8", "debt": "float32"})
    narrow = narrow.astype({"home": "category"})[list(worlds.SCHEMA.names[::-1])]
    rich = worlds.people(4, seed=2).assign(savings=100, debt=0)
    rows = folder_of(a=worlds.people(6, seed=1), b=narrow, c=rich, d=worlds.people(0))
    request = request_of(rows)
    run(parcel, request, client)
    schemas = {pq.read_schema(part).remove_metadata() for part in parts(request.out)}
    assert len(parts(request.out)) == 4
    assert len(schemas) == 1
    found = lines(request.out)
    assert set(found["file"]) == {"a.parquet", "b.parquet"}
    by_file = [
        part.drop(columns="file").reset_index(drop=True) for _, part in found.groupby("file")
    ]
    assert_frame_equal(*by_file)


@pytest.mark.parametrize("kind", ["int64", "float64", "string", "missing"])
def test_ids_keep_their_type(
    parcel: Parcel, client: Client, folder_of: FolderOf, request_of: Any, kind: str
) -> None:
    ids = {
        "int64": pd.array([2**62 + 1, None, 7], dtype="Int64"),
        "float64": [0.5, 1.5, 2.5],
        "string": ["007", None, ""],
        "missing": [None, None, None],
    }[kind]
    frame = worlds.people(3, seed=1).assign(row=ids)
    request = request_of(folder_of(a=frame), id_name="row", outcomes=request_of("").out + "-all")
    run(parcel, request, client)
    (part,) = parts(request.outcomes)
    table = pq.read_table(part)
    assert table.column_names[:3] == ["row", "file", "_row"]  # ours gives way
    assert table["row"].to_pylist() == pa.Table.from_pandas(frame)["row"].to_pylist()
    assert table["_row"].to_pylist() == [0, 1, 2]


def test_a_file_that_cannot_be_read_is_named_and_the_others_complete(
    banker: ProCE, parcel: Parcel, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    frames = {name: customers(9, seed) for seed, name in enumerate("abcd")}
    rows = folder_of(**frames)
    (rows / "b.parquet").write_bytes(b"PAR1, but no more")
    damage_pages(rows / "c.parquet")
    request = request_of(rows)
    summary = run(parcel, request, client)
    assert set(summary.failures) == {"b.parquet", "c.parquet"}
    assert "cannot be read as Parquet" in summary.failures["b.parquet"]
    assert set(lines(request.out)["file"]) == {"a.parquet", "d.parquet"}
    assert json.loads((Path(request.out) / MARKER).read_text())["finished"] is False
    written = {part: part.stat().st_mtime_ns for part in parts(request.out)}
    folder_of(b=frames["b"], c=frames["c"])
    again = run(parcel, request, client)
    assert not again.failures
    assert again.rows.tally.total() == 36
    assert again.n_done_before == 18
    assert {part: part.stat().st_mtime_ns for part in written} == written
    expected, _ = in_one_process(banker, **frames)
    got = lines(request.out)
    assert_frame_equal(got, expected[list(got.columns)])


def damage_pages(path: Path) -> None:
    """Spoil a file in its middle; its footer still tells of rows."""
    content = bytearray(path.read_bytes())
    content[4:400] = b"\xff" * 396
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (worlds.people(3).drop(columns="debt"), "lacks the column 'debt'"),
        (worlds.people(3).assign(home="squats"), "row 0 .* unknown level 'squats'"),
        (worlds.people(3).assign(age="old"), "'age': the file holds values of type"),
    ],
)
def test_a_file_that_does_not_fit_is_named(
    parcel: Parcel, client: Client, folder_of: FolderOf, request_of: Any, frame: Any, reason: str
) -> None:
    summary = run(parcel, request_of(folder_of(a=worlds.people(3), b=frame)), client)
    assert set(summary.failures) == {"b.parquet"}
    assert pd.Series(summary.failures["b.parquet"]).str.contains(reason).all()
    assert summary.rows.tally.total() == 3


def test_ids_of_another_type_are_named(
    parcel: Parcel, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    rows = folder_of(
        a=worlds.people(2).assign(key=[1, 2]),
        b=worlds.people(2).assign(key=["x", "y"]),
        c=worlds.people(2).assign(key=["x", "y"]),
    )
    summary = run(parcel, request_of(rows, id_name="key"), client)
    assert summary.failures == {
        "a.parquet": "its ids are int64, and those of most files string; convert them."
    }


def test_where_no_file_fits_the_request_is_wrong(
    parcel: Parcel, folder_of: FolderOf, request_of: Any
) -> None:
    rows = folder_of(a=worlds.people(3).drop(columns="debt"))
    with pytest.raises(FileError, match=r"no file that can be read; a.parquet: it lacks"):
        plan_run(parcel, request_of(rows))
    with pytest.raises(SearchError, match="pick is 'best'"):
        plan_run(parcel, request_of(rows, options={"pick": "best"}))


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
        options={**OPTIONS, "vary": ["savings", "debt"]},
        id_name="key",
    )
    run(fragile, request, client)
    expected = lines(request.outcomes)
    plan = plan_run(fragile, replace(request, restart=True))
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
    assert "failed on all of the 3 rows" in summary.failures["a.parquet"]
    assert "too much for this age" in summary.failures["a.parquet"]
    assert not parts(plan.assignment.out.url)


def test_a_folder_of_somebody_else_is_refused(
    parcel: Parcel, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    rows = folder_of(a=worlds.people(3, seed=1))
    request = request_of(rows)
    out = Path(request.out)
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    for restart in (False, True):
        with pytest.raises(FileError, match=r"holds 'notes.txt' and no _proce.json"):
            plan_run(parcel, replace(request, restart=restart))
    (out / MARKER).write_text("{}")
    with pytest.raises(FileError, match=r"no _proce.json of a run of ours"):
        plan_run(parcel, request)
    assert (out / "notes.txt").read_text() == "mine"


def test_parts_of_another_run_are_refused_until_they_are_discarded(
    parcel: Parcel, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    rows = folder_of(a=worlds.people(3, seed=1))
    request = request_of(rows)
    run(parcel, request, client)
    other = replace(request, options={**OPTIONS, "n": 1})
    with pytest.raises(FileError, match=r"another run \(options differ\).*--restart"):
        plan_run(parcel, other)
    (Path(request.out) / "kept.txt").write_text("mine")
    for restart in (False, True):
        with pytest.raises(FileError, match=r"holds 'kept.txt', which no run of ours writes"):
            plan_run(parcel, replace(other, restart=restart))
    (Path(request.out) / "kept.txt").unlink()
    run(parcel, replace(other, restart=True), client)
    assert lines(request.out)["rank"].max() == 1
    folder_of(a=worlds.people(4, seed=5))
    with pytest.raises(FileError, match="whose rows have changed since"):
        run(parcel, other, client)


def test_rows_and_results_are_kept_apart(
    parcel: Parcel, folder_of: FolderOf, request_of: Any
) -> None:
    rows = folder_of(a=worlds.people(3, seed=1))
    for out in (rows, rows / "out", rows.parent):
        with pytest.raises(FileError, match="or lies among them"):
            plan_run(parcel, request_of(rows, out=str(out)))
    with pytest.raises(FileError, match="give each a folder"):
        plan_run(parcel, request_of(rows, outcomes=request_of("").out))


def test_a_store_behind_a_url_will_do(
    banker: ProCE, parcel: Parcel, client: Client, request_of: Any
) -> None:
    store, frame = fsspec.filesystem("memory"), customers(9, 1)
    store.pipe_file("/bank/rows/a.parquet", frame.to_parquet(index=False))
    try:
        request = request_of("memory://bank/rows", out="memory://bank/out")
        run(parcel, request, client)
        names = [name for name in store.ls("/bank/out", detail=False) if "part-" in name]
        tables = [pq.read_table(pa.BufferReader(store.cat_file(name))) for name in sorted(names)]
    finally:
        store.rm("/bank", recursive=True)
    expected, _ = in_one_process(banker, a=frame)
    got = pa.concat_tables(tables).to_pandas()
    assert_frame_equal(got, expected[list(got.columns)])


def test_a_full_disk_ends_the_run_and_keeps_what_is_whole(
    parcel: Parcel,
    client: Client,
    folder_of: FolderOf,
    request_of: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    request = request_of(folder_of(a=worlds.people(24, seed=1)))
    plan = plan_run(parcel, request)
    write = place._write_draft

    def full(files: Any, draft: str, content: bytes) -> None:
        if "part-00000-00001" in draft:
            with files.open(draft, "wb") as stream:
                stream.write(content[:100])
            raise OSError(28, "No space left on device")
        write(files, draft, content)

    monkeypatch.setattr(place, "_write_draft", full)
    with pytest.raises(OSError, match=r"No space left on device \(.*part-00000-00001.*make room"):
        run_plan(plan, client)
    assert not list(Path(request.out).glob(".*"))
    assert all(pq.read_table(part) is not None for part in parts(request.out))
    monkeypatch.setattr(place, "_write_draft", write)
    assert run(parcel, request, client).rows.tally.total() == 24


def test_an_interrupted_run_keeps_its_parts_and_goes_on(
    parcel: Parcel, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    request = request_of(folder_of(a=worlds.people(80, seed=1)), piece_rows=4)
    plan = plan_run(parcel, request)

    def stop(progress: RunProgress) -> None:
        if progress.done >= 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_plan(plan, client, stop)
    assert 2 <= len(parts(request.out)) < 20
    summary = run(parcel, request, client)
    assert summary.n_done_before >= 8
    assert summary.rows.tally.total() == 80
    assert len(parts(request.out)) == 20


def test_a_worker_of_another_version_is_refused(
    parcel: Parcel,
    client: Client,
    folder_of: FolderOf,
    request_of: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan: Plan = plan_run(parcel, request_of(folder_of(a=worlds.people(3, seed=1))))
    monkeypatch.setattr(task, "__version__", "0.0.1")
    with pytest.raises(WorkerError, match=r"a worker has proce 0.0.1"):
        task.explain_piece(plan.parcel, plan.assignment, plan.pieces[0])
