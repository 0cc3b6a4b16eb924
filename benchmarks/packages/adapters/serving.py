"""The protocol of the adapters: answers, their times, and why there is none.

An adapter is called as ``python with_NAME.py TASK_FOLDER OUT_FOLDER METHOD SECONDS`` and writes
``run.json`` and, line by line, ``answers.jsonl``. It runs in the environment of its package, and
this module knows nothing of ProCE.
"""

import importlib.metadata
import json
import platform
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from shared import Task, fit_model
from sklearn.pipeline import Pipeline

_MAX_NOTE = 300  # characters


@dataclass(frozen=True)
class Answer:
    """What a package says of one row.

    Attributes
    ----------
    values
        The new value of every column.
    done
        The columns that the person sets or holds; all that differ where a package does not say.
    aim
        The probability of the target that the package was to reach.
    """

    values: Mapping[str, Any]
    done: tuple[str, ...] | None = None
    aim: float = 0.5

    @classmethod
    def of(cls, frame: Any) -> "Answer":
        """Return the first row of a frame as an answer."""
        return cls({name: frame[name].iloc[0] for name in frame.columns})


Explain = Callable[[pd.DataFrame], "Answer | None"]
ExplainAll = Callable[[pd.DataFrame], "list[Answer]"]
WhatIf = Callable[[pd.DataFrame, Mapping[str, Any]], Answer]


class OverTimeError(BaseException):
    """A row took longer than it may; not an ``Exception``, so that no package swallows it."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Stop the block after some seconds of CPU time."""

    def stop(*_: object) -> None:
        raise OverTimeError(f"no answer within {seconds:g} s of CPU time")

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def serve(
    package: str,
    explainer: Callable[[Task, Pipeline, str], Explain] | None = None,
    what_if: Callable[[Task, Pipeline, str], WhatIf] | None = None,
    explain_all: Callable[[Task, Pipeline, str], ExplainAll] | None = None,
) -> None:
    """Answer the rows of a task, or its questions, and write what was said.

    Parameters
    ----------
    package
        The name of the distribution whose version is recorded.
    explainer
        Prepares a function from a row to an answer.
    what_if
        Prepares a function from a row and changes to the row as it would be; for the method
        ``what_if``.
    explain_all
        Prepares a function from all rows to all answers, for a package that is made for that; the
        time counts for all of them in equal parts.
    """
    folder, out, method, seconds = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4]
    task = Task.read(folder)
    model = fit_model(task.features, task.train, task.label)
    said = model.predict_proba(task.rows)[:, task.target]
    record: dict[str, Any] = {
        "versions": _versions(package),
        "difference": float(np.abs(said - np.array(task.probabilities)).max()),
    }
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - what other packages draw from
    start = time.process_time()
    try:
        if method == "what_if" and what_if is not None:
            answers = _each_question(task, what_if(task, model, method), float(seconds))
        elif explain_all is not None:
            answers = _all_rows(task, explain_all(task, model, method), float(seconds))
        elif explainer is not None:
            answers = _each_row(task, explainer(task, model, method), float(seconds))
        else:
            raise ValueError(f"{package} does not do {method!r}")
    except Exception as error:
        _write(out, record | {"error": _note(error)})
        raise
    _write(out, record | {"fit_seconds": time.process_time() - start})
    with (out / "answers.jsonl").open("w", encoding="utf-8") as file:
        for answer in answers:
            file.write(json.dumps(answer, default=_plain) + "\n")
            file.flush()


def _each_row(task: Task, explain: Explain, seconds: float) -> Iterator[dict[str, Any]]:
    """Yield the answers to the rows, as they are given."""
    for position in range(len(task.rows)):
        row = task.rows.iloc[[position]]
        yield _timed(position, lambda row=row: explain(row), seconds)


def _each_question(task: Task, follow: WhatIf, seconds: float) -> Iterator[dict[str, Any]]:
    """Yield what would follow from the changes that are asked about."""
    for position, (at, changes) in enumerate(task.questions):
        row = task.rows.iloc[[at]]
        yield _timed(position, lambda row=row, changes=changes: follow(row, changes), seconds)


def _all_rows(task: Task, explain: ExplainAll, seconds: float) -> Iterator[dict[str, Any]]:
    """Yield the answers to all rows, given at once."""
    note, answers, start = "", [], time.process_time()
    try:
        with limited(seconds * len(task.rows)):
            answers = explain(task.rows)
    except (Exception, OverTimeError) as error:
        note = _note(error)
    share = (time.process_time() - start) / len(task.rows)
    for position in range(len(task.rows)):
        answer = answers[position] if answers else None
        yield _line(position, answer, share, note)


def _timed(position: int, call: Callable[[], "Answer | None"], seconds: float) -> dict[str, Any]:
    """Return an answer with its time, or why there is none."""
    note, answer, start = "", None, time.process_time()
    try:
        with limited(seconds):
            answer = call()
    except (Exception, OverTimeError) as error:
        note = _note(error)
    return _line(position, answer, time.process_time() - start, note)


def _line(position: int, answer: "Answer | None", seconds: float, note: str) -> dict[str, Any]:
    """Return an answer as it is written."""
    line = {"row": position, "seconds": seconds, "note": note}
    if answer is None:
        return line | {"values": None}
    return line | {"values": dict(answer.values), "done": answer.done, "aim": answer.aim}


def _versions(package: str) -> dict[str, str]:
    names = (package, "numpy", "pandas", "scikit-learn")
    found = {"python": platform.python_version()}
    return found | {name: importlib.metadata.version(name) for name in names}


def _note(error: BaseException) -> str:
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= _MAX_NOTE else f"{text[:_MAX_NOTE]}…"


def _plain(value: Any) -> Any:
    """Return a number of numpy as one of Python."""
    return value.item() if hasattr(value, "item") else str(value)


def _write(out: Path, record: Mapping[str, Any]) -> None:
    (out / "run.json").write_text(json.dumps(record, indent=1), "utf-8")
