"""A file that is mended fits the parts that are there, or is named."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client

from proce import ProCE
from proce.batch.cluster.explainer_payload import ExplainerPayload, pack

from ... import worlds
from .jobs import FolderOf, lines, parts, run

OPTIONS = {"target": 1, "n": 1, "keep_front": False}


@pytest.fixture(scope="module")
def loans() -> ExplainerPayload:
    return pack(ProCE(worlds.lender, settings=worlds.TINY).fit(worlds.applicants()))


def damage(path: Path) -> None:
    path.write_bytes(b"PAR1, but no more")


def test_numbers_of_64_bits_beside_parts_of_32_are_named(
    loans: ExplainerPayload, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    wide = worlds.applicants(4, seed=1)
    narrow = wide.astype({"income": "float32"})
    rows = folder_of(a=narrow, b=narrow)
    damage(rows / "b.parquet")
    request = request_of(rows, options=OPTIONS)
    run(loans, request, client)
    folder_of(b=wide)
    summary = run(loans, request, client)
    assert summary.n_done_before == 4
    assert "its column 'income' is not of 32 bits" in summary.failures.pop("b.parquet")
    assert not summary.failures
    folder_of(b=narrow)
    assert not run(loans, request, client).failures
    types = {pq.read_schema(part).field("income").type for part in parts(request.out)}
    assert types == {pa.float32()}
    assert set(lines(request.out)["file"]) == {"a.parquet", "b.parquet"}


def test_a_file_that_can_no_longer_be_read_does_not_change_the_others(
    loans: ExplainerPayload, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    wide = worlds.applicants(4, seed=1)
    narrow = wide.astype({"income": "float32"})
    rows = folder_of(a=wide, b=narrow, c=narrow)
    damage(rows / "c.parquet")
    request = request_of(rows, options=OPTIONS)
    run(loans, request, client)
    damage(rows / "a.parquet")
    folder_of(c=narrow)
    summary = run(loans, request, client)
    assert set(summary.failures) == {"a.parquet"}
    assert summary.n_done_before == 4
    types = {pq.read_schema(part).field("income").type for part in parts(request.out)}
    assert types == {pa.float64()}


def test_ids_that_do_not_fit_the_parts_are_named(
    payload: ExplainerPayload, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    whole = worlds.people(2).assign(key=[1, 2])
    rows = folder_of(a=whole, b=whole, c=whole)
    for name in "bc":
        damage(rows / f"{name}.parquet")
    request = request_of(rows, id_name="key")
    run(payload, request, client)
    folder_of(b=whole.assign(key=["x", "y"]), c=whole.assign(key=["x", "y"]))
    summary = run(payload, request, client)
    assert set(summary.failures) == {"b.parquet", "c.parquet"}
    assert "its ids are string" in summary.failures["b.parquet"]
    folder_of(b=whole, c=whole)
    assert not run(payload, request, client).failures
