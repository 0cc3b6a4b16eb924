"""The cells of counterfactuals that are not as they were, in raw units, by size."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from proce.arrays import Array, Floats, Ints
from proce.explanation.record.context import Context
from proce.explanation.record.counterfactuals import CHANGES, NO_RULE, Change, Counterfactuals
from proce.explanation.record.rows import ExplainedRow, ExplainedRows
from proce.schema import Continuous, Feature, Level, MixedDistance


class ChangedCell(NamedTuple):
    """A cell that was acted on, is held, or follows."""

    position: int  # of the feature in the schema
    feature: Feature
    kind: Change
    before: float  # in raw units, or the code of a level
    after: float
    expected: float  # where it would be if neither acted on nor held; NaN if not known
    size: float  # on the unit range, times the effort; of an action from `expected`
    holds_from: float = math.nan  # where a number keeps its promise; NaN if not known
    holds_to: float = math.nan
    open_ends: int = 0  # the sum of OPEN_BELOW and OPEN_ABOVE
    rule: int = NO_RULE  # of the context, that alone asks for the action


@dataclass(frozen=True, eq=False)
class ChangedCells:
    """Changed cells as columns ``(m,)``, those of a counterfactual by kind and then by size."""

    context: Context
    n_counterfactuals: int  # one without changes has no cells
    counterfactual: Ints  # the line of each cell's counterfactual
    position: Ints  # and all others as in ChangedCell
    kind: Ints
    before: Floats
    after: Floats
    expected: Floats
    size: Floats
    holds_from: Floats
    holds_to: Floats
    open_ends: Ints
    rule: Ints

    def __len__(self) -> int:
        return len(self.counterfactual)

    def by_counterfactual(self) -> list[list[ChangedCell]]:
        """Return the cells of each counterfactual."""
        features = self.context.codec.schema.features
        cells: list[list[ChangedCell]] = [[] for _ in range(self.n_counterfactuals)]
        columns = (self.counterfactual, self.position, self.kind)
        values = (self.before, self.after, self.expected, self.size)
        promise = (self.holds_from, self.holds_to, self.open_ends, self.rule)
        for line, position, kind, *numbers in zip(
            *(column.tolist() for column in (*columns, *values, *promise)), strict=True
        ):
            cells[line].append(ChangedCell(position, features[position], CHANGES[kind], *numbers))
        return cells

    def plain_values(self, values: Floats) -> list[Level | None]:
        """Return one of the columns of raw values as numbers and levels."""
        plain = np.empty(len(self), dtype=object)
        for position, feature in enumerate(self.context.codec.schema):
            cells = np.flatnonzero(self.position == position)
            plain[cells] = plain_column(feature, values[cells].tolist())
        return list(plain)


def ranked_cells(rows: ExplainedRows) -> list[list[list[ChangedCell]]]:
    """Return for each row, for each of its counterfactuals by rank, the changed cells."""
    cells = changed_cells(rows).by_counterfactual()
    return [
        cells[first:last] for first, last in zip(rows.extents[:-1], rows.extents[1:], strict=True)
    ]


def recommended_cells(rows: ExplainedRows) -> list[list[ChangedCell]]:
    """Return for each row the changed cells of its recommended counterfactual; none without one."""
    found = iter(changed_cells(rows, rows.recommended()).by_counterfactual())
    return [next(found) if count else [] for count in rows.counts.tolist()]


def row_cells(row: ExplainedRow) -> list[list[ChangedCell]]:
    """Return the changed cells of one row's counterfactuals, by rank."""
    return changed_cells(row.record, row.ways).by_counterfactual()


def changed_cells(rows: ExplainedRows, ways: Counterfactuals | None = None) -> ChangedCells:
    """Return the changed cells of some counterfactuals of rows; of all where none are given."""
    ways = rows.counterfactuals if ways is None else ways
    context, owner = rows.context, ways.owner
    lines, positions = np.nonzero(ways.changes)
    kind = ways.changes[lines, positions].astype(np.int64)
    factual, raw = rows.factual[owner], rows.raw[owner]
    stages = (factual, ways.rows, ways.expected)  # before, after, expected
    told = [context.codec.raw_of_changes(stage, factual, raw) for stage in stages]
    values = np.stack(told)[:, lines, positions]
    size = _sizes(rows, ways)[lines, positions]
    order = np.lexsort([positions, -size, kind, lines])  # the last key is first
    promise = (ways.holds_from, ways.holds_to, ways.open_ends.astype(np.int64), ways.asked_by)
    columns = (
        *(lines, positions, kind, *values, size),
        *(column[lines, positions] for column in promise),
    )
    return ChangedCells(context, len(ways), *(column[order] for column in columns))


def plain_value(feature: Feature, value: float) -> Level | None:
    """Return a raw number or a level's code as a plain value; ``None`` where it is missing."""
    return plain_column(feature, [value])[0]


def plain_column(feature: Feature, values: Sequence[float]) -> list[Level | None]:
    """Return raw numbers or levels' codes as plain values; ``None`` where they are missing."""
    if not isinstance(feature, Continuous):
        return [feature.levels[int(value)] if value >= 0 else None for value in values]
    if feature.integer:
        return [None if v != v else int(v) if v.is_integer() else v for v in values]
    return [None if value != value else value for value in values]


def _sizes(rows: ExplainedRows, ways: Counterfactuals) -> Array:
    """Return the size of every change ``(n, f)``; nothing is known of what is not expected."""
    context, factual, expected = rows.context, rows.factual[ways.owner], ways.expected
    is_known = ~np.isnan(expected)
    end = np.where(is_known & (ways.changes == Change.HOLD), expected, ways.rows)
    start = np.where(is_known & (ways.changes == Change.ACTION), expected, factual)
    effort = [context.effort.get(f.name, f.effort) for f in context.codec.schema]
    return MixedDistance.gower(context.codec)(end, start) * effort
