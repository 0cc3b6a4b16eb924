"""Many explanations at once: which features change, how often and by how much."""

import math
from collections import Counter
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa

from proce.arrays import lower_median
from proce.explanation.record.counterfactuals import Change
from proce.explanation.record.rows import ExplainedFrame
from proce.explanation.tables.frames import frame_of
from proce.explanation.words.cells import ChangedCell, cells_of_counterfactuals
from proce.explanation.words.values import value_text
from proce.schema import Action, Categorical, Continuous, Feature
from proce.schema.features.numerals import MINUS, counted


@dataclass(frozen=True, slots=True)
class Tally:
    """How often a feature is acted on, held, or follows, in the recommended counterfactuals."""

    feature: Feature
    kind: Change
    count: int  # in how many rows
    share: float  # of the rows that have a counterfactual
    median_change: (
        float | None
    )  # of one of the rows, so that it lies on the step; in raw units or levels
    n_raised: int  # in how many rows the value goes up
    n_lowered: int
    median_raise: float | None
    median_lowering: float | None
    median_size: float  # on the unit range, times the effort; of a hold, what it prevents
    usual: str | None  # the most frequent change of levels, in words

    @property
    def mark(self) -> str:
        """What it is to a person: ``action``, ``wait``, ``hold`` or ``consequence``."""
        return "wait" if self.feature.action is Action.WAITS else self.kind.name.lower()


def n_found(result: ExplainedFrame) -> int:
    """Return how many rows have a counterfactual."""
    return int((result.rows.counts > 0).sum())


def tallies(result: ExplainedFrame) -> list[Tally]:
    """Return a tally for each feature and kind: actions, holds, then consequences, by frequency."""
    groups: dict[tuple[Change, int], list[ChangedCell]] = {}
    recommended = cells_of_counterfactuals(result.rows, result.rows.recommended())
    for cells in recommended.by_counterfactual():
        for cell in cells:
            groups.setdefault((cell.kind, cell.position), []).append(cell)
    n_rows = n_found(result)
    order = sorted(groups, key=lambda key: (key[0], -len(groups[key]), key[1]))
    return [_tally(groups[key], n_rows) for key in order]


def feature_frame(result: ExplainedFrame) -> Any:
    """Return the tallies of a result as a frame."""
    lines = tallies(result)
    return frame_of(
        result,
        {
            "feature": pa.array([line.feature.name for line in lines], pa.string()),
            "kind": pa.array([line.kind.name.lower() for line in lines], pa.string()),
            "rows": pa.array([line.count for line in lines], pa.int64()),
            "share": pa.array([line.share for line in lines], pa.float64()),
            "median_change": pa.array([line.median_change for line in lines], pa.float64()),
            "median_size": pa.array([line.median_size for line in lines], pa.float64()),
            "usual": pa.array([line.usual for line in lines], pa.string()),
            "raised": pa.array([line.n_raised for line in lines], pa.int64()),
            "lowered": pa.array([line.n_lowered for line in lines], pa.int64()),
            "median_raise": pa.array([line.median_raise for line in lines], pa.float64()),
            "median_lowering": pa.array([line.median_lowering for line in lines], pa.float64()),
        },
    )


def change_text(result: ExplainedFrame, tally: Tally) -> str:
    """Return the usual size of a change: ``+10,400``, ``−160 (5 times), +26 (3 times)``."""
    if tally.median_change is None:
        return tally.usual or ""
    if tally.median_raise is None or tally.median_lowering is None:
        return _signed_text(result, tally, tally.median_change)
    return ", ".join(
        f"{_signed_text(result, tally, change)} ({counted(count, 'time')})"
        for count, change in _directions(tally)
    )


def brief_change_text(result: ExplainedFrame, tally: Tally) -> str:
    """Return the usual size of a change without how often each direction is: ``−160, +26``."""
    if tally.median_raise is None or tally.median_lowering is None:
        return change_text(result, tally)
    return ", ".join(_signed_text(result, tally, change) for _, change in _directions(tally))


def _directions(tally: Tally) -> list[tuple[int, float]]:
    """Return how often each direction is and its median change, the more frequent one first."""
    directions = [
        (tally.n_lowered, tally.median_lowering),
        (tally.n_raised, tally.median_raise),
    ]
    known = [(count, change) for count, change in directions if change is not None]
    return sorted(known, key=lambda direction: -direction[0])


def _signed_text(result: ExplainedFrame, tally: Tally, change: float) -> str:
    sign, size = MINUS if change < 0 else "+", abs(change)
    if isinstance(tally.feature, Continuous):
        codec = result.context.codec
        span = codec.span[codec.schema.position(tally.feature.name)].item()
        return sign + value_text(tally.feature, size, span)
    return sign + counted(size, "level")


def _tally(cells: list[ChangedCell], n_rows: int) -> Tally:
    feature, kind = cells[0].feature, cells[0].kind
    moves = [cell.after - cell.before for cell in cells if not math.isnan(cell.before)]
    ordered = kind is not Change.HOLD and not isinstance(feature, Categorical)
    raises = [move for move in moves if ordered and move > 0]
    falls = [move for move in moves if ordered and move < 0]
    usual = None
    if kind is not Change.HOLD and not isinstance(feature, Continuous):
        ends = Counter((cell.before, cell.after) for cell in cells)
        (before, after), _ = ends.most_common(1)[0]
        usual = f"{value_text(feature, before)} → {value_text(feature, after)}"
    return Tally(
        feature,
        kind,
        len(cells),
        len(cells) / n_rows,
        _lower_median(moves) if ordered else None,
        len(raises),
        len(falls),
        _lower_median(raises),
        _lower_median(falls),
        median(cell.size for cell in cells),
        usual,
    )


def _lower_median(moves: list[float]) -> float | None:
    return float(lower_median(np.array(moves))) if moves else None
