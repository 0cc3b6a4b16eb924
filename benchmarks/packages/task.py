"""The tasks as plain files: training rows, rows to explain, and a description of the columns."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.packages.adapters.shared import Feature, fit_model
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from proce.datasets import Dataset, load_dataset
from proce.schema import Action, Continuous, Ordinal, Schema

DATASETS = ("loan", "german_credit")
SEED = 4107  # of the split and of the draw; nothing was chosen on these rows
# What nobody is asked to wait for: no other package knows that time passes.
HELD = {"loan": ("age", "education"), "german_credit": ("age",)}
MOVES = {Action.INCREASE: "up", Action.DECREASE: "down", Action.INDIRECT: "follows"}
# What is asked of those who tell consequences, for each row of the loan data.
QUESTIONS: dict[str, Callable[[float], float]] = {
    "income": lambda dollars: 1.2 * dollars,
    "savings": lambda dollars: dollars + 5_000,
    "debt": lambda dollars: 0.5 * dollars,
}


@dataclass(frozen=True)
class World:
    """A task with what only the judge knows.

    Attributes
    ----------
    data
        The data set, with its true equations where they are known.
    features
        The columns as the packages are told of them.
    train
        The training rows, typed.
    rows
        The rows to explain, typed, numbered from 0.
    ask
        The model itself: a frame in, the probability of the target out.
    questions
        Positions of rows, with the changes whose consequences are asked for.
    """

    data: Dataset
    features: tuple[Feature, ...]
    train: pd.DataFrame
    rows: pd.DataFrame
    ask: Callable[[pd.DataFrame], NDArray[np.float64]]
    questions: tuple[tuple[int, dict[str, float]], ...]


def build(name: str, n_rows: int, folder: Path) -> World:
    """Write the files of a task, and return what the judge needs."""
    data = load_dataset(name)
    train, test, label, _ = train_test_split(
        data.frame, data.label, test_size=0.2, random_state=SEED, stratify=data.label
    )
    schema = data.recourse_schema.edit(HELD[name], action=Action.FIXED)
    features = tuple(describe(schema, train))
    plain = as_text(train)
    model = fit_model(features, plain, label.to_numpy())

    def ask(frame: pd.DataFrame) -> NDArray[np.float64]:
        return np.asarray(model.predict_proba(as_text(frame))[:, data.wanted], dtype=np.float64)

    rejected = test[ask(test) < 0.5]
    rows = rejected.sample(min(n_rows, len(rejected)), random_state=SEED).reset_index(drop=True)
    questions = tuple(questions_about(rows, features)) if data.truth is not None else ()
    world = World(data, features, train, rows, ask, questions)
    write(world, label, plain, folder)
    return world


def describe(schema: Schema, train: pd.DataFrame) -> list[Feature]:
    """Return the columns as every package is told of them; numbers go as far as training rows."""
    features = []
    for feature in schema:
        move = MOVES.get(feature.action, str(feature.action))
        if isinstance(feature, Continuous):
            column = train[feature.name]
            low, high = column.min().item(), column.max().item()
            features.append(Feature(feature.name, "number", move, low, high, feature.step))
        else:
            levels = tuple(str(level) for level in feature.levels)
            kind = "rank" if isinstance(feature, Ordinal) else "level"
            features.append(Feature(feature.name, kind, move, levels=levels))
    return features


def as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with levels as text, as it would be read from a file."""
    levels = frame.select_dtypes(exclude="number").columns
    return frame.assign(**{name: frame[name].astype(str).astype(object) for name in levels})


def questions_about(
    rows: pd.DataFrame, features: tuple[Feature, ...]
) -> list[tuple[int, dict[str, float]]]:
    """Return for each row what would follow from some changes, on the steps and in the limits."""
    asked = []
    for position in range(len(rows)):
        for feature in features:
            if feature.name not in QUESTIONS:
                continue
            assert feature.low is not None
            assert feature.high is not None
            assert feature.step is not None
            before = float(rows[feature.name].iloc[position])
            after = min(max(QUESTIONS[feature.name](before), feature.low), feature.high)
            after = round(after / feature.step) * feature.step
            if after != before:
                asked.append((position, {feature.name: after}))
    return asked


def write(world: World, label: Any, plain: pd.DataFrame, folder: Path) -> None:
    """Write the files of a task."""
    folder.mkdir(parents=True, exist_ok=True)
    plain.assign(**{label.name: label}).to_csv(folder / "train.csv", index=False)
    world.rows.to_csv(folder / "rows.csv", index=False)
    about = {
        "label": label.name,
        "target": world.data.wanted,
        "features": [asdict(feature) for feature in world.features],
        # The graph of collected data is assumed, and nobody is given it.
        "edges": [] if world.data.truth is None else list(world.data.graph.edges),
        "questions": [{"row": row, "changes": changes} for row, changes in world.questions],
        "probabilities": world.ask(world.rows).tolist(),
    }
    (folder / "task.json").write_text(json.dumps(about, indent=1), "utf-8")
