"""What is kept, and what is removed."""

import asyncio
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from proce.errors import StoreError
from proce.server.store import Retention, Store, StoreThreads, apply_retention
from proce.server.store import database as database_module
from proce.server.store import store as store_module
from proce.server.store.tables import EXPLANATIONS, RESULTS, VIEWS


def finish(store: Store, days_ago: float = 0, size: int = 10) -> str:
    """Write an ended record of some days ago."""
    id = store.create({}, "applicant").id
    store.finish(id, results={"auditor": "x" * size}, summary={}, provenance={})
    _age(store, EXPLANATIONS, id, days_ago)
    return id


def _age(store: Store, table: object, id: str, days_ago: float) -> None:
    created = datetime.now(UTC) - timedelta(days=days_ago)
    with store._database.writing() as connection:
        connection.execute(
            update(table).where(table.c.id == id).values(created=created)  # type: ignore
        )


def prune(store: Store, retention: Retention) -> int:
    removed = 0
    while batch := store.remove_batch(retention):
        removed += batch
    return removed


def n_results(store: Store) -> int | None:
    with store._database.reading() as connection:
        return connection.scalar(select(func.count()).select_from(RESULTS))


def test_without_limits_everything_is_kept(store: Store) -> None:
    finish(store, 9_999)
    assert prune(store, Retention()) == 0


def test_old_records_go_with_their_results(store: Store) -> None:
    old, young = finish(store, 31), finish(store, 29)
    assert prune(store, Retention(days=30)) == 1
    assert store.record(old) is None
    assert store.result(young, "auditor") is not None
    assert n_results(store) == 1


def test_of_too_many_records_the_newest_stay(store: Store) -> None:
    ids = [finish(store) for _ in range(7)]
    assert prune(store, Retention(records=3)) == 4
    assert [record.id for record in store.records().records] == ids[:3:-1]


def test_what_has_not_ended_is_never_removed_nor_counted(store: Store) -> None:
    waiting = store.create({}, "applicant").id
    _age(store, EXPLANATIONS, waiting, 99)
    ids = [finish(store) for _ in range(2)]
    assert prune(store, Retention(days=30, records=2)) == 0
    assert store.records().total == len(ids) + 1


def test_views_go_by_age_and_by_number(store: Store) -> None:
    ids = [store.save_view({"n": n}, "applicant") for n in range(5)]
    _age(store, VIEWS, ids[4], 31)
    assert prune(store, Retention(days=30, views=2)) == 4
    assert [store.view(id) is not None for id in ids] == [False, False, False, True, False]


def test_a_batch_is_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_BATCH", 2)
    for _ in range(5):
        finish(store, 31)
    batches = [store.remove_batch(Retention(days=30)) for _ in range(4)]
    assert batches == [2, 2, 1, 0]


def test_space_is_given_back_to_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kept.sqlite"
    store = Store.open(path)
    for _ in range(20):
        finish(store, 31, size=100_000)
    store.give_back_space()
    before = os.path.getsize(path)
    prune(store, Retention(days=30))
    monkeypatch.setattr(database_module, "_FREED_PAGES", 200)
    assert store.give_back_space()  # some of it, and more is left
    while store.give_back_space():
        pass
    assert os.path.getsize(path) < before / 10
    assert not path.with_name(path.name + "-wal").stat().st_size
    store.close()


def test_a_file_that_gives_nothing_back_is_let_be(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    with closing(sqlite3.connect(path)) as other:  # made by another program, without our setting
        other.execute("CREATE TABLE notes (text TEXT)")
    store = Store.open(path)
    finish(store, 31, size=1_000_000)
    prune(store, Retention(days=30))
    assert not store.give_back_space()
    store.close()


async def test_retention_runs_at_the_start_and_again(store: Store) -> None:
    finish(store, 31)
    with closing(StoreThreads()) as threads:
        retention = Retention(days=30)
        task = asyncio.ensure_future(apply_retention(store, threads, retention, 0.01))
        for _ in range(2):
            async with asyncio.timeout(10):
                while (await threads.read(store.records)).total:
                    await asyncio.sleep(0.01)
            await threads.write(finish, store, 31)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_database_that_fails_is_tried_again(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    again = asyncio.Event()
    outcomes = iter([StoreError("the disk is full"), StoreError("still")])

    def remove(retention: Retention) -> int:
        failure = next(outcomes, None)
        if failure is not None:
            raise failure
        again.set()
        return 0

    monkeypatch.setattr(store, "remove_batch", remove)
    with closing(StoreThreads()) as threads:
        task = asyncio.ensure_future(apply_retention(store, threads, Retention(), 0))
        async with asyncio.timeout(10):
            while not again.is_set():
                await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert "retention is postponed: the disk is full" in caplog.text


@pytest.mark.parametrize(
    "limits", [{"days": 0}, {"days": -1}, {"days": float("nan")}, {"records": 0}, {"views": 0}]
)
def test_senseless_limits_are_refused(limits: dict[str, float]) -> None:
    with pytest.raises(StoreError, match="retention of"):
        Retention(**limits)  # type: ignore[arg-type]
