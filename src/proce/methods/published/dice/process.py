"""DiCE's process, from this side: started when needed, ended when a row takes too long."""

import multiprocessing
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from proce.methods.published.dice.worker import Answer, Ask, Kit, Question, Values, serve

_PATIENCE = 0.2  # seconds between two looks at whether the caller still wants it


@dataclass(eq=False)
class DiceProcess:
    """A process that answers one question after the other; use it in a ``with`` block.

    It is forked where the system can do that, which is quick. The model stays on this side
    (but for a network whose gradient is needed), so it may be anything.
    """

    kit: Kit
    start_method: str | None = None
    _process: Any = field(default=None, init=False)
    _pipe: Any = field(default=None, init=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def ask(
        self,
        question: Question,
        respond: Callable[[Values | None], Values | None],
        seconds: float,
        over: Callable[[], bool],
    ) -> Answer | None:
        """Return DiCE's answer, or None where it takes too long or the caller has had enough.

        Parameters
        ----------
        question
            The row.
        respond
            What answers DiCE's own questions.
        seconds
            The time limit.
        over
            Whether the whole call must end.
        """
        if self._process is None:
            self._start()
        ends = time.monotonic() + seconds
        try:
            self._pipe.send(question)
            while not over() and (left := ends - time.monotonic()) > 0:
                if not self._pipe.poll(min(left, _PATIENCE)):
                    continue
                said = self._pipe.recv()
                if isinstance(said, Answer):
                    return said
                assert isinstance(said, Ask)
                self._pipe.send(respond(said.rows))
        except (EOFError, OSError):
            self._process.join(_PATIENCE)
            code = self._process.exitcode
            self.end()
            if code is None:  # not the pipe's failure, but the model's
                raise
            rows = np.empty((0, len(question.own)))
            return Answer(rows, f"DiCE's process ended by itself (exit {code}).")
        except BaseException:  # the model's own failure, or the keyboard
            self.end()
            raise
        self.end()
        return None

    def end(self) -> None:
        """End the process, whatever it is doing."""
        if self._process is None:
            return
        self._process.kill()
        self._process.join()
        self._pipe.close()
        self._process = self._pipe = None

    def _start(self) -> None:
        known = multiprocessing.get_all_start_methods()
        method = self.start_method or ("fork" if "fork" in known else "spawn")
        context: Any = multiprocessing.get_context(method)
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=serve, args=(self.kit, theirs, self._pipe), daemon=True
        )
        with warnings.catch_warnings():
            # Later Pythons warn of a fork beside threads; a child that hangs is ended here.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        theirs.close()
