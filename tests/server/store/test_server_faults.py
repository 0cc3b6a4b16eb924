"""Servers that cannot be reached, refuse or go away say so, in time and in words."""

import gc
import logging
import socket
import threading
from collections.abc import Iterator

import pytest
from sqlalchemy import text

from proce.errors import StoreError
from proce.server.store import Store

from .postgres import PASSWORD, administer, empty_database

# pg8000 leaves the socket of a connection that was refused or dropped to the collector.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"
)


@pytest.fixture(autouse=True)
def no_sockets_are_left() -> Iterator[None]:
    yield
    gc.collect()


def refusal(address: str, patience_seconds: float = 0.2) -> str:
    with pytest.raises(StoreError) as refused:
        Store.open(address, patience_seconds)
    return str(refused.value)


def test_a_server_that_is_not_there_is_told_without_a_password(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with caplog.at_level(logging.DEBUG):
            told = refusal(f"postgresql://clerk:s3cret@127.0.0.1:{port}/kept")
    assert "cannot be reached" in told
    assert f"clerk@127.0.0.1:{port}/kept" in told
    assert "s3cret" not in told + caplog.text


def test_a_server_that_accepts_and_never_answers_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        told = refusal(f"postgresql://clerk:s3cret@127.0.0.1:{port}/kept")
    assert "answer" in told


def test_a_name_that_is_never_resolved_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()

    def resolve(*arguments: object, **options: object) -> None:
        released.wait(30)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    try:
        assert "no answer within" in refusal("postgresql://clerk:s3cret@db.example/kept")
    finally:
        released.set()


def test_a_wrong_password_or_database_is_told(postgres_server: str) -> None:
    told = refusal(f"{postgres_server.replace(PASSWORD, 'wr0ng')}/postgres", 5)
    assert "refused the password" in told
    assert "wr0ng" not in told
    assert "no such database" in refusal(f"{postgres_server}/nowhere", 5)


def test_a_database_that_cannot_hold_every_text_is_refused(postgres_server: str) -> None:
    administer(
        postgres_server,
        "DROP DATABASE IF EXISTS western",
        "CREATE DATABASE western ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0",
    )
    told = refusal(f"{postgres_server}/western", 5)
    assert "encoding is LATIN1" in told
    administer(postgres_server, "DROP DATABASE western")


def drop_connections(store: Store) -> None:
    """Let the server end all connections but the one that asks for it."""
    with store._database.writing() as connection:
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )


@pytest.fixture
def two_stores(postgres_server: str) -> Iterator[tuple[Store, Store]]:
    address = empty_database(postgres_server)
    first, second = Store.open(address), Store.open(address)
    yield first, second
    first.close()
    second.close()


def test_a_server_that_dropped_its_connections_is_found_again(
    two_stores: tuple[Store, Store],
) -> None:
    first, second = two_stores
    id = first.create({}, "applicant").id
    drop_connections(second)
    assert first.record(id) is not None


def test_a_connection_that_the_system_says_is_gone_is_made_again(
    two_stores: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = two_stores
    id = first.create({}, "applicant").id
    asked = []

    def reset(connection: object) -> bool:
        asked.append(connection)
        raise ConnectionResetError

    monkeypatch.setattr(first._database._engine.dialect, "do_ping", reset)
    assert first.record(id) is not None
    assert len(asked) == 1


def test_a_claim_that_ended_with_its_connection_is_taken_again(
    two_stores: tuple[Store, Store],
) -> None:
    first, second = two_stores
    first.interrupt_unfinished()
    drop_connections(second)
    first.create({}, "applicant")
    with pytest.raises(StoreError, match="another proce serve uses it"):
        second.interrupt_unfinished()


def test_a_service_whose_claim_another_one_took_writes_no_new_records(
    two_stores: tuple[Store, Store],
) -> None:
    first, second = two_stores
    first.interrupt_unfinished()
    drop_connections(second)
    second.interrupt_unfinished()
    for _ in range(2):
        with pytest.raises(StoreError, match="another proce serve uses it"):
            first.create({}, "applicant")
