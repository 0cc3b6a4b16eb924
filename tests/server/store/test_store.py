"""A record's life, the same in SQLite and in PostgreSQL."""

import json
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from proce import __version__
from proce.errors import StoreError
from proce.server.store import RecordFilter, Store

REQUEST = {"rows": [{"age": 41, "job": "clerk"}], "n": 2}
RESULTS = {"applicant": '{"view": "applicant"}', "auditor": '{"view": "auditor"}'}


def finish(store: Store, id: str, results: dict[str, str] = RESULTS) -> bool:
    return store.finish(id, results=results, summary={"found": 1}, provenance={"model": "abc"})


def test_a_record_is_queued_then_running_then_done_with_its_result(store: Store) -> None:
    queued = store.create(REQUEST, "applicant")
    assert store.record(queued.id) == queued
    assert (queued.status, queued.version, queued.ended) == ("queued", __version__, False)

    assert store.start(queued.id)
    running = store.record(queued.id)
    assert running is not None
    assert (running.status, running.started is not None) == ("running", True)
    assert store.result(queued.id, "auditor") is None

    assert finish(store, queued.id)
    done = store.record(queued.id)
    assert done is not None
    assert (done.status, done.ended, done.summary) == ("done", True, {"found": 1})
    assert (done.request, done.provenance, done.error) == (REQUEST, {"model": "abc"}, None)
    assert done.created <= done.started <= done.finished <= datetime.now(UTC)  # type: ignore[operator]
    assert store.result(queued.id, "applicant") == RESULTS["applicant"]
    assert store.result(queued.id, "auditor") == RESULTS["auditor"]


def test_a_record_as_json_has_times_in_utc(store: Store) -> None:
    value = store.create(REQUEST, "auditor").as_json()
    assert value["created"].endswith("Z")
    assert datetime.fromisoformat(value["created"]).tzinfo is not None
    assert (value["started"], value["role"]) == (None, "auditor")
    json.dumps(value)


