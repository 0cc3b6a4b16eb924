"""The rows that a graph is read off: complete, and on one scale."""

from typing import Any

import numpy as np

from proce.arrays import Floats, Ints
from proce.errors import GraphError
from proce.schema import Codec, Schema

_MIN_SPARE_ROWS = 10  # rows beyond the number of features
_MIN_EIGENVALUE = 1e-10  # of the correlations: below, columns follow from each other
_JITTER = 1e-5


def complete_rows(schema: Schema, frame: Any) -> tuple[Floats, list[str]]:
    """Return the rows without a missing value, and a note where others were left out."""
    codec = Codec.fit(schema, frame)
    encoded = codec.encode(frame)
    missing = codec.missing(encoded)
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


def varying(rows: Floats) -> Ints:
    """Return the positions of the columns that have more than one value."""
    return np.flatnonzero(rows.max(0) > rows.min(0))


def scaled(values: Floats) -> Floats:
    """Return columns with mean 0 and standard deviation 1."""
    standard: Floats = (values - values.mean(0)) / np.maximum(values.std(0), 1e-12)
    return standard


def standardised(rows: Floats) -> Floats:
    """Centre and scale; where columns follow from each other, a trace of noise sets them apart.

    The user's own rows were checked before, but columns of a small resample can still do so.
    """
    rows = scaled(rows)
    if np.linalg.eigvalsh(rows.T @ rows / len(rows))[0] < _MIN_EIGENVALUE:
        return rows + _JITTER * np.random.default_rng(0).normal(size=rows.shape)
    return rows
