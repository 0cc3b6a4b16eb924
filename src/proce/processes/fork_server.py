"""A clean process that has imported what workers need, and forks them.

It is a new interpreter. What OpenMP or a model has started in the process that asks would hang in
a fork of it; this one starts nothing, keeps every library to one thread, and a worker that it
forks is ready in an instant. The fork server of ``multiprocessing`` is one for the whole program,
whose own processes would inherit these limits; it imports the program's main module again, and
its workers outlive a program that is killed.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait

from proce.errors import WorkerError
from proce.processes.worker import OUT_OF_MEMORY, serve

_START_SECONDS = 300.0  # for the imports, on a machine that is very busy
DYING_SECONDS = 1.0  # between the end of the link and the end of the process
_END_SECONDS = 5.0
_LOOK_SECONDS = 0.05  # between two tries to interrupt a start
_MAX_STARTS = 3  # of servers in a row that die before they have forked
_MAX_MESSAGE = 64  # bytes
_ONE_THREAD = ("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class WorkerProcess(ABC):
    """A process of a worker, as its parent holds it."""

    def __init__(self, pid: int, link: Connection, handles: list[int]) -> None:
        self.pid, self.link = pid, link
        self.handles = handles  # one is ready when the process has ended; none on some systems

    @abstractmethod
    def kill(self) -> None:
        """End the process, whatever it does."""

    @abstractmethod
    def end(self) -> str:
        """End the process, whose link has ended, and return in words how it has."""

    def message(self) -> bytes | None:
        """Wait for the next message; ``None`` where there will be none."""
        try:
            if self.link not in wait([self.link, *self.handles]):
                self.kill()  # it is dead, but what it has started may still hold the link
                if not self.link.poll():
                    return None
            return self.link.recv_bytes()
        except (EOFError, OSError):
            return None


class _ForkedProcess(WorkerProcess):
    """A worker that a server has forked, and that it can be asked about."""

    def __init__(self, pid: int, link: Connection, ask: Callable[[bytes], int]) -> None:
        handles = []
        with suppress(AttributeError, OSError):  # another system
            handles.append(os.pidfd_open(pid))
        super().__init__(pid, link, handles)
        self._ask = ask

    def kill(self) -> None:
        """End the process and all that it has started."""
        kill(self.pid)

    def end(self) -> str:
        self._wait(DYING_SECONDS)
        self.kill()
        try:
            code: int | None = self._ask(str(self.pid).encode())
        except OSError:  # its server is gone
            code = None
            self._wait(_END_SECONDS)
        self.link.close()
        while self.handles:
            os.close(self.handles.pop())
        return death_words(code)

    def _wait(self, seconds: float) -> None:
        if self.handles:
            wait(self.handles, seconds)


class ForkServer:
    """Forks workers from a clean process, and from another one where that has died."""

    # Modules that are not there are not preloaded; all the processes keep the held files open.
    def __init__(self, preload: Sequence[str] = (), held: Sequence[int] = ()) -> None:
        self.preload, self.held = preload, held
        self.is_closed = False
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._server: _Server | None = None

    def start_worker(self, is_wanted: Callable[[], bool] = lambda: True) -> WorkerProcess:
        """Return a new process that waits for its initialiser; any thread may ask."""
        with self._lock:
            for number in range(1, _MAX_STARTS + 1):
                if self.is_closed or not is_wanted():
                    break
                self._server = self._server or _Server(self.preload, self.held)
                ours, theirs = Pipe()
                try:
                    pid = self._server.ask(b"fork", [theirs.fileno()])
                    return _ForkedProcess(pid, ours, self._server.ask)
                except OSError as error:
                    ours.close()
                    self._server = None
                    if number == _MAX_STARTS:
                        raise WorkerError(
                            f"the process that makes workers is gone: {error}."
                        ) from error
                finally:
                    theirs.close()
        raise WorkerError("no worker is wanted any more.")

    def interrupt(self) -> None:
        """Kill the server where somebody waits for a worker of it, who then looks again."""
        if self._lock.locked() and (server := self._server) is not None:
            server.process.kill()

    def close(self) -> None:
        """End the server, even while it starts; a fork of its owner leaves it alone."""
        if os.getpid() != self._owner:
            return
        self.is_closed = True
        while not self._lock.acquire(timeout=_LOOK_SECONDS):
            self.interrupt()
        if self._server is not None:
            self._server.end()
            self._server = None
        self._lock.release()


class _Server:
    """One process that forks."""

    # Its session is its own, so that Ctrl-C reaches the parent alone, which then ends it. It and
    # its workers ignore SIGTERM, which some send to all processes of a service: the parent ends
    # them when it has ended its own affairs. What workers print goes to stderr.

    def __init__(self, preload: Sequence[str], held: Sequence[int]) -> None:
        self._lock = threading.Lock()
        self.control, theirs = socket.socketpair()
        self.process = subprocess.Popen(
            [
                # Unbuffered: a worker is ended by a signal, and what it has printed is not lost.
                *(sys.executable, "-u", "-P", "-m", __name__),
                str(theirs.fileno()),
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

    def ask(self, message: bytes, handles: Sequence[int] = ()) -> int:
        """Return a new worker, or the exit code of one that is ended; else the server has ended."""
        with self._lock:
            try:
                socket.send_fds(self.control, [message], handles)
                if answer := self.control.recv(_MAX_MESSAGE):
                    return int(answer)
                raise ConnectionError("it has ended")
            except OSError:
                self.end()  # or an answer that comes late would be taken for that to another
                raise

    def end(self) -> None:
        self.control.close()
        self.process.kill()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_END_SECONDS)


def kill(pid: int) -> None:
    """Kill a worker, with all that it has started: it leads a group of its own."""
    for end in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            end(pid, signal.SIGKILL)


def death_words(exit_code: int | None) -> str:
    """Return in words how a process ended; ``None`` where nobody knows its exit code."""
    if exit_code is None:
        return "its process ended"
    if exit_code == OUT_OF_MEMORY:
        return "it ran out of memory"
    if exit_code >= 0:
        return f"its process ended with exit code {exit_code}"
    known = -exit_code in list(signal.Signals)
    name = signal.Signals(-exit_code).name if known else f"signal {-exit_code}"
    return f"its process was ended by {name}"


def _environment(own: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of workers: one thread, and the same modules as here."""
    paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
    return {**own, **dict.fromkeys(_ONE_THREAD, "1"), "PYTHONPATH": paths}


def _fork_workers(control: socket.socket) -> None:
    """Fork a worker or end one, whenever the parent asks; end all when it is gone."""
    living: set[int] = set()
    try:
        while True:
            message, handles, _, _ = socket.recv_fds(control, _MAX_MESSAGE, 1)
            if not message:
                return
            if handles:
                pid = os.fork() or _serve(control, handles[0])
                living.add(pid)
                os.close(handles[0])
                control.send(str(pid).encode())
            else:
                living.discard(int(message))
                kill(int(message))
                _, status = os.waitpid(int(message), 0)
                control.send(str(os.waitstatus_to_exitcode(status)).encode())
    finally:
        for pid in living:
            kill(pid)


def _serve(control: socket.socket, link: int) -> int:
    """Be a worker, and end as one."""
    code = 1
    try:
        os.setsid()
        control.close()
        serve(Connection(link))
        code = 0
    except SystemExit as error:  # of a user's model
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _main(handle: str, *preload: str) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    for name in preload:
        with suppress(ImportError):
            import_module(name)
    with socket.socket(fileno=int(handle)) as control, suppress(ConnectionError):
        _fork_workers(control)


if __name__ == "__main__":
    _main(*sys.argv[1:])
