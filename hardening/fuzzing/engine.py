"""Runs a target many times and keeps what it finds: guided by coverage where atheris is there.

An input that raises what it should not, or takes too long, is kept in a folder, one for each place
of the code where that happens, and the run goes on.
"""

import hashlib
import json
import os
import random
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from fuzzing.mutations import MAX_BYTES
from fuzzing.target import Target

MAX_SECONDS = 5.0  # of processor time for one input
MAX_GROWTH = 512 * 2**20  # bytes by which the process may grow
_MAX_CHANGED_BYTES = 4_096  # longer inputs take most of the time, and are run once
_REPORTED_EVERY = 50_000  # executions
_RENEWED_EVERY = 2_000  # executions: how often the process's size is looked at


class TooLong(BaseException):
    """An input took more time than it may; no ``except Exception`` swallows it."""


@dataclass
class Record:
    """What became of a run.

    Attributes
    ----------
    target
        The name of the target.
    folder
        Where inputs that found something are kept; ``None`` keeps none.
    """

    target: str
    folder: Path | None = None
    n_executions: int = 0
    n_accepted: int = 0
    slowest_seconds: float = 0.0
    findings: dict[str, str] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)
    first_size: int = 0
    growth: int = 0

    def found(self, place: str, what: str, content: bytes) -> None:
        """Keep the first input, and then any shorter one, that found something at a place."""
        name = f"{self.target}-{hashlib.sha256(place.encode()).hexdigest()[:12]}"
        path = None if self.folder is None else self.folder / name
        if place not in self.findings:
            self.findings[place] = what
            print(f"FOUND {name} {place}\n{what}\n{content[:300]!r}", file=sys.stderr, flush=True)
        elif path is None or len(content) >= path.stat().st_size:
            return
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def report(self) -> str:
        """Return the figures of the run as one line of JSON."""
        return json.dumps(
            {
                "target": self.target,
                "executions": self.n_executions,
                "accepted": self.n_accepted,
                "seconds": round(time.monotonic() - self.started),
                "processor_seconds": round(time.process_time()),
                "slowest_seconds": round(self.slowest_seconds, 3),
                "growth_megabytes": round(self.growth / 2**20, 1),
                "findings": self.findings,
            }
        )


class Executor:
    """Runs one input after the other, and keeps what is found."""

    def __init__(self, target: Target, record: Record, n_runs: int) -> None:
        from proce.errors import ProceError

        self._target, self._record, self._n_runs = target, record, n_runs
        self._refusal = ProceError
        signal.signal(signal.SIGVTALRM, _stop)

    def __call__(self, content: bytes) -> None:
        """Run one input."""
        record = self._record
        record.n_executions += 1
        content = content[:MAX_BYTES]
        started = time.thread_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, MAX_SECONDS)
        try:
            self._target.check(content)
            record.n_accepted += 1
        except self._refusal as error:
            if not str(error).strip():
                record.found(f"empty message of {type(error).__name__}", "", content)
        except TooLong:
            record.found(_place(sys.exc_info()[1], "hang"), traceback.format_exc(limit=-6), content)
        except (Exception, SystemExit) as error:
            record.found(
                _place(error, type(error).__name__), traceback.format_exc(limit=-6), content
            )
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        seconds = time.thread_time() - started
        record.slowest_seconds = max(record.slowest_seconds, seconds)
        if seconds > MAX_SECONDS / 5:
            record.found(f"slow: {len(content)} bytes", f"{seconds:.2f} s", content)
        if record.n_executions % _RENEWED_EVERY == 0:
            self._look_at_size()
        if record.n_executions % _REPORTED_EVERY == 0 or record.n_executions == self._n_runs:
            print(record.report(), flush=True)

    def _look_at_size(self) -> None:
        record = self._record
        size = _largest_size()
        record.first_size = record.first_size or size
        record.growth = size - record.first_size
        if record.growth > MAX_GROWTH:
            record.found("memory", f"the process grew by {record.growth >> 20} MB", b"")


def run_plain(
    target: Target, execute: Callable[[bytes], None], n_runs: int, seed: int, corpus: Path
) -> None:
    """Change what a guided run has kept, and the texts to begin with, at random."""
    kept = [path.read_bytes() for path in sorted((corpus / target.name).glob("*"))]
    pool = [*target.seeds, *kept]
    short = [content for content in pool if len(content) <= _MAX_CHANGED_BYTES]
    draw = random.Random(seed)
    for number in range(n_runs):
        content = pool[number] if number < len(pool) else target.changed(draw.choice(short), draw)
        execute(content)


def run_guided(
    target: Target, execute: Callable[[bytes], None], n_runs: int, seed: int, corpus: Path
) -> None:
    """Let atheris keep the inputs that reach new code; this ends the process."""
    import atheris

    own = corpus / target.name
    own.mkdir(parents=True, exist_ok=True)
    for content in target.seeds:
        (own / hashlib.sha1(content, usedforsecurity=False).hexdigest()).write_bytes(content)

    def change(content: bytes, max_bytes: int, number: int) -> bytes:
        draw = random.Random(number)
        if draw.random() < 0.2:
            changed: bytes = atheris.Mutate(content, max(1, min(max_bytes, 2 * len(content) + 16)))
            return target.seal(changed) if target.seal is not None else changed
        return target.changed(content, draw)[:max_bytes]

    options = [
        f"-runs={n_runs}",
        f"-seed={seed + 1}",
        f"-max_len={MAX_BYTES}",
        "-len_control=0",
        "-timeout=60",
        "-rss_limit_mb=6000",
        "-print_final_stats=1",
        "-verbosity=1",
        "-reduce_inputs=0",
        str(own),
    ]
    atheris.Setup([sys.argv[0], *options], execute, custom_mutator=change, internal_libfuzzer=True)
    atheris.Fuzz()


def turn_warnings_into_errors() -> None:
    """Turn warnings into errors: a reader that warns says what it should have said itself."""
    warnings.simplefilter("error")


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise TooLong


def _place(error: BaseException | None, kind: str) -> str:
    """Return where an error was raised: the last line of ours, and the very last one."""
    frames: Sequence[traceback.FrameSummary] = traceback.extract_tb(
        error.__traceback__ if error else None
    )
    ours = [frame for frame in frames if f"{os.sep}proce{os.sep}" in frame.filename]
    names = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in (*ours[-1:], *frames[-1:])]
    return " ".join([kind, *names])


def _largest_size() -> int:
    """Return the most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
