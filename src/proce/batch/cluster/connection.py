"""Reach the scheduler of a cluster, or start one on this machine."""

import asyncio
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from proce.errors import MissingExtraError, WorkerError

_CONNECT_SECONDS = 4  # to reach a port
_GREET_SECONDS = 7  # to reach it and be greeted as by a scheduler
_CLOSE_SECONDS = 20
# A terminal sends Ctrl-C to all processes; the one that started the workers ends them.
_IGNORE_INTERRUPTS = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
_PACKAGES = ("dask", "distributed", "fsspec")  # of an extra: not everybody has them
_LOGGERS = ("distributed", "asyncio", "tornado")


def require_dask() -> None:
    """Refuse to go on where Dask is not installed."""
    absent = [name for name in _PACKAGES if find_spec(name) is None]
    if absent:
        raise MissingExtraError(
            f"a cluster needs the package {absent[0]!r}, which is not installed. Install it with"
            " pip install 'proce[batch]'."
        )


@contextmanager
def connect(scheduler: str | None, n_workers: int = 1) -> Iterator[Any]:
    """Yield a client of a scheduler, or of a cluster of processes on this machine."""
    require_dask()
    with _quiet():
        if scheduler is None:
            with _local_cluster(n_workers) as client:
                yield client
            return
        client = _reach(scheduler)
        try:
            refuse_other_versions(client.get_versions(packages=["proce"]))
            yield client
        finally:
            client.close(timeout=_CLOSE_SECONDS)


def refuse_other_versions(versions: Mapping[str, Any]) -> None:
    """Refuse a cluster whose machines differ from this one in what they must share."""
    machines = [("the scheduler", versions["scheduler"])]
    machines += [(f"the worker {name}", own) for name, own in versions["workers"].items()]
    for place, (machine, theirs) in enumerate(machines):
        if theirs is None:
            raise WorkerError(f"{machine} does not say what is installed there; restart it.")
        for package in ("python", "dask", "distributed", "proce"):
            own, other = (_version(side, package) for side in (versions["client"], theirs))
            if other == own or (package == "proce" and place == 0):  # a scheduler needs none
                continue
            raise WorkerError(
                f"{machine} has {package} {other or 'not installed'}, and this machine has {own};"
                " install the same versions on all machines."
            )


def _version(machine: Mapping[str, Any], package: str) -> str | None:
    """Return the version of a package, of Python without its last number."""
    if package == "python":
        return ".".join(str(machine["host"]["python"]).split(".")[:2])
    found = machine["packages"].get(package)
    return None if found is None else str(found)


def _reach(scheduler: str) -> Any:
    from distributed import Client

    try:
        asyncio.run(asyncio.wait_for(_greet(scheduler), _GREET_SECONDS))
        return Client(scheduler, timeout=_CONNECT_SECONDS, set_as_default=False, name="proce")
    except (OSError, TimeoutError, ValueError, RuntimeError) as error:
        silence = f"nothing came back in {_GREET_SECONDS} seconds"
        reason = (str(error).strip().splitlines() or [silence])[0].rstrip(".")
        raise WorkerError(
            f"the scheduler {scheduler!r} does not answer: {reason}. Check that it runs and can be"
            " reached from here, or leave --scheduler out to start a cluster on this machine."
        ) from error


async def _greet(scheduler: str) -> None:
    """Exchange greetings with a scheduler; a client would wait for them without end."""
    from distributed import Security
    from distributed.comm.core import connect as reach

    arguments = Security().get_connection_args("client")
    channel = await reach(scheduler, timeout=_CONNECT_SECONDS, **arguments)
    await channel.close()


@contextmanager
def _local_cluster(n_workers: int) -> Iterator[Any]:
    from distributed import Client, LocalCluster

    try:
        cluster = LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            preload=[_IGNORE_INTERRUPTS],
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            silence_logs=logging.CRITICAL,
        )
    except (OSError, TimeoutError, RuntimeError) as error:
        raise WorkerError(f"no cluster could be started on this machine: {error}.") from error
    try:
        with Client(cluster, set_as_default=False, timeout=_CONNECT_SECONDS) as client:
            yield client
    finally:
        cluster.close(timeout=_CLOSE_SECONDS)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask from logging what this package says in its own words."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
