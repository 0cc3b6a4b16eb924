"""DiCE's process as its caller holds it: started when needed, ended when a row takes too long."""

import atexit
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from queue import Empty, SimpleQueue
from typing import Any, Self

from proce.arrays import Floats
from proce.methods.published.dice.messages import DiceAnswer, DiceQuery
from proce.methods.published.dice.worker import DiceSetup, DiceWorker, modules_of
from proce.processes.fork_server import ForkServer
from proce.processes.pool import PoolSettings, WorkerPool
from proce.processes.spawn_server import SpawnServer
from proce.processes.task import Task, TaskCancelled, TaskTimedOut
from proce.processes.worker import pickled

_POLL_SECONDS = 0.2  # between two looks at whether the caller still wants an answer
_OPEN_SECONDS = 300.0  # for the imports, on a machine that is very busy


@dataclass(eq=False)
class DiceProcess:
    """A process that answers one query after the other; use it in a ``with`` block."""

    # The model stays in the caller's process (but for a network whose gradient is needed), so it
    # may be anything.
    setup: DiceSetup
    start_method: str | None = None  # fork (from a clean process) or spawn, if not the first it has
    _pool: WorkerPool | None = field(default=None, init=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.close()

    def ask(
        self,
        query: DiceQuery,
        score: Callable[[Floats | None], Floats | None],
        max_seconds: float,
        is_over: Callable[[], bool],
    ) -> DiceAnswer | None:
        """Return DiCE's answer, or None where it takes too long or the whole call must end."""
        if self._pool is None:
            work = pickled(partial(DiceWorker, self.setup))
            settings = PoolSettings(1, grace_seconds=0.0, open_seconds=_OPEN_SECONDS)
            self._pool = WorkerPool(work, _server(self.setup.method, self.start_method), settings)
        questions: SimpleQueue[Any] = SimpleQueue()
        task = Task(
            "answer",
            {"query": query},
            reports=True,
            on_question=questions.put,
            seconds=max_seconds,
            n_tries=1,  # what it has asked is spent
        )
        task.future.add_done_callback(questions.put)
        self._pool.submit(task)
        while not task.future.done():
            if is_over():
                task.cancel()
            try:
                question = questions.get(timeout=_POLL_SECONDS)
            except Empty:
                continue
            if question is not task.future:
                task.answer(score(question))
        try:
            answer: DiceAnswer = task.future.result()
        except (TaskCancelled, TaskTimedOut):
            return None
        return answer


@cache
def _server(method: str, start_method: str | None) -> ForkServer | SpawnServer:
    """Return what starts processes of DiCE, one for the whole program: its imports take seconds."""
    if start_method == "spawn" or not hasattr(os, "fork"):
        return SpawnServer()
    server = ForkServer(modules_of(method))
    atexit.register(server.close)
    return server


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_server.cache_clear)
