"""The labels of training rows: which classes there are, and which one each row has."""

from typing import Any

import numpy as np
import pandas as pd

from proce.arrays import Ints
from proce.classifier.classifier import checked_classes, label_values
from proce.errors import ModelError
from proce.schema import Level


def read_labels(label: Any, n_rows: int) -> tuple[tuple[Level, ...], Ints]:
    """Return the sorted classes, and each row's class as a position ``(n,)``."""
    values = label_values(label, "label")
    if values.shape != (n_rows,):
        raise ModelError(
            f"the labels have shape {values.shape} for {n_rows} rows; expected one label per row."
        )
    missing = pd.isna(values)
    if missing.any():
        raise ModelError(
            f"the label of row {int(missing.argmax())} is missing, as are {int(missing.sum())} in"
            " all; drop those rows or fill them in."
        )
    try:
        unique, positions = np.unique(values, return_inverse=True)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in values})
        raise ModelError(
            f"the labels mix {' and '.join(kinds)} values; expected one type."
        ) from None
    if len(unique) < 2:
        raise ModelError(
            f"all {n_rows} labels are {unique.tolist()[0]!r}; expected at least two classes."
            if len(unique)
            else "there are no labels; expected at least one row of each class."
        )
    return checked_classes(unique, "the label"), positions.astype(np.int64)