def test_a_record_that_was_never_marked_running_takes_its_start_from_the_end(store: Store) -> None:
    id = store.create(REQUEST, "applicant").id
    begun = datetime(2030, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    store.finish(id, results={}, summary={}, provenance={}, started=begun)
    record = store.record(id)
    assert record is not None
    assert record.started == begun


@pytest.mark.parametrize("first", ["done", "failed", "cancelled", "interrupted"])
def test_an_ended_record_is_never_changed(store: Store, first: Any) -> None:
    id = store.create(REQUEST, "applicant").id
    assert finish(store, id) if first == "done" else store.end(id, first, "why it ended")
    before = store.record(id), store.result(id, "auditor")

    assert not store.start(id)
    assert not finish(store, id, {"auditor": "{}"})
    assert not store.end(id, "failed", "a late worker")
    assert (store.record(id), store.result(id, "auditor")) == before


def test_of_many_writers_at_once_one_ends_a_record(address: str) -> None:
    stores = [Store.open(address) for _ in range(4)]
    id = stores[0].create(REQUEST, "applicant").id
    barrier, written = threading.Barrier(4), []

    def write(store: Store) -> None:
        barrier.wait(10)
        written.append(finish(store, id))

    threads = [threading.Thread(target=write, args=[store]) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    for store in stores:
        store.close()
    assert sorted(written) == [False, False, False, True]


def test_an_unknown_id_is_no_record_and_cannot_be_ended(store: Store) -> None:
    assert store.record("0" * 32) is None
    assert store.result("0" * 32, "auditor") is None
    assert store.view("0" * 32) is None
    assert not store.start("0" * 32)
    assert not store.end("0" * 32, "failed", None)


def test_equal_results_are_kept_once_and_an_applicant_never_gets_the_auditors(
    store: Store,
) -> None:
    same, only = (store.create(REQUEST, "applicant").id for _ in range(2))
    finish(store, same, {"applicant": "{}", "auditor": "{}"})
    finish(store, only, {"auditor": '{"secret": 1}'})
    assert [store.result(same, "applicant"), store.result(same, "auditor")] == ["{}", "{}"]
    assert store.result(only, "applicant") is None
    assert store.result(only, "auditor") == '{"secret": 1}'


def test_a_restart_marks_what_was_unfinished_and_loses_nothing(address: str) -> None:
    before = Store.open(address)
    queued, running, done = (before.create(REQUEST, "applicant").id for _ in range(3))
    before.start(running)
    finish(before, done)
    before.close()

    after = Store.open(address)
    assert after.interrupt_unfinished() == 2
    statuses = [record.status for record in after.records().records]
    assert statuses == ["done", "interrupted", "interrupted"]
    record = after.record(queued)
    assert record is not None
    assert "Ask for it again" in str(record.error)
    assert after.result(done, "auditor") == RESULTS["auditor"]
    after.close()


def test_a_second_service_is_refused_while_the_first_runs(address: str) -> None:
    first, second = Store.open(address), Store.open(address)
    id = first.create(REQUEST, "applicant").id
    first.interrupt_unfinished()
    first.interrupt_unfinished()  # its own claim does not stand in the way
    with pytest.raises(StoreError, match="another proce serve uses it"):
        second.interrupt_unfinished()
    first.close()
    second.interrupt_unfinished()
    record = second.record(id)
    assert record is not None
    assert record.status == "interrupted"
    second.close()


def test_the_log_is_filtered_and_paged_newest_first(store: Store) -> None:
    ids = [store.create({"n": n}, "auditor" if n % 2 else "applicant").id for n in range(7)]
    for id in ids[:3]:
        finish(store, id)
    page = store.records(limit=3, offset=2)
    assert (page.total, [record.id for record in page.records]) == (7, ids[4:1:-1])
    assert store.records(RecordFilter(status="done")).total == 3

    third = store.record(ids[2])
    assert third is not None
    since = store.records(RecordFilter(since=third.created))
    until = store.records(RecordFilter(until=third.created))
    assert [since.total, until.total] == [5, 2]
    later = RecordFilter(since=datetime.now(UTC) + timedelta(days=1))
    assert store.records(later).records == []


def test_the_log_leaves_long_fields_of_requests_out(store: Store) -> None:
    request = {"rows": [{"x": "y" * 50}] * 500, "target": "approved", "vary": ["age"]}
    id = store.create(request, "applicant").id
    (listed,) = store.records().records
    assert listed.request == {"target": "approved", "vary": ["age"]}
    whole = store.record(id)
    assert whole is not None
    assert whole.request == request


def test_hostile_text_comes_back_as_it_was(store: Store) -> None:
    hostile = {"<script>": "'; DROP TABLE proce_explanations; --", "\ud800": "\0", "é😀\u202e": 1}
    id = store.create(hostile, "applicant").id
    record = store.record(id)
    assert record is not None
    assert record.request == hostile
    finish(store, id, {"applicant": '{"a": "\ud800"}'})
    assert json.loads(str(store.result(id, "applicant"))) == {"a": "\ud800"}
    other = store.create({}, "applicant").id
    assert store.end(other, "failed", "NUL \0 and half \udc00")
    ended = store.record(other)
    assert ended is not None
    assert ended.error == "NUL \ufffd and half ?"


def test_a_saved_view_is_restored_with_its_role(store: Store) -> None:
    state = {"screen": "cohort", "limits": {"age": [18, None]}}
    first, second = store.save_view(state, "auditor"), store.save_view(state, "applicant")
    assert first != second
    view = store.view(first)
    assert view is not None
    assert (view.state, view.role) == (state, "auditor")


def test_ids_cannot_be_guessed_from_one_another(store: Store) -> None:
    ids = [store.create({}, "applicant").id for _ in range(20)]
    assert len({id[:8] for id in ids}) == len({id[-8:] for id in ids}) == 20
    assert all(len(id) == 32 and int(id, 16) >= 0 for id in ids)
