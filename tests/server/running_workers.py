"""Start workers with a fake explainer in a test, and see to it that nothing is left of them."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from proce.server.workers import Workers, WorkersSettings

from .fakes import Opener

QUICK = WorkersSettings(n_explain=2, n_ask=1, grace_seconds=0.5, preload=())


def run(test: Coroutine[Any, Any, None], seconds: float = 60.0) -> None:
    """Run a test in an event loop of its own; no task may be left, and it may not hang."""

    async def main() -> None:
        async with asyncio.timeout(seconds):
            await test
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


@asynccontextmanager
async def working(folder: Path, settings: WorkersSettings = QUICK) -> AsyncIterator[Workers]:
    """Yield workers that are open; afterwards no process and no file handle is left of them."""
    handles = handles_of_ours()
    workers = Workers(Opener(folder), settings)
    try:
        await workers.start()
        yield workers
    finally:
        await workers.close()
    assert not [process for process in processes(folder) if is_running(process)]
    assert handles_of_ours() <= handles


def handles_of_ours() -> set[str]:
    """Return what the file handles of this process stand for."""
    found = set()
    for path in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the handle that lists them
            found.add(os.readlink(path))
    return found - {os.devnull}  # an event loop keeps one


def processes(folder: Path) -> list[int]:
    """Return the processes that opened an explainer."""
    return [int(path.name.removeprefix("worker-")) for path in folder.glob("worker-*")]


def is_running(process: int) -> bool:
    """Return whether a process is alive."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def parent_of(process: int) -> int:
    """Return the process that made another."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


async def until(condition: Callable[[], object], seconds: float = 30.0) -> None:
    """Wait for a condition."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        await asyncio.sleep(0.01)
