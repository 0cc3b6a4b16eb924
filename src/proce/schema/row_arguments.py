"""Arrays of rows that a caller hands over: real numbers, one for each feature."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

import numpy as np

from proce.arguments import brief, checked
from proce.arrays import Array
from proce.errors import ProceError, SchemaError
from proce.schema.schema import Schema

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
