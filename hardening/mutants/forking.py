"""Work in a process of its own, which begins with all that is imported here and then is gone."""

import json
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_MORE_MEMORY = 4 * 1024**3  # bytes that a process may ask for
_WALL_PER_CPU, _MIN_WALL = 20.0, 60.0  # processors are shared; a process that only waits ends too


@dataclass(frozen=True)
class Ending:
    """How a process ended: what it sent, or the signal that ended it; and its processor time."""

    sent: Any
    signal: int
    seconds: float


def in_fork(work: Callable[[], Any], cpu_seconds: float) -> Ending:
    """Run some work in a fork, and return what it returned, by way of JSON.

    Parameters
    ----------
    work
        What to do. What it prints is lost.
    cpu_seconds
        The processor time after which the fork is ended.
    """
    receiving, sending = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(receiving)
        _work_and_leave(work, sending, cpu_seconds)
    os.close(sending)
    text = _read(receiving, process, time.monotonic() + _MIN_WALL + _WALL_PER_CPU * cpu_seconds)
    _, status, usage = os.wait4(process, 0)
    ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    sent = json.loads(text) if text and not ended_by else None
    return Ending(sent, ended_by, usage.ru_utime + usage.ru_stime)


def _work_and_leave(work: Callable[[], Any], sending: int, cpu_seconds: float) -> None:
    """Do the work of a fork; never return."""
    code = 1
    try:
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        whole = max(1, int(cpu_seconds + 0.999))
        resource.setrlimit(resource.RLIMIT_CPU, (whole, whole))
        with open("/proc/self/statm", encoding="ascii") as file:
            held = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + _MORE_MEMORY, resource.RLIM_INFINITY))
        with os.fdopen(sending, "w", encoding="utf-8") as file:
            json.dump(work(), file)
        code = 0
    except BaseException:  # whatever a changed module raises ends the fork, not the run
        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(code)


def _read(receiving: int, process: int, deadline: float) -> str:
    """Return all that a fork sends; end the fork when its time is over."""
    parts = []
    with os.fdopen(receiving, "rb") as file:
        while True:
            ready, _, _ = select.select([file], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                os.kill(process, signal.SIGKILL)
                break
            part = os.read(file.fileno(), 1 << 16)
            if not part:
                break
            parts.append(part)
    return b"".join(parts).decode("utf-8")
