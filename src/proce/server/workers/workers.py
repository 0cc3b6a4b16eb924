"""The workers of a service: some explain, another answers questions meanwhile."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from proce.batch.processes.worker import pickled
from proce.server.workers.call import Call, CallTimedOut, OnProgress
from proce.server.workers.crew import Crew, CrewSettings
from proce.server.workers.maker import Maker
from proce.server.workers.serving import Question

_PRELOADED = (
    "proce.server.explainer_api.api",
    "proce.methods.saving.explainer",
    "proce.methods.phases.solve",
    "proce.classifier.saved",
    "numba",
)


@dataclass(frozen=True)
class WorkersSettings:
    """How many workers there are, and how long they may take.

    Attributes
    ----------
    n_explain
        How many processes explain.
    n_ask
        How many processes answer questions; with two or more, one is always free of documents.
    explain_seconds
        How long an explanation may take before its worker is killed.
    ask_seconds
        How long an answer may take, the time in which it waits included.
    document_seconds
        The same of a document.
    grace_seconds
        How long an explanation may go on after it was cancelled.
    open_seconds
        How long a worker may take to open its explainer.
    max_waiting
        How many questions may wait.
    max_documents
        How many documents may wait.
    preload
        The modules that workers need, which are imported once.
    """

    n_explain: int = 1
    n_ask: int = 2
    explain_seconds: float = 600.0
    ask_seconds: float = 30.0
    document_seconds: float = 120.0
    grace_seconds: float = 2.0
    open_seconds: float = 120.0
    max_waiting: int = 256
    max_documents: int = 16
    preload: tuple[str, ...] = _PRELOADED


@dataclass(frozen=True)
class WorkersState:
    """How the workers are.

    Attributes
    ----------
    total
        How many there should be.
    ready
        How many are open.
    busy
        How many of these have a call.
    waiting
        How many calls wait.
    restarts
        How many workers were replaced.
    retries
        How many calls were given to another worker after theirs died.
    processes
        The ids of the processes.
    """

    total: int
    ready: int
    busy: int
    waiting: int
    restarts: int
    retries: int
    processes: tuple[int, ...]


class Workers:
    """Worker processes, each of which opens an explainer once and then answers calls.

    To be made, used and closed in one event loop, which never waits for a worker. A worker that
    dies is replaced, and its call given to another, once. Whatever happens to this process, the
    workers end with it.

    Parameters
    ----------
    opener
        A function that opens an explainer, to be called in each worker; it has to be picklable.
    settings
        How many workers, and how long they may take.
    """

    def __init__(self, opener: Callable[[], Any], settings: WorkersSettings) -> None:
        self.settings = settings
        self._maker = Maker(settings.preload)
        content = pickled(opener)
        explain = CrewSettings(
            settings.n_explain,
            settings.grace_seconds,
            settings.open_seconds,
            settings.max_waiting,
            settings.max_documents,
        )
        # A question has no way to stop early, and is soon answered.
        ask = replace(explain, n_workers=settings.n_ask, grace_seconds=settings.document_seconds)
        self._explain = Crew(content, self._maker, explain)
        self._ask = Crew(content, self._maker, ask)

    async def start(self) -> None:
        """Start all workers, and wait until each has opened its explainer.

        Raises what opening raised. Calls may be made before; they wait. Those who answer questions
        are first: what they compile is on the disk when the others need it.
        """
        await self._ask.start()
        await self._explain.start()

    async def ask(self, method: str, /, **arguments: Any) -> Any:
        """Return what a method of the explainer returns; raise what it raises.

        Parameters
        ----------
        method
            The method, by name.
        **arguments
            Its arguments.
        """
        call = Call(Question(method, arguments), self.settings.ask_seconds)
        return await self._answer(call)

    async def write(self, method: str, /, **arguments: Any) -> Any:
        """Return what a method of the explainer returns that may take long, such as a report.

        Questions are answered meanwhile, where more than one process answers them.

        Parameters
        ----------
        method
            The method, by name.
        **arguments
            Its arguments.
        """
        seconds = self.settings.document_seconds
        return await self._answer(Call(Question(method, arguments), seconds, is_long=True))

    def explain(self, request: Any, on_progress: OnProgress | None = None) -> Call:
        """Return a call of the explainer's ``explain(request, progress=...)``, to be awaited.

        Parameters
        ----------
        request
            What is to be explained.
        on_progress
            Called in the event loop with the latest values that ``explain`` gave to ``progress``.
        """
        question = Question("explain", {"request": request}, reports=True)
        call = Call(question, self.settings.explain_seconds, on_progress=on_progress)
        self._explain.submit(call)
        return call

    async def _answer(self, call: Call) -> Any:
        self._ask.submit(call)
        try:
            async with asyncio.timeout(call.seconds):
                return await call
        except TimeoutError as error:
            raise CallTimedOut(f"there was no answer within {call.seconds:g} s.") from error

    async def close(self) -> None:
        """End all workers, within seconds; calls that are not answered fail."""
        await asyncio.gather(self._ask.close(), self._explain.close())
        await self._maker.close()

    def state(self) -> WorkersState:
        """Return how the workers are."""
        crews = (self._ask, self._explain)
        workers = [worker for crew in crews for worker in crew.workers]
        return WorkersState(
            total=sum(crew.settings.n_workers for crew in crews),
            ready=sum(worker.is_ready for worker in workers),
            busy=sum(worker.call is not None for worker in workers),
            waiting=sum(len(crew.waiting) for crew in crews),
            restarts=sum(crew.n_restarts for crew in crews),
            retries=sum(crew.n_retries for crew in crews),
            processes=tuple(worker.made.process for worker in workers),
        )
