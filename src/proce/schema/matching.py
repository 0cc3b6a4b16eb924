"""What a caller hands over against a schema: a frame, feature by feature, and arrays of rows."""

from collections.abc import Callable, Sequence
from functools import cached_property, wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

import narwhals as nw
import numpy as np
import pandas as pd

from proce.arguments import brief, checked
from proce.arrays import Array, Floats
from proce.errors import ProceError, SchemaError, did_you_mean
from proce.schema.features.feature import Categorical, Continuous, Feature
from proce.schema.features.levels import quoted
from proce.schema.frames.cells import (
    MISSING_LEVEL,
    read_pandas_flags,
    read_pandas_levels,
    read_pandas_numbers,
)
from proce.schema.frames.frame import open_frame, read_levels, read_numbers, refuse_odd_names
from proce.schema.schema import Schema


def only_features(schema: Schema, frame: Any) -> Any:
    """Return a frame with the columns that a schema names alone; itself where it has no others."""
    known = set(schema.columns)
    if isinstance(frame, pd.DataFrame):
        named = [column for column in frame.columns if column in known]
        if len(set(named)) < len(known):
            open_frame(frame)  # a name that is no text may be what is wrong
            _refuse_absent(schema, named, list(frame.columns))
        return frame if len(named) == frame.shape[1] else frame[list(dict.fromkeys(named))]
    opened = open_frame(frame)
    named = [column for column in opened.columns if column in known]
    _refuse_absent(schema, named, opened.columns)
    return frame if len(named) == len(opened.columns) else opened.select(named).to_native()


class MatchingFrame:
    """A frame that has the columns of a schema, read feature by feature.

    Plain columns of pandas are read directly. All others, and columns that are not as they should
    be, are read through narwhals, or refused.
    """

    def __init__(self, schema: Schema, frame: Any) -> None:
        self._frame = only_features(schema, frame)
        if isinstance(self._frame, pd.DataFrame):
            refuse_odd_names(list(self._frame.columns))
        else:
            _ = self._opened  # or say why it cannot be

    @cached_property
    def _opened(self) -> "nw.DataFrame[Any]":
        return open_frame(self._frame)

    def __len__(self) -> int:
        frame = self._frame
        return len(frame) if isinstance(frame, pd.DataFrame) else len(self._opened)

    def read(self, feature: Feature) -> Floats:
        """Return a feature's column: raw numbers with NaN, or level codes with -1, where missing.

        The array may be that of the frame itself.
        """
        values = None
        if isinstance(self._frame, pd.DataFrame):
            values = _read_pandas(self._frame, feature)
        return _read_opened(self._opened, feature) if values is None else values


def read_feature(frame: pd.DataFrame, feature: Feature) -> Floats:
    """Return a feature of a pandas frame: raw numbers with NaN, or level codes with -1."""
    values = _read_pandas(frame, feature)
    return _read_opened(open_frame(frame), feature) if values is None else values


def _refuse_absent(schema: Schema, named: Sequence[str], columns: Sequence[Any]) -> None:
    if absent := [column for column in schema.columns if column not in named]:
        others = {column for column in columns if isinstance(column, str)} - set(schema.columns)
        raise SchemaError(
            f"the frame lacks the column {absent[0]!r}; expected {quoted(schema.columns)}."
            + did_you_mean(absent[0], others)
        )


def _read_pandas(frame: pd.DataFrame, feature: Feature) -> Floats | None:
    if isinstance(feature, Continuous):
        return read_pandas_numbers(frame[feature.name])
    if isinstance(feature, Categorical) and feature.one_hot:
        flags = [read_pandas_flags(frame[column]) for column in feature.one_hot]
        known = [column for column in flags if column is not None]
        return _hot_codes(np.stack(known, axis=-1), feature) if len(known) == len(flags) else None
    codes = read_pandas_levels(frame[feature.name], feature.levels)
    return None if codes is None else codes.astype(np.float64)


def _read_opened(opened: "nw.DataFrame[Any]", feature: Feature) -> Floats:
    if isinstance(feature, Continuous):
        return read_numbers(opened.get_column(feature.name))
    if isinstance(feature, Categorical) and feature.one_hot:
        return _read_one_hot(opened, feature)
    return read_levels(opened.get_column(feature.name), feature.levels).astype(np.float64)


