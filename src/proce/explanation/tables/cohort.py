"""Many explanations at once: what changes how often and by how much, and what it costs whom."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from proce.arrays import lower_median
from proce.errors import SearchError
from proce.explanation.record.counterfactuals import Change, Outcome, count_actions
from proce.explanation.record.rows import ExplainedFrame
from proce.explanation.tables.frames import frame_of
from proce.explanation.words.cells import ChangedCell, changed_cells
from proce.explanation.words.values import MISSING, one_line, value_text
from proce.losses import Loss
from proce.schema import Action, Categorical, Continuous, Feature, Ordinal
from proce.schema.features.numerals import MINUS, counted
from proce.schema.frames.cells import is_missing

CONFIDENCE = 0.95
_MIN_GROUP_ROWS = 5  # on either side of a gap, or no interval is given
_MAX_GROUPS = 50
_N_RESAMPLES = 2_000
_SEED = 0
_MAX_RESAMPLED_ROWS = 2_000  # the mean of a resample of more rows is as good as normal
_QUARTERS = (0.25, 0.5, 0.75)


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
    recommended = changed_cells(result.rows, result.rows.recommended())
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


@dataclass(frozen=True, slots=True)
class Group:
    """What the recommended counterfactuals of a group's rows cost."""

    name: str
    n_rows: int  # but for those that have their target already
    costs: tuple[float, ...]  # the distances of the recommended counterfactuals
    gap: float | None  # the mean cost less that of all others; None where either side has none
    low: float | None  # the ends of its 95% interval; None where there are too few rows
    high: float | None
    n_actions: tuple[int, ...] = ()  # of each of these counterfactuals, holds counted

    @property
    def median(self) -> float | None:
        """The median cost; ``None`` without a counterfactual."""
        return float(np.median(self.costs)) if self.costs else None

    @property
    def mean(self) -> float | None:
        """The mean cost; ``None`` where nothing was found."""
        return float(np.mean(self.costs)) if self.costs else None


def groups_of(result: ExplainedFrame, by: str | Sequence[Any]) -> list[Group]:
    """Return the groups of rows by the values of a feature, or by labels that are given."""
    labels = _labels(result, by)
    costs: dict[str, list[float]] = {}
    rows: Counter[str] = Counter()
    best = result.rows.recommended()
    cost_of = dict(zip(best.owner.tolist(), best.losses[:, Loss.DISTANCE].tolist(), strict=True))
    counts = count_actions(best.changes).tolist()
    count_of = dict(zip(best.owner.tolist(), counts, strict=True))
    n_actions: dict[str, list[int]] = {}
    to_change = np.flatnonzero(result.rows.outcomes != Outcome.ALREADY_TARGET.code)
    for row in to_change.tolist():
        rows[labels[row]] += 1
        costs.setdefault(labels[row], []).extend([cost_of[row]] if row in cost_of else [])
        n_actions.setdefault(labels[row], []).extend([count_of[row]] if row in count_of else [])
    if len(costs) > _MAX_GROUPS:
        raise SearchError(
            f"by makes {len(costs)} groups; expected at most {_MAX_GROUPS}. Put values together"
            " that belong together, and hand over a label for each row."
        )
    order = [name for name in dict.fromkeys(_order(result, by, labels)) if name in costs]
    return [
        replace(_group(name, rows[name], costs), n_actions=tuple(n_actions[name])) for name in order
    ]


def group_frame(result: ExplainedFrame, by: str | Sequence[Any]) -> Any:
    """Return the groups as a frame."""
    groups = groups_of(result, by)
    numbers = pa.float64()
    return frame_of(
        result,
        {
            "group": pa.array([group.name for group in groups], pa.string()),
            "rows": pa.array([group.n_rows for group in groups], pa.int64()),
            "found": pa.array([len(group.costs) for group in groups], pa.int64()),
            "mean_cost": pa.array([group.mean for group in groups], numbers),
            "median_cost": pa.array([group.median for group in groups], numbers),
            "gap": pa.array([group.gap for group in groups], numbers),
            "gap_low": pa.array([group.low for group in groups], numbers),
            "gap_high": pa.array([group.high for group in groups], numbers),
        },
    )


