"""One process that serves: sockets, signals, start and end."""

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp
from uvicorn.loops.auto import auto_loop_factory

from proce.errors import WorkerError
from proce.server.app import make_app
from proce.server.explainer_api.opening import open_explainer_api
from proce.server.guard import GuardSettings, Tokens, add_guards, require_safe_exposure
from proce.server.jobs import Jobs
from proce.server.routes.operations import measures_of
from proce.server.routes.service import Limits, Service, Settings
from proce.server.store import Retention, Store, StoreThreads, apply_retention
from proce.server.workers import Workers, WorkersSettings

_BACKLOG = 512
_MAX_CONNECTIONS = 768  # of 1,024 files that a process may usually have open
_MAX_HEAD_BYTES = 32_768
_OPEN_SECONDS = 600.0  # where nothing is compiled yet
_CONNECTION_SECONDS = 2  # for requests that are being answered when the service ends
_IDLE_SECONDS = 5  # between two requests of a connection
_JOB_SECONDS = 0.5  # for explanations that run when the service ends
_OVERTIME_SECONDS = 10.0  # from the end of a search's time to the end of its worker


@dataclass(frozen=True)
class ServeOptions:
    """What ``proce serve`` was told."""

    folder: Path
    rows: Path | None
    id_name: str | None
    target: str | None  # the class that people want; ``None`` where that is not known
    title: str
    host: str
    port: int
    token_file: Path | None
    allowed_hosts: tuple[str, ...]
    database: str
    keep_days: float | None
    keep_records: int | None
    workers: int
    queue: int
    limits: Limits


def uvicorn_config(app: ASGIApp, max_connections: int = _MAX_CONNECTIONS) -> uvicorn.Config:
    """Return how connections are served; h11 is the protocol that bounds heads and trailers."""
    return uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        lifespan="off",
        server_header=False,
        http="h11",
        ws="none",
        proxy_headers=False,
        limit_concurrency=max_connections,
        h11_max_incomplete_event_size=_MAX_HEAD_BYTES,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_CONNECTION_SECONDS,
    )


class _Server(uvicorn.Server):
    """A server that leaves signals to its caller."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none: the caller turns signals into the end of the server."""
        yield


def serve(options: ServeOptions, say: Callable[[str], None]) -> None:
    """Serve until Ctrl-C or SIGTERM; ``say`` is told the address once the workers are ready."""
    require_safe_exposure(options.host, options.token_file, options.allowed_hosts)
    tokens = None if options.token_file is None else Tokens(options.token_file)
    guard = GuardSettings(
        host=options.host,
        tokens=tokens,
        allowed_hosts=options.allowed_hosts,
        body_bytes=options.limits.body_bytes,
    )
    retention = Retention(days=options.keep_days, records=options.keep_records)
    with (
        _listen(options.host, options.port) as listener,
        closing(Store.open(options.database)) as store,
        asyncio.Runner(loop_factory=auto_loop_factory()) as runner,
    ):
        runner.run(_serve(options, guard, retention, listener, store, say))


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise WorkerError(
            f"cannot listen on {host}, port {port}: {error.strerror or error}. Choose another with"
            " --port; --port 0 takes any that is free."
        ) from None
    return listener


async def _serve(
    options: ServeOptions,
    guard: GuardSettings,
    retention: Retention,
    listener: socket.socket,
    store: Store,
    say: Callable[[str], None],
) -> None:
    async with _service(options, store) as service:
        server = _Server(uvicorn_config(add_guards(make_app(service), guard, service.metrics)))
        serving = asyncio.create_task(server.serve([listener]))
        loading = asyncio.create_task(service.load())
        keeping = asyncio.create_task(apply_retention(store, service.threads, retention))
        stopping = asyncio.create_task(_until_signal(server))
        try:
            await asyncio.wait({serving, loading, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if loading.done():
                loading.result()
                say(f"The page is at http://{_address(listener)}/ (Ctrl-C ends the service).")
                await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (loading, keeping, stopping):
                task.cancel()
            await asyncio.gather(loading, keeping, stopping, return_exceptions=True)
            # Who waits for an explanation is told that it was interrupted, and only then cut off.
            await service.jobs.close(_JOB_SECONDS)
            server.should_exit = True
            await serving


async def _until_signal(server: _Server) -> None:
    """Return when Ctrl-C or SIGTERM comes; another one ends connections at once."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()

    def handle() -> None:
        server.force_exit = stop.is_set()
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, handle)
    await stop.wait()


@asynccontextmanager
async def _service(options: ServeOptions, store: Store) -> AsyncIterator[Service]:
    """Make the workers and the jobs; end them in order."""
    opener = partial(
        open_explainer_api,
        options.folder,
        options.rows,
        id_name=options.id_name,
        title=options.title,
        target=options.target,
    )
    seconds = options.limits.seconds + _OVERTIME_SECONDS
    workers = Workers(
        opener,
        WorkersSettings(
            n_explain=options.workers, explain_seconds=seconds, open_seconds=_OPEN_SECONDS
        ),
    )
    with closing(StoreThreads()) as threads:
        jobs = Jobs(workers, store, threads, options.queue)
        settings = Settings(
            title=options.title,
            limits=options.limits,
            token_required=options.token_file is not None,
            has_rows=options.rows is not None,
        )
        try:
            await jobs.start()
            yield Service(workers, jobs, store, threads, settings, measures_of(workers, jobs))
        finally:
            await workers.close()


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
