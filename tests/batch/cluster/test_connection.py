"""A cluster that cannot be used is refused in words, before any work."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from copy import deepcopy
from typing import Any

import pytest
from distributed import Client

from proce.batch.cluster import connection
from proce.batch.cluster.connection import connect, refuse_other_versions
from proce.errors import WorkerError


@contextmanager
def port(*, listening: bool) -> Iterator[int]:
    """Yield a port of this machine on which nobody answers."""
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        if listening:
            one.listen()
        yield one.getsockname()[1]


@pytest.mark.parametrize("listening", [False, True])
@pytest.mark.parametrize("seconds", [1, pytest.param(None, marks=pytest.mark.slow, id="usual")])
def test_a_scheduler_that_does_not_answer_is_an_error_in_time(
    seconds: int | None, listening: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if seconds is not None:
        monkeypatch.setattr(connection, "_CONNECT_SECONDS", seconds)
        monkeypatch.setattr(connection, "_GREET_SECONDS", 2 * seconds)
    failures: list[Exception] = []

    def ask(address: str) -> None:
        try:
            with connect(address):
                pass
        except Exception as error:
            failures.append(error)

    with port(listening=listening) as number:
        address = f"tcp://127.0.0.1:{number}"
        asking = threading.Thread(target=ask, args=(address,), daemon=True)
        asking.start()
        asking.join(timeout=10)
        assert not asking.is_alive()
    (failure,) = failures
    assert isinstance(failure, WorkerError)
    assert f"the scheduler '{address}' does not answer" in str(failure)


@pytest.mark.parametrize("address", ["nowhere", "tcp://127.0.0.1", "ftp://127.0.0.1:1"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(WorkerError, match="does not answer"), connect(address):
        pass


def test_a_scheduler_that_answers_is_used(client: Client) -> None:
    address = client.cluster.scheduler_address
    with connect(address) as own:
        assert own.scheduler.address == address
        assert own.submit(sum, [1, 2]).result(timeout=10) == 3
    assert client.status == "running"


@pytest.fixture
def versions(client: Client) -> dict[str, Any]:
    """Return what a cluster says is installed on its machines."""
    return deepcopy(client.get_versions(packages=["proce"]))


def test_machines_with_the_same_versions_are_taken(versions: dict[str, Any]) -> None:
    refuse_other_versions(versions)
    versions["scheduler"]["packages"]["proce"] = None  # which explains nothing
    refuse_other_versions(versions)


@pytest.mark.parametrize("package", ["dask", "distributed", "proce"])
@pytest.mark.parametrize("other", ["1.0", None])
def test_another_version_on_a_worker_is_refused(
    versions: dict[str, Any], package: str, other: str | None
) -> None:
    worker = next(iter(versions["workers"].values()))
    worker["packages"][package] = other
    with pytest.raises(WorkerError, match=f"the worker .* has {package} {other or 'not inst'}"):
        refuse_other_versions(versions)


def test_another_version_on_the_scheduler_is_refused(versions: dict[str, Any]) -> None:
    versions["scheduler"]["host"]["python"] = "3.99.1.final.0"
    with pytest.raises(WorkerError, match=r"the scheduler has python 3.99, and this machine"):
        refuse_other_versions(versions)
    versions["scheduler"] = None
    with pytest.raises(WorkerError, match="does not say"):
        refuse_other_versions(versions)
