"""What every adapter shares: the task, the model and the protocol.

This module runs in the environments of the other packages, beside pandas from 1 to 3 and whatever
scikit-learn they allow, and therefore knows nothing of ProCE. An adapter is called as
``python with_NAME.py TASK_FOLDER OUT_FOLDER METHOD SECONDS`` and writes ``run.json`` and, line by
line, ``answers.jsonl``.
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
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

_MAX_NOTE = 300  # characters


@dataclass(frozen=True)
class Feature:
    """A column of the task.

    Attributes
    ----------
    name
        The column.
    kind
        ``number``, ``rank`` for levels with an order, or ``level``.
    move
        What a person may do: ``free``, ``up``, ``down``, ``fixed``, or ``follows`` for what
        nobody can set but what may follow from something else.
    low, high, step
        The limits and the grid of a number.
    levels
        The levels of the others, from the lowest rank to the highest.
    """

    name: str
    kind: str
    move: str
    low: float | None = None
    high: float | None = None
    step: float | None = None
    levels: tuple[str, ...] = ()

    @property
    def is_number(self) -> bool:
        """Whether the column holds numbers."""
        return self.kind == "number"

    @property
    def can_be_set(self) -> bool:
        """Whether a person can do anything about the column."""
        return self.move in ("free", "up", "down")


@dataclass(frozen=True)
class Task:
    """The files of a task.

    Attributes
    ----------
    features
        The columns, in order.
    target
        The wanted class, 0 or 1.
    edges
        The causal graph as pairs of cause and effect; empty where none is known.
    questions
        Rows, by position, with changes whose consequences are asked for.
    train, label, rows
        The training rows with their classes, and the rows to explain.
    probabilities
        What the model says of the rows where the task was written: the chance of the target.
    """

    features: tuple[Feature, ...]
    target: int
    edges: tuple[tuple[str, str], ...]
    questions: tuple[tuple[int, dict[str, Any]], ...]
    train: pd.DataFrame
    label: Any
    rows: pd.DataFrame
    probabilities: tuple[float, ...]

    @classmethod
    def read(cls, folder: Path) -> "Task":
        """Read a task from its folder."""
        about = json.loads((folder / "task.json").read_text("utf-8"))
        train, rows = (
            pd.read_csv(folder / name, keep_default_na=False) for name in ("train.csv", "rows.csv")
        )
        label = train.pop(about["label"])
        features = tuple(
            Feature(**{**feature, "levels": tuple(feature.get("levels", ()))})
            for feature in about["features"]
        )
        return cls(
            features=features,
            target=about["target"],
            edges=tuple((cause, effect) for cause, effect in about["edges"]),
            questions=tuple((asked["row"], asked["changes"]) for asked in about["questions"]),
            train=train,
            label=label.to_numpy(),
            rows=rows,
            probabilities=tuple(about["probabilities"]),
        )

    def named(self, *kinds: str) -> list[str]:
        """Return the columns of some kinds."""
        return [feature.name for feature in self.features if feature.kind in kinds]


def fit_model(features: tuple[Feature, ...], train: pd.DataFrame, label: Any) -> Pipeline:
    """Return the model: numbers on the unit range, levels one-hot, logistic regression.

    Newton's steps end at the optimum to the last digits, in every version of scikit-learn.
    """
    numbers = [feature.name for feature in features if feature.is_number]
    others = [feature for feature in features if not feature.is_number]
    levels = OneHotEncoder(categories=[list(feature.levels) for feature in others])
    columns = ColumnTransformer(
        [
            ("numbers", MinMaxScaler(), numbers),
            ("levels", levels, [feature.name for feature in others]),
        ],
        sparse_threshold=0.0,
    )
    decision = LogisticRegression(solver="newton-cholesky", tol=1e-10, max_iter=1_000)
    return Pipeline([("columns", columns), ("decision", decision)]).fit(train, label)


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
        if method == "what_if":
            assert what_if is not None
            follow = what_if(task, model, method)
            asked = [(task.rows.iloc[[row]], changes) for row, changes in task.questions]
            calls = [
                lambda row=row, changes=changes: follow(row, changes) for row, changes in asked
            ]
        else:
            assert explainer is not None
            explain = explainer(task, model, method)
            calls = [lambda at=at: explain(task.rows.iloc[[at]]) for at in range(len(task.rows))]
    except Exception as error:
        _write(out, record | {"error": _note(error)})
        raise
    _write(out, record | {"fit_seconds": time.process_time() - start})
    with (out / "answers.jsonl").open("w", encoding="utf-8") as file:
        for position, call in enumerate(calls):
            file.write(json.dumps(_timed(position, call, float(seconds)), default=_plain) + "\n")
            file.flush()


def _timed(position: int, call: Callable[[], "Answer | None"], seconds: float) -> dict[str, Any]:
    """Return an answer with its time, or why there is none."""
    note, answer, start = "", None, time.process_time()
    try:
        with limited(seconds):
            answer = call()
    except (Exception, OverTimeError) as error:
        note = _note(error)
    line = {"row": position, "seconds": time.process_time() - start, "note": note}
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
