"""A worker process, as its parent sees it."""

import multiprocessing
import os
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

from proce.batch.processes.pieces import Piece, Work
from proce.batch.processes.serving import receive, send, serve

_END_SECONDS = 5.0  # for a worker to go when it is asked to


class Worker:
    """A process that handles one piece after the other.

    Parameters
    ----------
    work
        What it does. A forked process has it from its parent, a spawned one gets a copy.
    start
        How the process is made: ``fork`` or ``spawn``.
    """

    def __init__(self, work: Work, start: str) -> None:
        context: Any = multiprocessing.get_context(start)
        ours, theirs = context.Pipe()
        self.link: Connection = ours
        self.process: Any = context.Process(
            target=serve, args=(work, theirs, os.getpid()), daemon=True, name="proce-worker"
        )
        with _quiet_start():
            self.process.start()
        theirs.close()
        self.piece: Piece | None = None
        self.is_ready = False
        self.n_finished = 0  # rows of its piece

    def give(self, piece: Piece) -> None:
        """Hand over a piece; a worker that dies meanwhile is noticed later."""
        self.piece, self.n_finished = piece, 0
        with suppress(OSError):
            send(self.link, piece)

    def message(self) -> tuple[str, Any] | None:
        """Return a message that waits; ``None`` where the worker is dead and has left none."""
        try:
            if not self.link.poll():
                return None
            kind, content = receive(self.link)
        except (EOFError, OSError):
            return None
        return kind, content

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return bool(self.process.is_alive())

    def death(self) -> str:
        """Return in words how the process ended."""
        self.process.join(_END_SECONDS)
        code = self.process.exitcode
        if code is None or code >= 0:
            return f"its process ended with exit code {code}"
        name = signal.Signals(-code).name if -code in list(signal.Signals) else f"signal {-code}"
        return f"its process was ended by {name}"

    def end(self) -> None:
        """End the process, whatever it does."""
        with suppress(OSError):
            self.link.close()
        if self.process.is_alive():
            self.process.kill()
        self.process.join(_END_SECONDS)


@contextmanager
def _quiet_start() -> Iterator[None]:
    """Keep Ctrl-C away until the new process ignores it, and Python from warning of threads.

    A forked process has none of its parent's threads. What it uses, torch and Arrow, copes with
    that as long as it works with one thread of its own.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", message=".*multi-threaded", category=DeprecationWarning
            )
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
