"""A data set with everything that is known about it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from proce.arguments import brief, check_count, check_fields
from proce.arrays import Array
from proce.causal import CausalGraph, Edge, StructuralCausalModel
from proce.compiled.streams import MAX_SEED
from proce.errors import DatasetError, did_you_mean
from proce.schema import Continuous, Ordinal, Schema
from proce.schema.features.numerals import counted
from proce.schema.features.reprs import one_line


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows, their label, and what is known about the features.

    Attributes
    ----------
    name
        The name that ``proce.load_dataset`` takes.
    frame
        The features. Levels are pandas categories, ordered where the feature is ordinal.
    label
        0 or 1 for each row.
    class_names
        What 0 and 1 mean.
    schema
        The paper's setting: every feature is free, except that race, sex and gender are fixed
        and age only increases.
    recourse_schema
        The same features for advice that a person can follow: features that nobody can act on
        are indirect or fixed.
    graph
        The causal graph over the features, without the label.
    rules
        The conditions that a counterfactual must obey, as text.
    truth
        The equations that the rows were drawn from, where they are known.
    sampler
        Draws the data set anew from a number of rows and a seed, where that is possible.
    wanted
        The class that people want to be in: 1, or 0 where 1 is a default.
    """

    name: str
    frame: pd.DataFrame
    label: "pd.Series[int]"
    class_names: tuple[str, str]
    schema: Schema
    recourse_schema: Schema
    graph: CausalGraph
    rules: tuple[str, ...]
    truth: StructuralCausalModel | None = None
    sampler: "Callable[[int, int], Dataset] | None" = None
    wanted: int = 1

    def __post_init__(self) -> None:
        check_fields(self, DatasetError)
        if not isinstance(self.label, pd.Series):
            raise DatasetError(f"label is {brief(self.label)}; expected a column of 0 and 1.")
        if self.label.isna().any():
            row = int(self.label.isna().to_numpy().argmax())
            raise DatasetError(f"data set {self.name!r}: the label of row {row} is missing.")
        labels = sorted(self.label.unique().tolist())
        if labels != [0, 1]:
            raise DatasetError(
                f"data set {self.name!r}: the {len(self.label)} rows have the labels {labels};"
                " expected both 0 and 1. Ask for more rows, or for another seed."
            )

    def __repr__(self) -> str:
        rows, features = counted(len(self.frame), "row"), counted(len(self.schema), "feature")
        return one_line(
            f"Dataset({self.name!r}, {rows}, {features}, {' or '.join(self.class_names)})"
        )

    def sample(self, n: int, seed: int) -> "Dataset":
        """Draw ``n`` new rows of a generated data set."""
        if self.sampler is None:
            raise DatasetError(
                f"data set {self.name!r} was collected, not generated: no new rows can be drawn."
                f" Draw from its {len(self.frame):,} rows with data.frame.sample(...) instead."
            )
        return self.sampler(n, seed)


def level_columns(frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Return the schema's columns in its order, with text turned into categories."""
    columns: dict[str, Any] = {}
    for feature in schema:
        columns[feature.name] = frame[feature.name]
        if not isinstance(feature, Continuous):
            dtype = pd.CategoricalDtype(list(feature.levels), isinstance(feature, Ordinal))
            columns[feature.name] = columns[feature.name].astype(dtype)
    return pd.DataFrame(columns)


def generated_frame(values: dict[str, Array], schema: Schema) -> pd.DataFrame:
    """Return generated raw values as a frame: whole numbers as integers, codes as levels."""
    columns: dict[str, Any] = {}
    for feature in schema:
        column = values[feature.name]
        if isinstance(feature, Continuous):
            columns[feature.name] = column.astype(np.int64) if feature.integer else column
        else:
            columns[feature.name] = np.array(feature.levels)[column.astype(np.int64)]
    return level_columns(pd.DataFrame(columns), schema)


def label_column(name: str, values: Any) -> "pd.Series[int]":
    """Return labels, given as flags or as 0 and 1, as whole numbers."""
    return pd.Series(np.asarray(values), name=name).astype(int)


def edges_into(causes: Mapping[str, Iterable[str]]) -> list[Edge]:
    """Return the edges of a graph that is told by the causes of each effect."""
    return [(cause, effect) for effect, own in causes.items() for cause in own]


def check_draw(name: str, n: Any, seed: Any) -> None:
    """Refuse a number of rows below 2, and a seed that is no whole number from 0 on."""
    check_count(f"data set {name!r}: n", n, DatasetError, 2)
    check_count(f"data set {name!r}: seed", seed, DatasetError, 0, MAX_SEED)


def check_choice(name: str, option: str, value: Any, choices: Sequence[str]) -> None:
    """Refuse a value that is not among the choices of an option."""
    if value not in choices:
        raise DatasetError(
            f"data set {name!r}: {option} is {value!r}; expected one of"
            f" {', '.join(repr(choice) for choice in choices)}." + did_you_mean(value, choices)
        )
