"""Workers that are new interpreters, where a system cannot fork."""

import multiprocessing
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from proce.processes.fork_server import DYING_SECONDS, WorkerProcess, death_words
from proce.processes.worker import serve


class SpawnServer:
    """Starts workers by ``multiprocessing``, which imports the main module of the program again."""

    def start_worker(self, is_wanted: Callable[[], bool] = lambda: True) -> WorkerProcess:
        """Return a new process that waits for its initialiser; any thread may ask."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        return _SpawnedProcess(process, ours)

    def interrupt(self) -> None:
        """Do nothing: a start does not wait."""

    def close(self) -> None:
        """Do nothing: there is no server."""


class _SpawnedProcess(WorkerProcess):
    """A worker that is a child of this process."""

    def __init__(self, process: Any, link: Any) -> None:
        super().__init__(process.pid, link, [process.sentinel])
        self.process = process

    def kill(self) -> None:
        self.process.kill()

    def end(self) -> str:
        self.process.join(DYING_SECONDS)
        self.kill()
        self.process.join()
        code = self.process.exitcode
        self.link.close()
        self.process.close()
        return death_words(code)


def _serve(link: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
    serve(link)