def _read_one_hot(opened: "nw.DataFrame[Any]", feature: Categorical) -> Floats:
    columns = [opened.get_column(column) for column in feature.one_hot]
    flags = [c.cast(nw.Int8) if c.dtype == nw.Boolean else c for c in columns]
    return _hot_codes(np.stack([read_numbers(column) for column in flags], axis=-1), feature)


def _hot_codes(hot: Floats, feature: Categorical) -> Floats:
    """Return the codes of rows of flags ``(i, level)``."""
    refuse_flags(hot, feature, "row {}".format)
    return np.where(np.isnan(hot[:, 0]), MISSING_LEVEL, hot.argmax(-1)).astype(np.float64)


def refuse_flags(hot: Floats, feature: Feature, name_of: Callable[[int], str]) -> None:
    """Name the first row of flags ``(i, level)`` that says no level, and is not missing."""
    says_one = ((hot == 0) | (hot == 1)).all(-1) & (hot.sum(-1) == 1)
    wrong = ~says_one & ~np.isnan(hot).all(-1)
    if wrong.any():
        row = int(wrong.argmax())
        raise SchemaError(
            f"one-hot feature {feature.name!r}: {name_of(row)} is {hot[row].tolist()} over the"
            f" columns {quoted(feature.columns)}; expected a single 1 and 0 elsewhere."
        )


_OPTIONAL = ("seen_low", "seen_high", "resolution")  # columns of a codec
Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def takes_rows(
    error: type[ProceError], *names: str
) -> Callable[[Callable[Given, Returned]], Callable[Given, Returned]]:
    """Return a decorator that refuses arguments of a method that are no rows of its schema."""

    def decorate(method: Callable[Given, Returned]) -> Callable[Given, Returned]:
        parameters = signature(method).parameters
        places = [(list(parameters).index(name), name) for name in names]
        optional = {name for name in names if parameters[name].default is None}

        @wraps(method)
        def call(*args: Given.args, **kwargs: Given.kwargs) -> Returned:
            given: dict[str, Any] = {
                name: args[place] for place, name in places if place < len(args)
            }
            given |= {name: kwargs[name] for name in names if name in kwargs}
            owner: Any = args[0]
            schema = owner.schema if hasattr(owner, "schema") else owner.codec.schema
            for name, rows in given.items():
                if rows is not None or name not in optional:
                    check_rows(name, rows, len(schema), error)
            return method(*args, **kwargs)

        return call

    return decorate


def check_rows(name: str, rows: Any, n_features: int, error: type[ProceError]) -> None:
    """Refuse what is no array of rows ``(…, f)``."""
    check_array(name, rows, error)
    if rows.dtype.kind != "f":
        raise error(f"{name} is an array of {rows.dtype}; expected floating point numbers.")
    if not rows.ndim or rows.shape[-1] != n_features:
        raise error(
            f"{name} is an array of {_shape(rows)}; expected rows with an entry for each of the"
            f" {n_features} features, such as codec.encode(frame) gives."
        )


def check_fit(rows: Array, error: type[ProceError], **others: Array) -> None:
    """Refuse arrays that do not broadcast to the rows that they belong to."""
    for name, values in others.items():
        if values.shape == rows.shape:
            continue
        try:
            np.broadcast_to(values, rows.shape)
        except ValueError:
            raise error(
                f"{name} is an array of {_shape(values)}, which does not fit rows of"
                f" {_shape(rows)}."
            ) from None


def check_array(name: str, values: Any, error: type[ProceError]) -> None:
    """Refuse what is no array of real numbers."""
    if not isinstance(values, np.ndarray):
        raise error(f"{name} is {brief(values)}; expected a NumPy array.")
    if values.dtype.kind not in "biuf":
        raise error(f"{name} is {brief(values)}; expected an array of real numbers.")


def _shape(rows: Array) -> str:
    return " x ".join(map(str, rows.shape)) or "no dimension"


@checked(SchemaError)
def check_parts(schema: Schema, layout: Any, **columns: Any) -> None:
    """Refuse what no codec can be made of; the columns are ``(f,)``."""
    for name, column in columns.items():
        if column is not None or name not in _OPTIONAL:
            check_array(name, column, SchemaError)
            if column.shape != (len(schema),):
                raise SchemaError(f"{name} is {brief(column)}; expected a number for each feature.")
