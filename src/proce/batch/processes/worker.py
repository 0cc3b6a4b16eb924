"""A worker process, as its parent sees it."""

import os
import pickle
import signal
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Any

import cloudpickle

from proce.batch.processes.nursery import Nursery
from proce.batch.processes.pieces import Piece
from proce.batch.processes.serving import receive, send
from proce.errors import WorkerError


def pickled(work: object) -> bytes:
    """Return a work as every worker gets it; functions of the main program go along whole."""
    try:
        content: bytes = cloudpickle.dumps(work)
    except (pickle.PicklingError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise WorkerError(
            f"what the workers need cannot be sent to them: {error}. Load or make in a function of"
            " your own what cannot be copied, such as a lock or a connection."
        ) from error
    return content


def handles_of(process: int) -> list[int]:
    """Return a handle that becomes readable when a process ends, where the system has such."""
    try:
        return [os.pidfd_open(process)]
    except (AttributeError, OSError):
        return []


def death_words(exit_code: int | None) -> str:
    """Return in words how a process ended; ``None`` where nobody knows its exit code."""
    if exit_code is None:
        return "its process ended"
    if exit_code >= 0:
        return f"its process ended with exit code {exit_code}"
    known = -exit_code in list(signal.Signals)
    name = signal.Signals(-exit_code).name if known else f"signal {-exit_code}"
    return f"its process was ended by {name}"


class Worker:
    """A process that handles one piece after the other.

    Parameters
    ----------
    nursery
        What makes the process.
    work
        The pickled work that it does.
    """

    def __init__(self, nursery: Nursery, work: bytes) -> None:
        self.nursery = nursery
        self.process, self.link = nursery.make_worker()
        self.signs: list[Any] = [self.link, *handles_of(self.process)]  # one is ready: look at it
        self.piece: Piece | None = None
        self.is_ready = self.has_begun = False
        self.n_finished = 0  # rows of its piece
        with suppress(OSError):  # it is dead already, which is noticed later
            self.link.send_bytes(work)

    def give(self, piece: Piece) -> None:
        """Hand over a piece; a worker that dies meanwhile is noticed later."""
        self.piece, self.n_finished, self.has_begun = piece, 0, False
        with suppress(OSError):
            send(self.link, piece)

    def message(self) -> tuple[str, Any] | None:
        """Return the next message; ``None`` where the process is gone and has left none."""
        try:
            if self.signs[1:] and wait(self.signs[1:], 0) and not self.link.poll():
                return None  # a process that it has started may still hold the link
            kind, content = receive(self.link)
        except (EOFError, OSError):
            return None
        return kind, content

    def end(self) -> None:
        """End the process, whatever it does."""
        self._close()
        with suppress(ProcessLookupError):
            os.kill(self.process, signal.SIGKILL)
        self.nursery.exit_code(self.process)  # it is gone when this is known

    def _close(self) -> None:
        self.link.close()
        while len(self.signs) > 1:
            os.close(self.signs.pop())

    def death(self) -> str:
        """Return in words how the process ended, whose link has ended."""
        code = self.nursery.exit_code(self.process)
        self._close()
        return death_words(code)
