"""The output of a model, checked and turned into class probabilities.

The sum of a row may be off by 1e-3 and stays as the model gave it. An entry that lies outside of
[0, 1] by no more than rounding is moved onto the nearer end.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from proce.arguments import kind_name
from proce.errors import ModelError, ModelOutputError, ProceError

Output = Literal["logit", "probability"]
SUM_TOLERANCE = 1e-3
_MAX_ROUNDING = 1e-6
_VECTOR_ROWS = 64  # a multiple of what any processor computes at once


@contextmanager
def translate_errors(name: str, n_rows: int, advice: str = "") -> Iterator[None]:
    """Turn whatever a model raises into a `ModelError` that shows the first line of it."""
    try:
        yield
    except ProceError:
        raise
    except Exception as error:
        lines = str(error).strip().splitlines() or ["no message"]
        raise ModelError(
            f"{name} failed on {n_rows} row{'s' * (n_rows != 1)}:"
            f" {type(error).__name__}: {lines[0].rstrip('.')}.{advice}"
        ) from error


def as_columns(answer: Any, n_rows: int, name: str) -> Tensor:
    """Return an answer of any library as a float64 tensor ``(n, m)``."""
    if answer is None:
        raise ModelOutputError(
            f"{name} answered None; expected probabilities of shape ({n_rows}, k). Does it return"
            " what it computes?"
        )
    if _is_complex(answer):
        raise ModelOutputError(
            f"{name} answered with complex numbers; expected probabilities of shape ({n_rows}, k),"
            " real numbers from 0 to 1."
        )
    if isinstance(answer, Tensor):
        values = answer.double()
    else:
        try:
            values = torch.from_numpy(np.array(answer, dtype=np.float64))
        except (TypeError, ValueError):
            raise ModelOutputError(
                f"{name} answered with {kind_name(answer)} that is not an array of numbers;"
                f" expected probabilities of shape ({n_rows}, k), one column per class."
            ) from None
    if values.ndim not in (1, 2) or len(values) != n_rows or values[:1].numel() == 0:
        raise ModelOutputError(
            f"{name} gave an answer of shape {tuple(values.shape)} for {n_rows} rows; expected"
            f" ({n_rows}, k) with a column per class, or ({n_rows},) for the second of two classes."
        )
    return values[:, None] if values.ndim == 1 else values


def _is_complex(answer: Any) -> bool:
    if isinstance(answer, Tensor):
        return answer.is_complex()
    return getattr(getattr(answer, "dtype", None), "kind", "") == "c"


def to_probabilities(columns: Tensor, output: Output) -> Tensor:
    """Return columns ``(n, m)`` as class probabilities ``(n, k)``.

    A single column holds the second of two classes.
    """
    if columns.shape[1] > 1:
        return columns if output == "probability" else columns.softmax(-1)
    if output == "probability":
        return torch.cat([1 - columns, columns], dim=-1)
    return _sigmoid(torch.cat([-columns, columns], dim=-1))  # 1 - p loses digits near 1


def _sigmoid(values: Tensor) -> Tensor:
    """Return the sigmoid of values ``(n, 2)``, that of a row the same to the last bit in any batch.

    PyTorch computes the last few values of a tensor by other instructions than the rest, so whole
    blocks are computed.
    """
    n_padding = -len(values) % _VECTOR_ROWS
    return functional.pad(values, (0, 0, 0, n_padding)).sigmoid()[: len(values)]


def count_classes(columns: Tensor) -> int:
    """Return how many classes the columns ``(n, m)`` of an output describe."""
    return max(2, columns.shape[1])


def _by_number(row: int) -> str:
    return f"row {row}"


def check_probabilities(
    columns: Tensor,
    output: Output,
    n_classes: int,
    name: str,
    row_words: Callable[[int], str] = _by_number,
) -> Tensor:
    """Return columns ``(n, m)`` as sound probabilities ``(n, k)``, or name the row that is not.

    ``row_words`` says which row that is, given its position.
    """
    if count_classes(columns) != n_classes:
        raise ModelOutputError(
            f"{name} speaks of {count_classes(columns)} classes, and {n_classes} are expected."
            " Give classes= with one label per column, in the order of the columns."
        )
    if output == "logit":
        probabilities = to_probabilities(columns, output)
        if probabilities[:, 0].isnan().any():
            _refuse_entries(probabilities, name, row_words)
        return probabilities
    low, high = (end.item() for end in columns.aminmax())
    if not (low >= 0 and high <= 1):  # NaN fails both
        _refuse_entries(columns, name, row_words)
        columns = columns.clamp(0, 1)
    if columns.shape[1] > 1:
        _refuse_sums(columns, name, row_words)
    return to_probabilities(columns, output)


def _refuse_sums(probabilities: Tensor, name: str, row_words: Callable[[int], str]) -> None:
    sums = probabilities.sum(-1)
    off = (sums - 1).abs() > SUM_TOLERANCE
    if off.any():
        row = int(off.int().argmax())
        raise ModelOutputError(
            f"{name}: {row_words(row)} has probabilities {_listed(probabilities[row])}, which sum"
            f" to {sums[row].item():.6g}; expected 1. Normalise them, or say output='logit' where"
            " the model gives scores."
        )


def _refuse_entries(probabilities: Tensor, name: str, row_words: Callable[[int], str]) -> None:
    for bad, what in (
        (probabilities.isnan(), "NaN among its probabilities"),
        (
            (probabilities < -_MAX_ROUNDING) | (probabilities > 1 + _MAX_ROUNDING),
            "a probability outside the range from 0 to 1",
        ),
    ):
        rows = bad.any(-1)
        if rows.any():
            row = int(rows.int().argmax())
            raise ModelOutputError(
                f"{name}: {row_words(row)} has {what}: {_listed(probabilities[row])}. Ask the model"
                " for that row directly to see why."
            )


def _listed(values: Tensor) -> str:
    few = ", ".join(f"{value:.6g}" for value in values[:6].tolist())
    return f"[{few}{', …' if len(values) > 6 else ''}]"
