"""The log as text."""

import csv
import io
import json
import tracemalloc

import pytest
from sqlalchemy import insert, select, text

from proce.server.store import RecordFilter, Retention, Store
from proce.server.store import export as export_module
from proce.server.store.export import ExportFormat
from proce.server.store.tables import EXPLANATIONS, RESULTS


def finish(store: Store, request: dict[str, object], result: str) -> str:
    id = store.create(request, "applicant").id
    store.finish(id, results={"auditor": result}, summary={"found": 1}, provenance={})
    return id


def test_lines_of_json_hold_records_with_results_the_oldest_first(store: Store) -> None:
    ids = [finish(store, {"n": n}, json.dumps({"of": n}, indent=1)) for n in range(3)]
    ids.append(store.create({"n": 3}, "auditor").id)
    lines = [json.loads(line) for line in "".join(store.export("jsonl")).splitlines()]
    assert [line["id"] for line in lines] == ids
    assert [line["result"] for line in lines] == [{"of": 0}, {"of": 1}, {"of": 2}, None]
    assert lines[0]["request"] == {"n": 0}
    assert (lines[0]["status"], lines[3]["status"]) == ("done", "queued")


def test_an_export_is_filtered_and_may_be_empty(store: Store) -> None:
    finish(store, {}, "{}")
    waiting = store.create({}, "auditor").id
    only = "".join(store.export("jsonl", RecordFilter(status="queued")))
    assert json.loads(only)["id"] == waiting
    none = RecordFilter(status="failed")
    assert "".join(store.export("jsonl", none)) == ""
    assert "".join(store.export("csv", none)).count("\n") == 1


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_of_a_csv_is_taken_for_a_formula(store: Store, sign: str) -> None:
    id = store.create({"x": 'quote " comma , line \n'}, "applicant").id
    store.end(id, "failed", f"{sign}HYPERLINK('evil')")
    (row,) = csv.DictReader(io.StringIO("".join(store.export("csv")), newline=""))
    assert row["error"] == f"'{sign}HYPERLINK('evil')"
    assert json.loads(row["request"]) == {"x": 'quote " comma , line \n'}
    assert (row["status"], row["summary"]) == ("failed", "")


def test_pieces_stay_small_however_long_the_log_is(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_module, "_BATCH", 4)
    monkeypatch.setattr(export_module, "_MAX_CHARACTERS", 2_000)
    ids = [finish(store, {}, json.dumps("x" * size)) for size in [900] * 9 + [50_000, 10, 10]]
    pieces = list(store.export("jsonl"))
    lines = [json.loads(line) for piece in pieces for line in piece.splitlines()]
    assert [line["id"] for line in lines] == ids
    assert max(len(piece.splitlines()) for piece in pieces) <= 4
    assert sum(len(piece) > 10_000 for piece in pieces) == 1


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_long_requests_come_in_small_pieces_too(
    store: Store, monkeypatch: pytest.MonkeyPatch, form: ExportFormat
) -> None:
    monkeypatch.setattr(export_module, "_MAX_CHARACTERS", 2_000)
    for _ in range(6):
        store.create({"rows": ["x" * 900]}, "applicant")
    pieces = list(store.export(form))
    assert "".join(pieces).count("\n") == 6 + (form == "csv")
    assert max(map(len, pieces)) < 4_000


def test_what_is_removed_while_an_export_runs_is_left_out(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_module, "_MAX_CHARACTERS", 1)
    ids = [finish(store, {}, "{}") for _ in range(4)]
    pieces = store.export("jsonl")
    text = next(pieces)
    store.remove_batch(Retention(records=1))
    text += "".join(pieces)
    assert [json.loads(line)["id"] for line in text.splitlines()] == [ids[0], ids[3]]


def test_what_is_written_while_an_export_runs_disturbs_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_module, "_BATCH", 2)
    ids = [finish(store, {}, "{}") for _ in range(4)]
    pieces = store.export("jsonl")
    text = next(pieces)
    ids.append(finish(store, {}, "{}"))  # nothing is locked while a client is slow
    text += "".join(pieces)
    assert [json.loads(line)["id"] for line in text.splitlines()] == ids


def copy_many_times(store: Store, doublings: int) -> None:
    """Double the records and the results of a log, inside the database."""
    table = EXPLANATIONS.c
    copied = [column for column in table if column.name not in ("number", "id")]
    with store._database.writing() as connection:
        sqlite = connection.dialect.name == "sqlite"
        new_id = text("lower(hex(randomblob(16)))" if sqlite else "md5(random()::text)")
        for _ in range(doublings):
            rows = select(new_id, *copied)
            names = ["id", *(column.name for column in copied)]
            connection.execute(insert(EXPLANATIONS).from_select(names, rows))
        results = select(table.number, RESULTS.c.view, RESULTS.c.size, RESULTS.c.text).select_from(
            EXPLANATIONS.join(RESULTS, table.number != RESULTS.c.number)
        )
        connection.execute(insert(RESULTS).from_select(["number", "view", "size", "text"], results))


@pytest.mark.slow
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_an_export_needs_far_less_memory_than_it_writes(store: Store, form: ExportFormat) -> None:
    finish(store, {"rows": [{"x": "y" * 200}]}, json.dumps("z" * 2_000))
    copy_many_times(store, 15)  # 80 MB of text, 26 MB in csv
    tracemalloc.start()
    try:
        n_lines = sum(piece.count("\n") for piece in store.export(form))
        assert n_lines == 2**15 + (form == "csv")
        assert tracemalloc.get_traced_memory()[1] < 12e6
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_a_long_log_is_removed_in_batches(store: Store) -> None:
    finish(store, {}, "{}")
    copy_many_times(store, 14)
    n_removed = 0
    while batch := store.remove_batch(Retention(records=1_000)):
        assert batch <= 1_000
        n_removed += batch
    assert n_removed == 2**14 - 1_000
    assert store.records().total == 1_000
