"""What a worker process does: make its state once, then do tasks until its parent is gone.

A message is a kind, the number of the task that it belongs to, and a content, all of it pickled:
the link joins a process and its own child, and nothing else.
"""

import os
import pickle
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import cloudpickle

from proce.errors import ProceError, WorkerError

TASK, STOP, ANSWER = "task", "stop", "answer"
READY, BEGUN, PROGRESS, QUESTION = "ready", "begun", "progress", "question"
DONE, RAISED = "done", "raised"
OUT_OF_MEMORY = 69  # the exit code of a worker whose memory did not suffice
_EXTRA_OOM_SCORE, _MAX_OOM_SCORE = 500, 1000
_REPORT_SECONDS = 0.05  # between two reports of progress


def pickled(initialiser: Callable[[], Any]) -> bytes:
    """Return what makes a worker's state as bytes; functions of the main program go along whole."""
    try:
        content: bytes = cloudpickle.dumps(initialiser)
    except (pickle.PicklingError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise WorkerError(
            f"what the workers need cannot be sent to them: {error}. Load or make in a function of"
            " your own what cannot be copied, such as a lock or a connection."
        ) from error
    return content


def serve(link: Connection) -> None:
    """Call the initialiser that comes first, then do tasks until the parent closes the link."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=link.close)  # else a child of ours would hold it open
    _raise_oom_score()
    with suppress(EOFError, OSError):  # the parent is gone
        initialiser = link.recv_bytes()
        try:
            state = pickle.loads(initialiser)()  # noqa: S301 - from our parent
        except Exception as error:
            send(link, (RAISED, None, picklable_error(error)))
            return
        send(link, (READY, None, None))
        while True:
            kind, number, content = receive(link)
            if kind == TASK:  # else a stop that came too late
                send(link, (BEGUN, number, None))
                link.send_bytes(_answer(state, content, Progress(link, number)))


def _raise_oom_score() -> None:
    """Have the system end this process before its parent where memory is short."""
    score = Path("/proc/self/oom_score_adj")
    with suppress(OSError):  # another system
        own = int(score.read_text())
        score.write_text(str(min(own + _EXTRA_OOM_SCORE, _MAX_OOM_SCORE)))


def _answer(state: Any, call: tuple[str, dict[str, Any], bool], progress: "Progress") -> bytes:
    method, arguments, reports = call
    listener: dict[str, Any] = {"progress": progress} if reports else {}
    try:
        value = getattr(state, method)(**arguments, **listener)
        return pickle.dumps((DONE, progress.number, value))
    except MemoryError:
        os._exit(OUT_OF_MEMORY)  # what is left of the process may be damaged
    except Exception as error:
        told = picklable_error(error)
        if not isinstance(error, ProceError):
            told.add_note("".join(traceback.format_exception(error)))
        return pickle.dumps((RAISED, progress.number, told))


class Progress:
    """What a method calls with its progress; it returns False once the method should stop."""

    def __init__(self, link: Connection, number: int) -> None:
        self.link, self.number = link, number
        self.is_stopped = False
        self.next_report = 0.0  # on the monotonic clock

    def __call__(self, values: Any) -> bool:
        """Tell how far the method is, now and then."""
        try:
            while self.link.poll():
                kind, number, _ = receive(self.link)
                self.is_stopped |= kind == STOP and number == self.number
            if time.monotonic() >= self.next_report:
                send(self.link, (PROGRESS, self.number, values))
                self.next_report = time.monotonic() + _REPORT_SECONDS
        except (EOFError, OSError):
            os._exit(0)  # the parent is gone, and nobody wants the answer
        return not self.is_stopped

    def ask(self, question: Any) -> Any:
        """Return what whoever gave the task answers."""
        try:
            send(self.link, (QUESTION, self.number, question))
            while True:
                kind, number, answer = receive(self.link)
                if kind == ANSWER and number == self.number:
                    return answer
        except (EOFError, OSError):
            os._exit(0)


def send(link: Connection, content: Any) -> None:
    """Send values to the other process."""
    link.send_bytes(pickle.dumps(content))


def receive(link: Connection) -> Any:
    """Return what the other process has sent."""
    return pickle.loads(link.recv_bytes())  # noqa: S301 - from our own child or parent


def picklable_error(error: Exception) -> Exception:
    """Return an error that survives the way to the parent."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - of our own making
    except Exception:
        with suppress(Exception):
            if isinstance(error, ProceError):
                return type(error)(str(error))
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
