"""A folder goes through a cluster as through one process: every row is there once."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client
from pandas.testing import assert_frame_equal

from proce import ProCE, Progress
from proce.batch.cluster.explainer_payload import ExplainerPayload, pack
from proce.batch.cluster.outputs import MARKER
from proce.batch.cluster.plan import plan_run
from proce.batch.cluster.run import run_plan
from proce.errors import FileError, SearchError

from ... import worlds
from .jobs import FolderOf, customers, in_one_process, lines, parts, run


def test_every_row_is_there_once_with_the_values_of_one_process(
    banker: ProCE, payload: ExplainerPayload, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    frames = {"a": customers(11, 1), "b": customers(0, 2), "c": customers(8, 3)}
    outcomes = Path(request_of("").out).with_name("outcomes")
    request = request_of(
        folder_of(**frames), outcomes=str(outcomes), id_name="customer", chunk_rows=3
    )
    told: list[Progress] = []
    summary = run_plan(plan_run(payload, request), client, told.append)
    assert summary.rows.tally.total() == 19
    assert not summary.failures
    assert [each.done for each in told] == sorted(each.done for each in told)
    assert (told[-1].done, told[-1].total) == (19, 19)
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
    payload: ExplainerPayload, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    """Another order, narrower numbers, a dictionary, and nobody for whom something is found."""
    narrow = worlds.people(6, seed=1).astype({"age": "int8", "debt": "float32"})
    narrow = narrow.astype({"home": "category"})[list(worlds.SCHEMA.names[::-1])]
    rich = worlds.people(4, seed=2).assign(savings=100, debt=0)
    rows = folder_of(a=worlds.people(6, seed=1), b=narrow, c=rich, d=worlds.people(0))
    request = request_of(rows)
    run(payload, request, client)
    schemas = {pq.read_schema(part).remove_metadata() for part in parts(request.out)}
    assert len(parts(request.out)) == 4
    assert len(schemas) == 1
    found = lines(request.out)
    assert set(found["file"]) == {"a.parquet", "b.parquet"}
    by_file = [
        part.drop(columns="file").reset_index(drop=True) for _, part in found.groupby("file")
    ]
    assert_frame_equal(*by_file)


@pytest.mark.parametrize("kind", ["int64", "int32", "float64", "string", "missing"])
def test_ids_keep_their_type(
    payload: ExplainerPayload, client: Client, folder_of: FolderOf, request_of: Any, kind: str
) -> None:
    ids = {
        "int64": pd.array([2**62 + 1, None, 7], dtype="Int64"),
        "int32": pd.array([5, None, 7], dtype="Int32"),
        "float64": [0.5, 1.5, 2.5],
        "string": ["007", None, ""],
        "missing": [None, None, None],
    }[kind]
    frame = worlds.people(3, seed=1).assign(row=ids)
    request = request_of(folder_of(a=frame), id_name="row", outcomes=request_of("").out + "-all")
    run(payload, request, client)
    (part,) = parts(request.outcomes)
    table = pq.read_table(part)
    assert table.column_names[:3] == ["row", "file", "_row"]  # ours gives way
    assert kind == "missing" or table.schema.field("row").type == pa.type_for_alias(kind)
    assert table["row"].to_pylist() == pa.Table.from_pandas(frame)["row"].to_pylist()
    assert table["_row"].to_pylist() == [0, 1, 2]


def test_a_file_that_cannot_be_read_is_named_and_the_others_complete(
    banker: ProCE, payload: ExplainerPayload, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    frames = {name: customers(5, seed) for seed, name in enumerate("abcd")}
    rows = folder_of(**frames)
    (rows / "b.parquet").write_bytes(b"PAR1, but no more")
    damage_pages(rows / "c.parquet")
    request = request_of(rows)
    summary = run(payload, request, client)
    assert set(summary.failures) == {"b.parquet", "c.parquet"}
    assert "cannot be read as Parquet" in summary.failures["b.parquet"]
    assert set(lines(request.out)["file"]) == {"a.parquet", "d.parquet"}
    assert json.loads((Path(request.out) / MARKER).read_text())["finished"] is False
    written = {part: part.stat().st_mtime_ns for part in parts(request.out)}
    folder_of(b=frames["b"], c=frames["c"])
    again = run(payload, request, client)
    assert not again.failures
    assert again.rows.tally.total() == 20
    assert again.n_done_before == 10
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
    payload: ExplainerPayload,
    client: Client,
    folder_of: FolderOf,
    request_of: Any,
    frame: Any,
    reason: str,
) -> None:
    summary = run(payload, request_of(folder_of(a=worlds.people(3), b=frame)), client)
    assert set(summary.failures) == {"b.parquet"}
    assert pd.Series(summary.failures["b.parquet"]).str.contains(reason).all()
    assert summary.rows.tally.total() == 3


def test_ids_of_another_type_are_named(
    payload: ExplainerPayload, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    rows = folder_of(
        a=worlds.people(2).assign(key=[1, 2]),
        b=worlds.people(2).assign(key=["x", "y"]),
        c=worlds.people(2).assign(key=["x", "y"]),
    )
    summary = run(payload, request_of(rows, id_name="key"), client)
    assert summary.failures == {
        "a.parquet": "its ids are int64, and those of most files string; convert them."
    }


def test_ids_of_another_width_are_written_in_the_widest(
    payload: ExplainerPayload, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    narrow = worlds.people(2).assign(key=pd.Series([1, 2], dtype="int32"))
    rows = folder_of(a=narrow, b=narrow, c=worlds.people(1).assign(key=[2**40]))
    request = request_of(rows, id_name="key", outcomes=request_of("").out + "-all")
    assert not run(payload, request, client).failures
    assert lines(request.outcomes)["key"].tolist() == [1, 2, 1, 2, 2**40]


def test_outdated_files_of_a_delta_table_are_not_read(
    payload: ExplainerPayload, folder_of: FolderOf, request_of: Any
) -> None:
    rows = folder_of(a=worlds.people(3))
    (rows / "_delta_log").mkdir()
    with pytest.raises(FileError, match="is a Delta table"):
        plan_run(payload, request_of(rows))


def test_where_no_file_fits_the_request_is_wrong(
    payload: ExplainerPayload, folder_of: FolderOf, request_of: Any
) -> None:
    rows = folder_of(a=worlds.people(3).drop(columns="debt"))
    with pytest.raises(FileError, match=r"no file that can be read; a.parquet: it lacks"):
        plan_run(payload, request_of(rows))
    with pytest.raises(SearchError, match="pick is 'best'"):
        plan_run(payload, request_of(rows, options={"pick": "best"}))


def test_numbers_of_32_bits_stay_so_where_all_files_have_them(
    client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    """As one process does it: the answer is then a number that such a column holds."""
    options = {"target": 1, "n": 1, "keep_front": False}
    explainer = ProCE(worlds.lender, settings=worlds.TINY).fit(worlds.applicants())
    narrow = worlds.applicants(4, seed=1).astype({"income": "float32"})
    request = request_of(folder_of(a=narrow, b=narrow), options=options)
    run(pack(explainer), request, client)
    assert pq.read_schema(parts(request.out)[0]).field("income").type == pa.float32()
    expected = explainer.explain(pa.Table.from_pandas(narrow), **options).to_frame().to_pandas()
    found = lines(request.out)
    for name in ("a.parquet", "b.parquet"):
        own = found[found["file"] == name].drop(columns="file").reset_index(drop=True)
        assert_frame_equal(own, expected)
    mixed = folder_of("mixed", a=narrow, b=worlds.applicants(4, seed=1))
    request = request_of(mixed, options=options, out=request.out + "-mixed")
    plan = plan_run(pack(explainer), request)
    assert plan.assignment.line_schema.field("income").type == pa.float64()
