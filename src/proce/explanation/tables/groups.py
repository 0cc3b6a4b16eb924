"""What counterfactuals cost by group, and how far a group is from the others."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from proce.errors import SearchError
from proce.explanation.record.counterfactuals import Outcome, count_actions
from proce.explanation.record.rows import ExplainedFrame
from proce.explanation.tables.frames import frame_of
from proce.explanation.words.values import MISSING, one_line, value_text
from proce.losses import Loss
from proce.schema import Categorical, Continuous, Ordinal
from proce.schema.frames.cells import is_missing

CONFIDENCE = 0.95
_MIN_GROUP_ROWS = 5  # on either side of a gap, or no interval is given
_MAX_GROUPS = 50
_N_RESAMPLES = 2_000
_SEED = 0
_MAX_RESAMPLED_ROWS = 2_000  # the mean of a resample of more rows is as good as normal
_QUARTERS = (0.25, 0.5, 0.75)


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
