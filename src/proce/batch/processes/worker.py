"""A worker process, as its parent sees it."""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing import Pipe
from typing import Any

import cloudpickle

from proce.batch.processes.pieces import Piece, Work
from proce.batch.processes.serving import receive, send
from proce.errors import WorkerError

_END_SECONDS = 5.0  # for a killed process to be gone
_ONE_THREAD = ("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def pickled(work: Work) -> bytes:
    """Return a work as every worker gets it; functions of the main program go along whole."""
    try:
        content: bytes = cloudpickle.dumps(work)
    except (pickle.PicklingError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise WorkerError(
            f"what the workers need cannot be sent to them: {error}. Load or make in a function of"
            " your own what cannot be copied, such as an open file or a connection."
        ) from error
    return content


class Worker:
    """A process that handles one piece after the other.

    It is a new interpreter, not a fork: what OpenMP has started in this process would hang in a
    fork, and a fresh one keeps every library to one thread. It has a session of its own, so that
    Ctrl-C reaches the parent alone, which then ends it. What it prints goes to stderr.

    Parameters
    ----------
    work
        The pickled work that it does.
    """

    def __init__(self, work: bytes) -> None:
        self.link, theirs = Pipe()
        command = (sys.executable, "-P", "-m", "proce.batch.processes.serving")
        self.process = subprocess.Popen(
            [*command, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=2,
            env=_environment(os.environ),
            start_new_session=True,
        )
        theirs.close()
        self.piece: Piece | None = None
        self.is_ready = False
        self.n_finished = 0  # rows of its piece
        with suppress(OSError):  # it is dead already, which is noticed later
            self.link.send_bytes(work)

    def give(self, piece: Piece) -> None:
        """Hand over a piece; a worker that dies meanwhile is noticed later."""
        self.piece, self.n_finished = piece, 0
        with suppress(OSError):
            send(self.link, piece)

    def message(self) -> tuple[str, Any] | None:
        """Return the next message.

        ``None`` where the process is gone: its link then ends, after what it has still sent.
        """
        try:
            kind, content = receive(self.link)
        except (EOFError, OSError):
            return None
        return kind, content

    def end(self) -> None:
        """End the process, whatever it does."""
        self.link.close()
        self.process.kill()
        self.process.wait(_END_SECONDS)

    def death(self) -> str:
        """Return in words how the process ended, whose link has ended."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_END_SECONDS)
        self.end()
        code = self.process.returncode
        if code >= 0:
            return f"its process ended with exit code {code}"
        name = signal.Signals(-code).name if -code in list(signal.Signals) else f"signal {-code}"
        return f"its process was ended by {name}"


def _environment(own: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a worker: one thread, and the same modules as here."""
    paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
    return {**own, **dict.fromkeys(_ONE_THREAD, "1"), "PYTHONPATH": paths}
