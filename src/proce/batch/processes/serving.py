"""What a worker process does: wait for a piece, handle it, send back what came of it.

What goes through the link is pickled. It joins a process and its own child, and nothing else.
"""

import os
import pickle
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from proce.batch.processes.pieces import Do, Piece
from proce.errors import ProceError

READY, BEGUN, PROGRESS, DONE, RAISED = "ready", "begun", "progress", "done", "raised"
_REPORT_SECONDS = 0.2  # between two reports of progress


def serve(link: Connection) -> None:
    """Open the work that comes first, then handle pieces until the parent closes the link."""
    os.register_at_fork(after_in_child=link.close)  # else a child of ours would hold it open
    try:
        do = pickle.loads(link.recv_bytes()).open()  # noqa: S301 - from our parent
    except Exception as error:
        send(link, (RAISED, portable(error)))
        return
    send(link, (READY, None))
    while (piece := _next_piece(link)) is not None:
        send(link, (BEGUN, None))
        send(link, _handled(do, piece, link))


def _next_piece(link: Connection) -> Piece | None:
    """Wait for a piece; ``None`` when there will be none, or the parent is gone."""
    try:
        piece: Piece = receive(link)
    except (EOFError, OSError):
        return None
    return piece


def _handled(do: Do, piece: Piece, link: Connection) -> tuple[str, Any]:
    last_report = time.monotonic()

    def report(n_rows: int) -> None:
        nonlocal last_report
        if time.monotonic() - last_report > _REPORT_SECONDS:
            last_report = time.monotonic()
            send(link, (PROGRESS, n_rows))

    try:
        return DONE, do(piece, report)
    except MemoryError:
        os._exit(os.EX_UNAVAILABLE)  # as good as dead; a smaller piece may fit
    except Exception as error:
        return RAISED, portable(error)


def send(link: Connection, content: Any) -> None:
    """Send values to the other process."""
    link.send_bytes(pickle.dumps(content))


def receive(link: Connection) -> Any:
    """Return what the other process has sent."""
    return pickle.loads(link.recv_bytes())  # noqa: S301 - from our own child or parent


def portable(error: Exception) -> Exception:
    """Return an error that survives the way to the parent."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - of our own making
    except Exception:
        with suppress(Exception):
            if isinstance(error, ProceError):
                return type(error)(str(error))
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
