"""What a worker process does: wait for a piece, handle it, send back what came of it."""

import os
import pickle
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from threadpoolctl import threadpool_limits

from proce.batch.processes.pieces import Piece, Work

READY, PROGRESS, DONE, RAISED = "ready", "progress", "done", "raised"
_POLL_SECONDS = 1.0  # between two looks whether the parent still lives
_REPORT_SECONDS = 0.2  # between two reports of progress


def serve(work: Work, link: Connection, parent: int) -> None:
    """Handle pieces until the parent closes the link, or is gone.

    Parameters
    ----------
    work
        What to do.
    link
        Where pieces come from and values go to.
    parent
        The process id of the parent.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's; it ends the workers
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    with threadpool_limits(1):
        use_one_thread()
        try:
            do = work.open()
        except Exception as error:
            send(link, RAISED, portable(error))
            return
        send(link, READY, None)
        while (piece := _next_piece(link, parent)) is not None:
            send(link, *_handled(do, piece, link))


def _handled(
    do: Callable[[Piece, Callable[[int], None]], Any], piece: Piece, link: Connection
) -> tuple[str, Any]:
    last_report = time.monotonic()

    def report(n_rows: int) -> None:
        nonlocal last_report
        if time.monotonic() - last_report > _REPORT_SECONDS:
            last_report = time.monotonic()
            send(link, PROGRESS, n_rows)

    try:
        return DONE, do(piece, report)
    except MemoryError:
        os._exit(os.EX_UNAVAILABLE)  # as good as dead; a smaller piece may fit
    except Exception as error:
        return RAISED, portable(error)


def _next_piece(link: Connection, parent: int) -> Piece | None:
    """Wait for a piece; ``None`` when there will be none.

    Forked siblings hold the parent's end of the link open too, so its end does not tell of the
    parent's.
    """
    while not link.poll(_POLL_SECONDS):
        if os.getppid() != parent:
            return None
    try:
        piece: Piece | None = receive(link)
    except EOFError:
        return None
    return piece


def use_one_thread() -> None:
    """Let torch and Arrow use one thread: there are as many processes as cores."""
    import pyarrow as pa
    import torch

    torch.set_num_threads(1)
    pa.set_cpu_count(1)


def send(link: Connection, *message: Any) -> None:
    """Send values to the other process.

    ``Connection.send`` would put tensors into shared memory, a file handle for each.
    """
    link.send_bytes(pickle.dumps(message if len(message) > 1 else message[0]))


def receive(link: Connection) -> Any:
    """Return what the other process, which is our own child or parent, has sent."""
    return pickle.loads(link.recv_bytes())  # noqa: S301 - from our own process, by a pipe


def portable(error: Exception) -> Exception:
    """Return an error that survives the way to the parent."""
    try:
        copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - of our own making
        if type(copy) is type(error) and str(copy) == str(error):
            return error
    except Exception:
        pass
    return RuntimeError(f"{type(error).__name__}: {error}")
