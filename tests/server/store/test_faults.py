"""Files that cannot be used say so, in time and in words."""

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import event, text

from proce.errors import StoreError
from proce.server.store import Store


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "kept.sqlite"
    Store.open(path).close()
    return path


def refusal(address: str | Path, patience_seconds: float = 0.2) -> str:
    with pytest.raises(StoreError) as refused:
        Store.open(address, patience_seconds)
    return str(refused.value)


def test_a_new_file_is_for_its_owner_alone(file: Path) -> None:
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_folder_that_is_absent_or_takes_no_file_is_told(tmp_path: Path) -> None:
    assert "folder must exist" in refusal(tmp_path / "nowhere" / "kept.sqlite")
    assert "folder must exist" in refusal("/proc/kept.sqlite")
    assert "cannot be opened" in refusal(tmp_path)


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"age,savings\n41,3\n" * 99, "not a SQLite database"), (b"SQLite format 3\0", "damaged")],
)
def test_a_file_that_is_no_database_is_left_as_it_is(
    tmp_path: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    told = refusal(path)
    assert words in told or "not a SQLite database" in told
    assert path.read_bytes() == content


def test_a_file_that_was_cut_short_is_told(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    assert "damaged" in refusal(file)


def test_a_locked_file_is_told_after_a_bounded_wait(file: Path) -> None:
    store = Store.open(file, patience_seconds=0.1)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another program has locked it"):
            store.create({}, "applicant")
        assert store.records().total == 0  # readers do not wait
        other.execute("ROLLBACK")
    assert store.create({}, "applicant").status == "queued"
    store.close()


def test_a_full_disk_is_told_and_loses_nothing_that_was_written(file: Path) -> None:
    store = Store.open(file)
    kept = store.create({}, "applicant").id
    with store._database.reading() as connection:
        pages = connection.scalar(text("PRAGMA page_count"))
    engine = store._database._engine
    engine.dispose()
    event.listen(
        engine, "connect", lambda raw, _: raw.execute(f"PRAGMA max_page_count = {pages + 2}")
    )
    with pytest.raises(StoreError, match="the disk is full"):
        store.finish(kept, results={"auditor": "x" * 100_000}, summary={}, provenance={})
    record = store.record(kept)
    assert record is not None
    assert record.status == "queued"
    assert store.result(kept, "auditor") is None
    store.close()


def test_a_read_only_database_is_told(file: Path) -> None:
    store = Store.open(file)
    engine = store._database._engine
    engine.dispose()
    event.listen(engine, "connect", lambda raw, _: raw.execute("PRAGMA query_only = ON"))
    with pytest.raises(StoreError, match="read-only"):
        store.create({}, "applicant")
    store.close()
