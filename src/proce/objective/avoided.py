"""Levels that are never advised: who has one may keep it, it may follow, but none goes there."""

from dataclasses import dataclass

import numpy as np

from proce.arrays import Array
from proce.schema import Continuous, Schema


@dataclass(frozen=True, eq=False)
class AvoidedLevels:
    """The levels of a schema that no action may lead to.

    Attributes
    ----------
    codes
        For each feature with such levels, its position and their codes.
    table
        ``(f, l)``, flags by the position of a feature and the code of a level.
    """

    codes: tuple[tuple[int, Array], ...]
    table: Array

    @classmethod
    def of(cls, schema: Schema) -> "AvoidedLevels":
        """Return the avoided levels of a schema."""
        codes = [
            (position, [feature.levels.index(level) for level in feature.avoid])
            for position, feature in enumerate(schema)
            if not isinstance(feature, Continuous) and feature.avoid
        ]
        counts = [1 if isinstance(f, Continuous) else len(f.levels) for f in schema]
        table = np.zeros((len(schema), max(counts)), dtype=np.bool_)
        for position, own in codes:
            table[position, own] = True
        return cls(
            tuple((position, np.array(own, dtype=np.float64)) for position, own in codes),
            table,
        )

    def cells(self, rows: Array, factual: Array) -> Array:
        """Return flags for the cells of rows ``(…, f)`` that moved to an avoided level.

        Parameters
        ----------
        rows
            The rows.
        factual
            The rows that they started from, of a shape that goes with theirs.
        """
        flags = np.zeros_like(rows, dtype=np.bool_)
        for position, codes in self.codes:
            flags[..., position] = np.isin(rows[..., position], codes)
        return flags & (rows != factual)

    def revert(self, rows: Array, factual: Array) -> Array:
        """Return rows in which cells that moved to an avoided level are as they were."""
        if not self.codes:
            return rows
        return np.where(self.cells(rows, factual), factual, rows)
