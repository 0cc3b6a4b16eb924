"""DiCE's process as its caller holds it: started when needed, ended when a row takes too long."""

import multiprocessing
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from proce.arrays import Floats
from proce.methods.published.dice.messages import DiceAnswer, DiceQuery, ScoreRequest
from proce.methods.published.dice.worker import DiceSetup, serve

_POLL_SECONDS = 0.2  # between two looks at whether the caller still wants an answer


@dataclass(eq=False)
class DiceProcess:
    """A process that answers one query after the other; use it in a ``with`` block.

    The process is forked where the system can do that, which is quick. The model stays in the
    caller's process (but for a network whose gradient is needed), so it may be anything.

    Attributes
    ----------
    setup
        What DiCE needs for any row.
    start_method
        How the process is started, as ``multiprocessing`` names it; by default ``fork`` where
        the system has it and ``spawn`` elsewhere.
    """

    setup: DiceSetup
    start_method: str | None = None
    _process: Any = field(default=None, init=False)
    _pipe: Any = field(default=None, init=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def ask(
        self,
        query: DiceQuery,
        score: Callable[[Floats | None], Floats | None],
        max_seconds: float,
        is_over: Callable[[], bool],
    ) -> DiceAnswer | None:
        """Return DiCE's answer, or None where it takes too long or the whole call must end.

        Parameters
        ----------
        query
            The row.
        score
            Answers a :class:`ScoreRequest`; None where the row has no evaluations left.
        max_seconds
            The time limit.
        is_over
            Whether the whole call must end.
        """
        if self._process is None:
            self._start()
        deadline = time.monotonic() + max_seconds
        try:
            self._pipe.send(query)
            while not is_over() and (seconds_left := deadline - time.monotonic()) > 0:
                if not self._pipe.poll(min(seconds_left, _POLL_SECONDS)):
                    continue
                message = self._pipe.recv()
                if isinstance(message, DiceAnswer):
                    return message
                assert isinstance(message, ScoreRequest)
                self._pipe.send(score(message.rows))
        except (EOFError, OSError):
            self._process.join(_POLL_SECONDS)
            code = self._process.exitcode
            self.end()
            if code is None:  # not the pipe's failure, but the model's
                raise
            rows = np.empty((0, len(query.own)))
            return DiceAnswer(rows, f"DiCE's process ended by itself (exit {code}).")
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
            target=serve, args=(self.setup, theirs, self._pipe), daemon=True
        )
        with warnings.catch_warnings():
            # Later Pythons warn of a fork beside threads; a child that hangs is ended here.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        theirs.close()
