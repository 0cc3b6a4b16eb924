"""One process that serves: sockets, signals, start and end."""

import asyncio
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import uvicorn

from proce.errors import WorkerError
from proce.server.app import make_app
from proce.server.routes.interim import ThreadBackend
from proce.server.routes.service import Limits, Service, Settings

log = logging.getLogger(__name__)

_GRACE_SECONDS = 3
_BACKLOG = 512


@dataclass(frozen=True)
class ServeOptions:
    """What ``proce serve`` was told.

    Attributes
    ----------
    folder
        The saved explainer.
    rows, id_name
        The file of rows to pick from, and the column that names them.
    title
        What stands at the top of the page.
    host, port
        Where to listen; port 0 takes any that is free.
    token_file, allowed_hosts
        Who may ask, and under which names the service is reached.
    database, keep_days
        Where explanations are kept, and for how long.
    workers, queue
        How many processes explain, and how many explanations may wait.
    limits
        The most that one request may ask for.
    """

    folder: Path
    rows: Path | None
    id_name: str | None
    title: str
    host: str
    port: int
    token_file: Path | None
    allowed_hosts: tuple[str, ...]
    database: str
    keep_days: float | None
    workers: int
    queue: int
    limits: Limits


class _Server(uvicorn.Server):
    """A server that leaves signals to its caller."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none: the caller turns signals into the end of the server."""
        yield


def serve(options: ServeOptions, say: Callable[[str], None]) -> None:
    """Serve until Ctrl-C or SIGTERM; ``say`` is told the address once the workers are ready."""
    listener = _listen(options.host, options.port)
    with listener:
        asyncio.run(_serve(options, listener, say))


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
    options: ServeOptions, listener: socket.socket, say: Callable[[str], None]
) -> None:
    backend = ThreadBackend(lambda: _open_desk(options))
    app = make_app(Service(backend, _settings(options)))
    config = uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    server = _Server(config)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, lambda: setattr(server, "should_exit", True))
    serving = asyncio.create_task(server.serve([listener]))
    starting = asyncio.create_task(backend.start())
    try:
        await asyncio.wait({serving, starting}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            say(f"ProCE is at http://{_address(listener)}/ (Ctrl-C ends it)")
            await serving
    finally:
        server.should_exit = True
        starting.cancel()
        await backend.close()
        await serving


def _settings(options: ServeOptions) -> Settings:
    return Settings(
        title=options.title,
        limits=options.limits,
        token_required=options.token_file is not None,
        has_rows=options.rows is not None,
    )


def _open_desk(options: ServeOptions) -> object:
    try:
        desk = import_module("proce.server.desk")
    except ImportError:
        return object()
    opened: object = desk.Desk.open(options.folder, options.rows)
    return opened


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
