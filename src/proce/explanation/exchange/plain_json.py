"""Plain values, and models of them, laid out as JSON text that a person can read."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np
from pydantic import BaseModel

_N_OPEN_LEVELS = 4  # levels of the text that have a line per item
_MAX_WIDTH = 100  # characters of a list or an object that stay on a line


def _fields(model: BaseModel) -> dict[str, Any]:
    """Return the fields of a model that were set, in their order."""
    is_set = model.model_fields_set
    return {name: value for name, value in vars(model).items() if name in is_set}


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_fields).encode


def json_text(value: Any) -> str:
    """Return plain values and models as JSON text: items of the upper levels have a line each."""
    # The items of an iterator are taken one by one, each a line of its list.
    return _text(value, _N_OPEN_LEVELS) + "\n"


def plain_json(value: Any) -> Any:
    """Return a value as plain values of JSON; what JSON does not have becomes text."""
    if isinstance(value, Enum):
        return plain_json(value.value)
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return finite_or_none(value)
    if isinstance(value, Mapping):
        return {str(key): plain_json(item) for key, item in value.items()}
    if isinstance(value, Sequence | set | frozenset):
        return [plain_json(item) for item in value]
    return str(value)


def finite_or_none(number: float) -> float | None:
    """Return a number, or ``None`` where it is not finite, since JSON cannot hold that."""
    return number if math.isfinite(number) else None


def _text(value: Any, n_open_levels: int) -> str:
    if isinstance(value, BaseModel):
        value = _fields(value)
    if not isinstance(value, dict | list | Iterator):
        return _scalar_text(value)
    if (line := _line(value, n_open_levels)) is not None:
        return line
    indent = "\n" + " " * (_N_OPEN_LEVELS - n_open_levels + 1)
    if isinstance(value, dict):
        items = [f"{_encode(key)}: {_text(item, n_open_levels - 1)}" for key, item in value.items()]
    else:
        items = [_text(item, n_open_levels - 1) for item in value]
    if not items:
        return "[]"
    start, end = "{}" if isinstance(value, dict) else "[]"
    return start + ",".join(indent + item for item in items) + indent[:-1] + end


def _scalar_text(value: Any) -> str:
    """Return a value that holds no others; the encoder takes ten times as long for a number."""
    if type(value) is float and math.isfinite(value):
        return repr(value)
    return str(value) if type(value) is int else _encode(value)


def _line(value: Any, n_open_levels: int) -> str | None:
    """Return what stays on one line: what is below the upper levels, or flat and short."""
    if isinstance(value, Iterator):
        return None
    if not n_open_levels:
        return _encode(value)
    items = value.values() if isinstance(value, dict) else value
    if any(isinstance(item, dict | list | BaseModel) for item in items):
        return None
    line = _encode(value)
    return line if len(line) <= _MAX_WIDTH else None
