"""What a worker process does: open an explainer once, then answer calls until its parent is gone.

A message is a kind, the number of the call that it belongs to, and a content.
"""

import os
import pickle
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from proce.batch.processes.serving import portable, receive, send
from proce.errors import ProceError

CALL, STOP = "call", "stop"
READY, BEGUN, PROGRESS, DONE, RAISED = "ready", "begun", "progress", "done", "raised"
OUT_OF_MEMORY = os.EX_UNAVAILABLE  # the exit code of a worker whose memory did not suffice
_EXTRA_OOM_SCORE, _MAX_OOM_SCORE = 500, 1000
_REPORT_SECONDS = 0.05  # between two reports of progress


@dataclass(frozen=True)
class Question:
    """What a worker is asked: a method of its explainer, by name, and the arguments.

    A method that ``reports`` also gets a function ``progress``, which takes the values to be told
    and returns False once the method should stop.
    """

    method: str
    arguments: dict[str, Any]
    reports: bool = False


def serve(link: Connection) -> None:
    """Call the opener that comes first, then answer questions until the parent closes the link."""
    os.register_at_fork(after_in_child=link.close)  # else a child of ours would hold it open
    _go_first()
    with suppress(EOFError, OSError):  # the parent is gone
        opener = link.recv_bytes()
        try:
            api = pickle.loads(opener)()  # noqa: S301 - from our parent
        except Exception as error:
            send(link, (RAISED, None, portable(error)))
            return
        send(link, (READY, None, None))
        while True:
            kind, number, question = receive(link)
            if kind == CALL:  # else a stop that came too late
                send(link, (BEGUN, number, None))
                link.send_bytes(_answer(api, question, _Reports(link, number)))


def _go_first() -> None:
    """Have the system end this process before the service where memory is short."""
    score = Path("/proc/self/oom_score_adj")
    with suppress(OSError):  # another system
        own = int(score.read_text())
        score.write_text(str(min(own + _EXTRA_OOM_SCORE, _MAX_OOM_SCORE)))


def _answer(api: Any, question: Question, reports: "_Reports") -> bytes:
    progress: dict[str, Callable[[Any], bool]] = {"progress": reports} if question.reports else {}
    try:
        value = getattr(api, question.method)(**question.arguments, **progress)
        return pickle.dumps((DONE, reports.number, value))
    except MemoryError:
        os._exit(OUT_OF_MEMORY)  # what is left of the process may be damaged
    except Exception as error:
        told = portable(error)
        if not isinstance(error, ProceError):
            told.add_note("".join(traceback.format_exception(error)))
        return pickle.dumps((RAISED, reports.number, told))


class _Reports:
    """What a method calls with its progress; it returns False once the method should stop."""

    def __init__(self, link: Connection, number: int) -> None:
        self.link, self.number = link, number
        self.is_stopped = False
        self.next_report = 0.0  # on the monotonic clock

    def __call__(self, values: Any) -> bool:
        try:
            self._look()
            if time.monotonic() >= self.next_report:
                send(self.link, (PROGRESS, self.number, values))
                self.next_report = time.monotonic() + _REPORT_SECONDS
        except (EOFError, OSError):
            os._exit(os.EX_OK)  # the parent is gone, and nobody wants the answer
        return not self.is_stopped

    def _look(self) -> None:
        while self.link.poll():
            kind, number, _ = receive(self.link)
            self.is_stopped |= kind == STOP and number == self.number
