"""What every adapter shares: the task and the model.

This module runs in the environments of the other packages, beside pandas from 1 to 3 and whatever
scikit-learn they allow, and therefore knows nothing of ProCE.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder


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
