"""The rows that a graph is read off: complete, and on one scale."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from proce.errors import GraphError
from proce.schema import MISSING_LEVEL, Codec, Continuous, Schema

Numbers = NDArray[np.float64]
_MIN_SPARE_ROWS = 10  # rows beyond the number of features
_MIN_EIGENVALUE = 1e-10  # of the correlations: below, columns follow from each other
_JITTER = 1e-5


def complete_rows(schema: Schema, frame: Any) -> tuple[Numbers, list[str]]:
    """Return the rows without a missing value, and a note where others were left out."""
    encoded = Codec.fit(schema, frame).encode(frame)
    levels = np.array([not isinstance(feature, Continuous) for feature in schema])
    missing = np.isnan(encoded) | (levels & (encoded == MISSING_LEVEL))
    rows = encoded[~missing.any(1)]
    needed = len(schema) + _MIN_SPARE_ROWS
    if len(rows) < needed:
        raise GraphError(
            f"there are {len(rows)} complete rows for {len(schema)} features; expected at least"
            f" {needed}. Bring more rows, leave features out, or fill in missing values."
        )
    notes = []
    if len(rows) < len(encoded):
        worst = schema.names[int(missing.sum(0).argmax())]
        notes.append(
            f"{len(encoded) - len(rows):,} of {len(encoded):,} rows have missing values and were"
            f" left out; {worst} is missing most often."
        )
    return rows, notes


def standardised(rows: Numbers) -> Numbers:
    """Centre and scale; where columns follow from each other, a trace of noise sets them apart.

    The user's own rows were checked before, but columns of a small resample can still do so.
    """
    rows = (rows - rows.mean(0)) / rows.std(0)
    if np.linalg.eigvalsh(rows.T @ rows / len(rows))[0] < _MIN_EIGENVALUE:
        return rows + _JITTER * np.random.default_rng(0).normal(size=rows.shape)
    return rows
