"""The cells of counterfactuals that are not as they were: told apart, in raw units, by size."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from proce.explanation.record.context import Context
from proce.explanation.result.explanation import Change, Explanation
from proce.schema import Categorical, Continuous, Feature, Level

_KINDS = tuple(Change)


class Cell(NamedTuple):
    """A cell that was acted on, is held, or follows.

    Attributes
    ----------
    position, feature
        Of the cell.
    kind
        What became of it.
    before, after
        Numbers in raw units, or codes of levels.
    expected
        Where a held feature would have gone; NaN where that is not known.
    size
        Of the change on the unit range, times this person's effort; of a hold, what it prevents.
    """

    position: int
    feature: Feature
    kind: Change
    before: float
    after: float
    expected: float
    size: float


def cells_of(items: Sequence[Explanation]) -> list[list[list[Cell]]]:
    """Return the cells of each explanation's counterfactuals.

    Of one counterfactual first the actions, then the holds, then the consequences; the largest
    first among each.
    """
    found: list[list[list[Cell]]] = [[[] for _ in range(len(item))] for item in items]
    flat = [cells for each in found for cells in each]
    filled = [item for item in items if len(item)]
    if not filled:
        return found
    context = filled[0].context
    rows, factual, raw = stacked(filled)
    expected = torch.cat([_expected(item) for item in filled])
    changes = torch.cat([item.changes for item in filled])
    for position, feature in enumerate(context.codec.schema):
        owners = torch.nonzero(changes[:, position]).flatten()
        if not len(owners):
            continue
        entries = torch.stack(
            [each[owners, position] for each in (factual, rows, expected)]
        )  # (3, n)
        before, after, would = _raw(context, position, entries, raw[owners, position])
        kinds = changes[owners, position].long()
        to = torch.where(kinds == Change.HOLD, entries[2], entries[1])
        sizes = _sizes(context, position, entries[0], to)
        columns = (owners, kinds, before, after, would, sizes)
        for owner, kind, *values in zip(*(each.tolist() for each in columns), strict=True):
            flat[owner].append(Cell(position, feature, _KINDS[kind], *values))
    for cells in flat:
        cells.sort(key=lambda cell: (cell.kind, -cell.size, cell.position))
    return found


def stacked(items: Sequence[Explanation]) -> tuple[Tensor, Tensor, Tensor]:
    """Return all counterfactuals ``(n, f)``, and what each was before: entries and raw units."""
    counts = torch.tensor([len(item) for item in items])
    rows = torch.cat([item.rows for item in items])
    factual, raw = (
        torch.stack([getattr(item, name) for item in items]).repeat_interleave(counts, 0)
        for name in ("factual", "raw")
    )
    return rows, factual, raw


def raw_rows(context: Context, rows: Tensor, factual: Tensor, raw: Tensor) -> Tensor:
    """Return rows ``(n, f)`` in raw units and level codes; unchanged cells as they came in."""
    return torch.where(rows == factual, raw, context.codec.to_raw(rows))


def plain(feature: Feature, value: float) -> Level | None:
    """Return a raw number or a level's code as a plain value; ``None`` where it is missing."""
    return plain_column(feature, [value])[0]


def plain_column(feature: Feature, values: Sequence[float]) -> list[Level | None]:
    """Return raw numbers or levels' codes as plain values; ``None`` where they are missing."""
    if not isinstance(feature, Continuous):
        return [feature.levels[int(value)] if value >= 0 else None for value in values]
    if feature.integer:
        return [None if v != v else int(v) if v.is_integer() else v for v in values]
    return [None if value != value else value for value in values]


def _expected(item: Explanation) -> Tensor:
    return torch.full_like(item.rows, np.nan) if item.expected is None else item.expected


def _raw(context: Context, position: int, entries: Tensor, raw: Tensor) -> Tensor:
    """Return before, after and expected ``(3, n)`` in raw units."""
    values = entries
    if isinstance(context.codec.schema.features[position], Continuous):
        values = context.codec.raw_numbers(position, entries)
    return torch.where(entries == entries[0], raw, values)


def _sizes(context: Context, position: int, before: Tensor, after: Tensor) -> Tensor:
    feature = context.codec.schema.features[position]
    gap = (after - before).abs() / context.codec.reach[position]
    if isinstance(feature, Categorical):
        gap = (after != before).double()
    return gap.nan_to_num(nan=0.0) * context.effort.get(feature.name, 1.0)
