"""The labels of training rows: which classes there are, and which one each row has."""

from typing import Any

import numpy as np
import pandas as pd

from proce.arrays import Array, Ints
from proce.classifier.classifier import checked_classes, label_values
from proce.errors import ModelError
from proce.schema import Level


def read_labels(label: Any, n_rows: int) -> tuple[tuple[Level, ...], Ints]:
    """Return the sorted classes, and each row's class as a position ``(n,)``."""
    unique, positions = distinct_labels(label, "label", n_rows)
    if len(unique) < 2:
        raise ModelError(
            f"all {n_rows} labels are {unique.tolist()[0]!r}; expected at least two classes."
            if len(unique)
            else "there are no labels; expected at least one row of each class."
        )
    return checked_classes(unique, "the label"), positions


def distinct_labels(label: Any, name: str, n_rows: int) -> tuple[Array, Ints]:
    """Return the sorted labels, each once, and which of them each row has, ``(n,)``.

    Parameters
    ----------
    label
        One label for each row.
    name
        What they are called in an error.
    n_rows
        How many rows there are.
    """
    values = label_values(label, name)
    if values.shape != (n_rows,):
        raise ModelError(
            f"{name} has the shape {values.shape} for {n_rows} rows; expected one label for each"
            " row."
        )
    missing = pd.isna(values)
    if n_missing := int(missing.sum()):
        raise ModelError(
            f"{name} has {n_missing:,} missing label{'s' * (n_missing != 1)}; expected one label"
            f" for each row. Leave these rows out, of which row {int(missing.argmax())} is the"
            " first, or fill them in."
        )
    try:
        unique, positions = np.unique(values, return_inverse=True)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in values})
        raise ModelError(f"{name} mixes {' and '.join(kinds)} values; expected one type.") from None
    return unique, positions.astype(np.int64)
