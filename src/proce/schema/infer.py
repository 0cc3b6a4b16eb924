"""Infer the features of a schema from the columns of a frame."""

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from proce.arguments import brief, is_listed
from proce.arrays import Floats
from proce.errors import SchemaError, did_you_mean
from proce.schema.features.feature import Action, Categorical, Continuous, Feature, Ordinal
from proce.schema.features.levels import Level, quoted
from proce.schema.features.naming import spoken_name
from proce.schema.frames.cells import MISSING_LEVEL
from proce.schema.frames.frame import distinct, open_frame, read_numbers, require_rows
from proce.schema.scale import FeatureScale, fit_scale

MAX_LEVELS = 1_000
_MAX_DECIMALS = 4
_MAX_AGE = 130  # years
_MIN_IDENTIFIERS = 20  # levels: fewer may well be all different in a small frame
_IDENTIFIER_SHARE = 0.9  # of the rows: a column with more levels identifies rows

_TIME = re.compile(r"\b(age|aged|seniority|tenure)\b", re.IGNORECASE)
_PERSON = re.compile(
    r"\b(sex|gender|race|racial|ethnic|ethnicity|nationality|citizenship|religion|religious"
    r"|faith|disability|disabled|marital|married|pregnant|pregnancy|native|birth|birthday|birthplace"
    r"|born|foreign|foreigner|immigrant|skin|orientation)\b",
    re.IGNORECASE,
)
_CHANGEABLE = (Action.FREE, Action.INCREASE, Action.DECREASE)


@dataclass(frozen=True)
class Inferred:
    """What was read off a frame."""

    features: list[Feature]  # A feature for each column, and one for each group of one-hot columns
    scales: dict[str, FeatureScale]  # the scale of each number, by name
    notes: list[str]  # what a reader should know of them


def infer_features(frame: Any, one_hot: Mapping[str, Sequence[str]]) -> Inferred:
    """Return what the columns of a frame are."""
    opened = require_rows(open_frame(frame))
    group_of = _groups(opened.columns, one_hot)
    features: list[Feature] = []
    scales: dict[str, FeatureScale] = {}
    notes: list[str] = []
    done: set[str] = set()
    for column in opened.columns:
        group = group_of.get(column)
        if group is None:
            feature = _infer_column(opened[column])
            features.append(feature)
            if isinstance(feature, Continuous):
                scales[column] = fit_scale(feature, read_numbers(opened[column]), "bulk")
            if feature.action is Action.FIXED:
                value = opened[column].drop_nulls().to_list()[0]
                notes.append(
                    f"{column!r} is {value!r} in all {len(opened)} rows, so nothing can be learned"
                    " from it: it is taken as fixed."
                )
            if feature.action is Action.WAITS:
                notes.append(
                    f"{column!r} is taken as a person's age, which only time moves: its action is"
                    " 'waits'. If it is something else, edit the schema."
                )
        elif group not in done:
            done.add(group)
            features.append(_one_hot_feature(group, tuple(one_hot[group])))
    return Inferred(features, scales, notes)


def _groups(columns: Sequence[str], one_hot: Mapping[str, Sequence[str]]) -> dict[str, str]:
    group_of: dict[str, str] = {}
    for name, members in one_hot.items():
        if not is_listed(members) or len(members) < 2:
            raise SchemaError(
                f"one-hot feature {name!r}: expected a list of at least two columns,"
                f" got {brief(members)}."
            )
        for column in members:
            if column not in columns:
                raise SchemaError(
                    f"one-hot feature {name!r}: there is no column {column!r} in the frame."
                    + did_you_mean(column, columns)
                )
            if column in group_of:
                raise SchemaError(
                    f"column {column!r} is listed for the one-hot features {group_of[column]!r}"
                    f" and {name!r}; list it once."
                )
            group_of[column] = name
    return group_of


def _one_hot_feature(name: str, columns: tuple[str, ...]) -> Categorical:
    """Name the levels after the columns, without the feature's name where all carry it."""
    for separator in ("_", "=", ".", "-", " ", ":"):
        prefix = name + separator
        if all(column.startswith(prefix) and len(column) > len(prefix) for column in columns):
            return Categorical(name, tuple(c[len(prefix) :] for c in columns), one_hot=columns)
    return Categorical(name, columns, one_hot=columns)


def _infer_column(column: "nw.Series[Any]") -> Feature:
    name, dtype = column.name, column.dtype
    if dtype in (nw.Date, nw.Datetime, nw.Duration, nw.Time):
        raise SchemaError(
            f"column {name!r} holds dates or times, which no feature type describes; turn it into"
            " a number that a person can act on, such as the years since that date, or drop it."
        )
    if dtype.is_numeric():
        return _infer_number(name, read_numbers(column), bool(dtype.is_integer()))
    if dtype == nw.Boolean:
        values = sorted(column.drop_nulls().unique().to_list())
        _refuse_empty(name, values, len(column))
        return Categorical(name, (False, True), _action(values))
    if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object):
        return _infer_levels(column)
    raise SchemaError(
        f"column {name!r} holds values of type {dtype}; expected numbers, text, categories or"
        " true/false. Convert or drop it."
    )


