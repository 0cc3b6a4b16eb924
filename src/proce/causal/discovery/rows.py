"""The rows that a graph is read off: complete, and on one scale."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from proce.errors import GraphError
from proce.schema import MISSING_LEVEL, Codec, Continuous, Schema

Numbers = NDArray[np.float64]
_SPARE_ROWS = 10  # more rows than features, at least
_SINGULAR = 1e-10
_JITTER = 1e-5


def complete_rows(schema: Schema, frame: Any) -> tuple[Numbers, list[str]]:
    """Return the rows without a missing value, and what there is to say about them."""
    encoded = Codec.fit(schema, frame).encode(frame).numpy()
    levels = np.array([not isinstance(feature, Continuous) for feature in schema])
    missing = np.isnan(encoded) | (levels & (encoded == MISSING_LEVEL))
    rows = encoded[~missing.any(1)]
    needed = len(schema) + _SPARE_ROWS
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

    The user's own rows were checked for that; resamples of few rows can still be so.
    """
    rows = (rows - rows.mean(0)) / rows.std(0)
    if np.linalg.eigvalsh(rows.T @ rows / len(rows))[0] < _SINGULAR:
        return rows + _JITTER * np.random.default_rng(0).normal(size=rows.shape)
    return rows
