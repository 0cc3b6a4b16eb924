"""A process that has imported what workers need, and makes them by forking itself.

It is a new interpreter. What OpenMP or a model has started in the process that asks would hang in
a fork of it; this one starts nothing, keeps every library to one thread, and a worker that it
makes is ready in an instant.
"""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from proce.errors import WorkerError

_START_SECONDS = 300.0  # for the imports, on a machine that is very busy
_END_SECONDS = 10.0
_MAX_MESSAGE = 64  # bytes
_ONE_THREAD = ("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Nursery:
    """The process, as its parent sees it.

    It has a session of its own, so that Ctrl-C reaches the parent alone, which then ends it. It and
    its workers ignore SIGTERM, which some send to all processes of a service: the parent ends them
    when it has ended its own affairs. What workers print goes to stderr.

    Parameters
    ----------
    preload
        The modules that workers will need; one that is not there is left out.
    serving
        The module whose function ``serve`` a worker runs with its end of the link.
    held
        Open files that it and its workers hold until they end, such as that of a lock.
    """

    def __init__(
        self,
        preload: Sequence[str],
        serving: str = "proce.batch.processes.serving",
        held: Sequence[int] = (),
    ) -> None:
        self.control, theirs = socket.socketpair()
        self.process = subprocess.Popen(
            [
                # Unbuffered: a worker is ended by a signal, and what it has printed is not lost.
                *(sys.executable, "-u", "-P", "-m", "proce.batch.processes.nursery"),
                str(theirs.fileno()),
                serving,
                *preload,
            ],
            pass_fds=[theirs.fileno(), *held],
            stdin=subprocess.DEVNULL,
            stdout=2,
            env=_environment(os.environ),
            start_new_session=True,
        )
        theirs.close()
        self.control.settimeout(_START_SECONDS)

    def make_worker(self) -> tuple[int, Connection]:
        """Return the process id of a new worker, and the link to it."""
        ours, theirs = Pipe()
        try:
            socket.send_fds(self.control, [b"fork"], [theirs.fileno()])
            return int(self._answer()), ours
        except OSError as error:
            ours.close()
            self.end()
            raise WorkerError(f"the process that makes workers is gone: {error}.") from error
        finally:
            theirs.close()

    def exit_code(self, worker: int) -> int | None:
        """Return how a worker ended that is dead or dying; ``None`` where nobody knows."""
        try:
            self.control.send(str(worker).encode())
            return int(self._answer())
        except OSError:
            self.end()  # or an answer that comes late would be taken for that to another question
            return None

    def end(self) -> None:
        """End the process."""
        self.control.close()
        self.process.kill()
        self.process.wait(_END_SECONDS)

    def _answer(self) -> bytes:
        answer = self.control.recv(_MAX_MESSAGE)
        if not answer:
            raise ConnectionError("it has ended")
        return answer


def make_workers(control: socket.socket, serve: Callable[[Connection], None]) -> None:
    """Fork a worker that serves, whenever the parent asks, until it closes the control or is gone.

    The workers are then ended, whatever they do: nobody wants what they do any more.
    """
    living: set[int] = set()
    while True:
        message, handles, _, _ = socket.recv_fds(control, _MAX_MESSAGE, 1)
        if not message:
            for worker in living:
                end_process(worker)
            return
        if not handles:
            _, status = os.waitpid(int(message), 0)
            living.discard(int(message))
            control.send(str(os.waitstatus_to_exitcode(status)).encode())
            continue
        worker = os.fork()
        if worker == 0:
            control.close()
            serve(Connection(handles[0]))
            sys.stderr.flush()
            os._exit(0)
        living.add(worker)
        os.close(handles[0])
        control.send(str(worker).encode())


def end_process(worker: int) -> None:
    """End a process; with all that it has started, where it leads a group of its own."""
    for end in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            end(worker, signal.SIGKILL)


def _environment(own: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of workers: one thread, and the same modules as here."""
    paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
    return {**own, **dict.fromkeys(_ONE_THREAD, "1"), "PYTHONPATH": paths}


def _main(handle: str, serving: str, *preload: str) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    serve = import_module(serving).serve
    for name in preload:
        with suppress(ImportError):
            import_module(name)
    with socket.socket(fileno=int(handle)) as control, suppress(ConnectionError):
        make_workers(control, serve)


if __name__ == "__main__":
    _main(*sys.argv[1:])