def _infer_number(name: str, numbers: Floats, integer: bool) -> Continuous:
    present = numbers[~np.isnan(numbers)]
    _refuse_empty(name, present, len(numbers))
    low, high = float(present.min()), float(present.max())
    action = _action({low, high})
    if action is Action.FREE and _is_age(name, low, high):
        action = Action.WAITS
    return Continuous(name, None, 1.0 if integer else _decimal_step(present), action)


def _is_age(name: str, low: float, high: float) -> bool:
    """Whether a number is a person's age, by its whole name and its values."""
    return spoken_name(name).lower() == "age" and low >= 0 and high <= _MAX_AGE


def _decimal_step(present: Floats) -> float | None:
    """Return the step 1, 0.1, … 0.0001 on which all values lie, if there is one."""
    for candidates in (present[:1000], present):
        for decimals in range(_MAX_DECIMALS + 1):
            if np.array_equal(np.round(candidates, decimals), candidates):
                break
        else:
            return None
    return float(10.0**-decimals)


def _infer_levels(column: "nw.Series[Any]") -> Feature:
    name = column.name
    positions, values = distinct(column)
    used = set(np.unique(positions).tolist()) - {MISSING_LEVEL}
    levels = tuple(value for position, value in enumerate(values) if position in used)
    _refuse_empty(name, levels, len(column))
    if column.dtype == nw.Object and not isinstance(levels[0], (str, bool)):
        raise SchemaError(
            f"column {name!r} holds numbers as Python objects; convert it to a numeric dtype, for"
            " example with pandas.to_numeric."
        )
    _refuse_identifiers(name, levels, int((positions != MISSING_LEVEL).sum()))
    native = column.to_native()
    if isinstance(native, pd.Series) and isinstance(native.dtype, pd.CategoricalDtype):
        kind = Ordinal if native.dtype.ordered else Categorical
        return kind(name, levels, _action(levels))
    return Categorical(name, tuple(sorted(levels)), _action(levels))


def _action(values: Collection[object]) -> Action:
    """Return what can be done about a feature of these values: nothing where there is one."""
    return Action.FREE if len(values) > 1 else Action.FIXED


def _refuse_identifiers(name: str, levels: Sequence[Level], n_present: int) -> None:
    declared = f"declare it yourself: Schema([..., Categorical({name!r}, levels)])"
    if len(levels) > _MIN_IDENTIFIERS and len(levels) > _IDENTIFIER_SHARE * n_present:
        raise SchemaError(
            f"column {name!r} has {len(levels):,} different values in {n_present:,} rows, such as"
            f" {quoted(levels, 3)}: it identifies rows rather than describing them. Drop it (on"
            f" the command line --drop {shlex.quote(name)}; in Python the frame's index carries it"
            f" through), or group its values. If a model was really trained on it, {declared}."
        )
    if len(levels) > MAX_LEVELS:
        raise SchemaError(
            f"column {name!r} has {len(levels):,} distinct values, such as {quoted(levels, 3)};"
            f" expected at most {MAX_LEVELS:,} levels to infer. Drop it if it identifies rows,"
            f" group its rare values, or {declared}."
        )


def _refuse_empty(name: str, values: Collection[object] | Floats, n_rows: int) -> None:
    if not len(values):
        raise SchemaError(
            f"column {name!r} is missing in all {n_rows} rows; drop it or fill it in."
        )


def open_features_warning(schema: Iterable[Feature]) -> str | None:
    """Return which features sound like what nobody should be advised about, and what to do.

    Only names are read, and nothing is decided: the person who knows the columns is told. The
    result is ``None`` where there are no such features.
    """
    waiting = [f.name for f in schema if _is_open(f) and _TIME.search(_spoken(f))]
    personal = [
        f.name
        for f in schema
        if _is_open(f) and f.name not in waiting and _PERSON.search(_spoken(f))
    ]
    names = [f.name for f in schema if f.name in (*waiting, *personal)]
    if not names:
        return None
    edits = [
        *([f"schema.edit({waiting!r}, action='waits')"] if waiting else []),
        *([f"schema.edit({personal!r}, action='fixed', protected=True)"] if personal else []),
    ]
    return (
        f"No schema says what a person can change, so everything may be advised to, also"
        f" {' and '.join(filter(None, [', '.join(names[:-1]), names[-1]]))}. If"
        f" {'that is' if len(names) == 1 else 'those are'} not to be advised, say so in the schema:"
        f" {' and '.join(edits)}."
    )


def _is_open(feature: Feature) -> bool:
    return feature.action in _CHANGEABLE and not feature.protected


def _spoken(feature: Feature) -> str:
    return f"{spoken_name(feature.name)} {feature.label or ''}"
