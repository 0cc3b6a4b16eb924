"""Arguments that are wrong almost everywhere, and what a message about one must be like."""

import re
from collections.abc import Callable, Generator, Iterable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch


class Anything:
    """A class that takes any arguments."""

    def __init__(self, *arguments: Any) -> None:
        pass


# Each is made anew for each case: a generator is empty once it was read.
WRONG_VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "zero": lambda: 0,
    "minus one": lambda: -1,
    "a fraction": lambda: 1.5,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "minus inf": lambda: float("-inf"),
    "a subnormal": lambda: 5e-324,
    "huge float": lambda: 1e308,
    "huge int": lambda: 10**30,
    "beyond 64 bits": lambda: 2**64,
    "complex": lambda: 1 + 2j,
    "empty text": lambda: "",
    "a blank": lambda: " ",
    "a text": lambda: "nonsense",
    "a text with NUL": lambda: "a\0b",
    "300 characters": lambda: "x" * 300,
    "bytes": lambda: b"bytes",
    "a path": lambda: Path("no") / "such" / "file.csv",
    "empty list": list,
    "list of text": lambda: ["nonsense"],
    "list of None": lambda: [None],
    "list of lists": lambda: [[], []],
    "list of numbers": lambda: [1.0, float("nan")],
    "empty dict": dict,
    "dict by text": lambda: {"nonsense": 1},
    "dict by feature": lambda: {"savings": object()},
    "dict of None": lambda: {"savings": None},
    "dict of a list": lambda: {"savings": [1, 2, 3]},
    "dict of inf": lambda: {"savings": float("inf")},
    "dict by number": lambda: {1: None},
    "set": lambda: {1, 2},
    "generator": lambda: (number for number in (1, 2)),
    "object": object,
    "a class": lambda: Anything,
    "a function": lambda: lambda *arguments: None,
    "a slice": lambda: slice("a", None),
    "a slice without steps": lambda: slice(None, None, 0),
    "a date": lambda: date(2020, 1, 2),
    "array": lambda: np.array([1.0, 2.0]),
    "array of text": lambda: np.array(["a", "b"]),
    "array of objects": lambda: np.array([None, {}], dtype=object),
    "no dimension": lambda: np.array(3.0),
    "empty array": lambda: np.empty((0, 5)),
    "three dimensions": lambda: np.zeros((2, 2, 2)),
    "not a time": lambda: np.datetime64("NaT"),
    "whole array": lambda: np.zeros((2, 5), dtype=np.int64),
    "complex array": lambda: np.zeros((2, 5), dtype=np.complex128),
    "array of nan": lambda: np.full((2, 5), np.nan),
    "tensor": lambda: torch.zeros(3, dtype=torch.float64),
    "tensor nowhere": lambda: torch.zeros((2, 5), device="meta"),
    "empty frame": pd.DataFrame,
    "other frame": lambda: pd.DataFrame({"nonsense": [1]}),
    "frame without rows": lambda: pd.DataFrame({"savings": []}),
    "column": lambda: pd.Series([1.0], name="savings"),
}
_INNER_WORDS = (
    r"Traceback|NoneType|torch\.Size|\bgenes?\b|genome|\bkernels?\b|GRID|__\w+__|unhashable"
    r"|has no attribute|positional argument|unexpected keyword|at 0x[0-9a-f]+|numba|narwhals"
)


def fault_of(error: Exception, parameter: str, value: Any, known: type[Exception]) -> str | None:
    """Return what is wrong with an error, or ``None`` where it is as it should be."""
    if not isinstance(error, known):
        return f"bare {type(error).__name__}: {error}"
    message = str(error)
    if not message.strip():
        return "an empty message"
    if len(message) > 1000:
        return f"a message of {len(message)} characters"
    inner = re.search(_INNER_WORDS, message)
    if inner is not None and inner[0] not in repr(value):
        return f"inner word {inner[0]!r} in: {message}"
    if not any(_has_word(message, word) for word in _names_of(parameter, value)):
        return f"neither {parameter!r} nor the value is named in: {message}"
    return None


def _has_word(message: str, word: str) -> bool:
    """Whether a word is in a message, and not only as a part of another one."""
    start, end = (r"(?<!\w)" if word[:1].isalnum() else ""), r"(?!\w)" if word.isalpha() else ""
    return re.search(start + re.escape(word) + end, message) is not None


def _text(value: Any) -> str:
    return " ".join(repr(value).split())[:20]


def _names_of(parameter: str, value: Any) -> list[str]:
    """Return the words of which a message must have one: the parameter, the value or a part."""
    spoken = parameter.replace("_", " ")
    names = [parameter, spoken, spoken.replace(" ", "-"), parameter.removesuffix("s")]
    names += [type(value).__name__, _text(value), str(value)[:20]]
    if isinstance(value, Generator):
        value = [1, 2]  # what it gave
    if isinstance(value, Iterable) and getattr(value, "ndim", 1):
        names += [text for part in value for text in (_text(part), str(part)[:20])]
    if isinstance(value, dict):
        names += [_text(part) for part in value.values()]
    if isinstance(value, pd.DataFrame):
        names += ["frame", "column", "rows"]
    if parameter == "text":
        names += ["JSON"]
    return [name for name in names if name.strip()]