def _labels(result: ExplainedFrame, by: str | Sequence[Any]) -> list[str]:
    """Return the group of each row."""
    if not isinstance(by, str):
        labels = [MISSING if is_missing(label) else str(label) for label in by]
        if len(labels) != len(result):
            raise SearchError(
                f"by has {len(labels)} labels; expected one for each of the {len(result)} rows of"
                " the result, or the name of a feature."
            )
        return [one_line(label) for label in labels]
    schema = result.context.codec.schema
    position = schema.position(by)
    feature, span = schema.features[position], result.context.codec.span[position].item()
    values = result.rows.raw[:, position].tolist()
    if not isinstance(feature, Continuous):
        return [level_name(feature, value) for value in values]
    names, cuts = _quarters(feature, values, span)
    quarters = np.searchsorted(cuts, values, side="left").tolist()
    return [
        MISSING if value != value else names[quarter]
        for value, quarter in zip(values, quarters, strict=True)
    ]


def level_name(feature: Ordinal | Categorical, code: float) -> str:
    """Return the level of a code as it is named on its own, without quotes around it."""
    level = feature.levels[int(code)] if code >= 0 else None
    if isinstance(level, str) and level not in feature.labels:
        return one_line(level)
    return value_text(feature, code)


def _quarters(
    feature: Continuous, values: Sequence[float], span: float
) -> tuple[list[str], list[float]]:
    """Return the names of the quarters of some numbers, and where all but the last end."""
    known = [value for value in values if value == value]
    cuts = [] if not known else np.quantile(known, _QUARTERS, method="inverted_cdf").tolist()
    cuts = sorted({cut for cut in cuts if cut < max(known)})
    texts = [value_text(feature, cut, span) for cut in cuts]
    if not texts:
        return ["all"], cuts
    between = [f"over {low} to {high}" for low, high in pairwise(texts)]
    return [f"up to {texts[0]}", *between, f"over {texts[-1]}"], cuts


def _order(result: ExplainedFrame, by: str | Sequence[Any], labels: Sequence[str]) -> list[str]:
    """Return the names of groups: of a feature by its values, of labels by name; missing last."""
    if not isinstance(by, str):
        return [*sorted({*labels} - {MISSING}), MISSING]
    raw = result.rows.raw[:, result.context.codec.schema.position(by)]
    order = np.argsort(raw, kind="stable").tolist()  # NaN comes last
    return [*(labels[row] for row in order if labels[row] != MISSING), MISSING]


def _group(name: str, n_rows: int, costs: dict[str, list[float]]) -> Group:
    own = np.array(costs[name])
    others = np.array([cost for other in costs if other != name for cost in costs[other]])
    if not len(own) or not len(others):
        return Group(name, n_rows, tuple(costs[name]), None, None, None)
    gap = float(own.mean() - others.mean())
    if min(len(own), len(others)) < _MIN_GROUP_ROWS:
        return Group(name, n_rows, tuple(costs[name]), gap, None, None)
    if name == next(iter(costs)):
        low, high = _gap_interval(own, others)
    else:  # of two groups the second's interval is the first's, seen from the other side
        high, low = (-end for end in _gap_interval(others, own))
    return Group(name, n_rows, tuple(costs[name]), gap, low, high)


def _gap_interval(first: NDArray[np.float64], second: NDArray[np.float64]) -> tuple[float, float]:
    """Return the ends of the interval of the mean of one side less that of the other."""
    generator = np.random.default_rng(_SEED)
    gaps = _means(first, generator) - _means(second, generator)
    low, high = np.quantile(gaps, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]).tolist()
    return low, high


def _means(values: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
    """Return the means of bootstrap resamples of some values."""
    if len(values) > _MAX_RESAMPLED_ROWS:
        return generator.normal(values.mean(), values.std() / np.sqrt(len(values)), _N_RESAMPLES)
    drawn = values[generator.integers(len(values), size=(_N_RESAMPLES, len(values)))]
    means: NDArray[np.float64] = drawn.mean(1)
    return means
