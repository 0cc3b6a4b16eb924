"""The scale of a feature: what counts as its whole range, and how finely it is told.

Four outliers in four thousand rows can be a thousand times as large as all else. On a scale from
the lowest to the highest value everybody would then stand at zero. The scale of the search is
therefore that of the bulk of the rows; the lowest and the highest value are kept beside it.
"""

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from proce.arrays import GRID_TOLERANCE, Floats, inwards, lower_median, missing_cells
from proce.errors import SchemaError
from proce.schema.features.feature import MIN_CHANGE, Action, Continuous, Feature

Scale = Literal["bulk", "range"]

_TAIL = 0.005  # of the values, left out at either end
_FAR = 100.0  # interquartile ranges beyond the quartiles: what lies there is set aside at first
_MAX_FAR_SHARE = 0.01  # of the values: more of them are no outliers
_WIDEST = 30.0  # interquartile ranges beyond the quartiles: no scale is wider than this
_LARGEST = 10**308  # that is a double too
_MIN_SPACINGS = 8  # between neighbours on the grid, or doubles cannot hold it


@dataclass(frozen=True, slots=True)
class FeatureScale:
    """The scale of one feature, in raw units; 0 and 1, and codes, for levels."""

    low: float  # `raw = low + span * unit`
    span: float
    seen_low: float  # the lowest and the highest value of the training rows
    seen_high: float
    # what a number is told to: its step or, on the scale of the bulk, a power of ten of about a
    # thousandth of the span; 0 for any value
    resolution: float
    may_miss: bool  # whether a cell was missing

    @property
    def searched(self) -> tuple[float, float]:
        """The values between which a search looks by default, rounded inwards."""
        low, high, step = self.low, self.low + self.span, self.resolution
        if self.seen_low == self.seen_high:
            return self.seen_low, self.seen_high
        return inwards(low, high, 0.0, step) if step else (low, high)

    def searched_text(self) -> str:
        """Return where a search looks by default, in words."""
        low, high = self.searched
        return f"{low:,.6g} in all rows" if low == high else f"{low:,.6g} to {high:,.6g} or its own"

    def text(self) -> str:
        """Return the scale in words."""
        if self.seen_low == self.seen_high:
            return ""
        rounded = f", rounded to {self.resolution:,.6g}" if self.resolution else ""
        seen = f"seen {self.seen_low:,.6g} to {self.seen_high:,.6g}"
        return f"span {self.span:,.6g}, {seen}{rounded}"


def fit_scale(feature: Feature, values: Floats, scale: Scale) -> FeatureScale:
    """Return the scale of a feature from its training values: raw numbers, or level codes."""
    if scale not in ("bulk", "range"):
        raise SchemaError(f"scale is {scale!r}; expected 'bulk' or 'range'.")
    missing = missing_cells(values, np.bool_(isinstance(feature, Continuous)))
    present, may_miss = values[~missing], bool(missing.any())
    if not present.size:
        raise SchemaError(f"feature {feature.name!r} is missing in all rows; drop it or fill it.")
    low, high = float(present.min()), float(present.max())
    if low == high and feature.action is not Action.FIXED:
        value = low if isinstance(feature, Continuous) else feature.levels[int(low)]
        raise SchemaError(
            f"feature {feature.name!r} is {value!r} in all {len(values)} rows, so nothing can be"
            " learned from it. Drop it, or declare it with action='fixed'."
        )
    if not isinstance(feature, Continuous):
        return FeatureScale(0.0, 1.0, 0.0, float(len(feature.levels) - 1), 0.0, may_miss)
    _check_ends(feature, low, high)
    first, last = (low, high) if scale == "range" else bulk(present)
    span = float(unit_span(first, last))
    resolution = feature.step or 0.0
    if not resolution and scale == "bulk" and low < high:
        resolution = round_step(span, max(abs(first), abs(last)))
    found = FeatureScale(first, span, low, high, resolution, may_miss)
    _check_steps(feature, found)
    return found


def unit_span(first: Any, last: Any) -> Any:
    """Return the length of the unit range from one value to another; 1 where they are the same."""
    return np.where(last > first, last - first, 1.0)


def scale_map(low: Any, span: Any, other_low: Any, other_span: Any) -> tuple[Any, Any]:
    """Return the factor and the shift that turn entries on one scale into those on another."""
    return span / other_span, (low - other_low) / other_span


def bulk(present: Floats) -> tuple[float, float]:
    """Return the ends of the central 99% of some values.

    Where more than half of them are the same (no gain, no delay), the ends are those of the
    others, widened to the common value. A few values that lie absurdly far out are set aside
    before, so that the ends stay where they are when such values appear. Where many do, as when a
    ratio is told in another unit for every fifth person, the ends are cut: the scale is that of
    the half of the people in the middle.
    """
    middle = float(lower_median(present))  # the common one, if any
    others = present[present != middle]
    if not len(others):
        return middle, middle
    kept = _without_far(others if 2 * len(others) < len(present) else present)
    low, high = np.quantile(kept, [_TAIL, 1 - _TAIL]).tolist()
    first, last = np.quantile(kept, [0.25, 0.75]).tolist()
    if widest := _WIDEST * (last - first):
        low, high = max(low, first - widest), min(high, last + widest)
    low, high = min(low, middle), max(high, middle)
    return (low, high) if low < high else (float(present.min()), float(present.max()))


def round_step(
    span: float,  # the span of the bulk
    size: float,  # the largest absolute value at its ends
) -> float:
    """Return a power of ten of about a thousandth of a span, or 0 where doubles are coarser."""
    power = math.floor(math.log10(span) + math.log10(MIN_CHANGE))
    step = float(f"1e{power}")
    return step if step >= _MIN_SPACINGS * math.ulp(size) else 0.0


def _without_far(values: Floats) -> Floats:
    first, last = np.quantile(values, [0.25, 0.75]).tolist()
    reach = _FAR * (last - first)
    if not reach:
        return values
    near = (values >= first - reach) & (values <= last + reach)
    n_far = len(values) - int(near.sum())
    return values[near] if n_far <= max(1, _MAX_FAR_SHARE * len(values)) else values


def _check_ends(feature: Continuous, low: float, high: float) -> None:
    if not math.isfinite(high - low):
        raise SchemaError(
            f"feature {feature.name!r}: the values lie between {low:g} and {high:g}, which is too"
            " far apart for double numbers. Rescale the column, or drop what is not meant."
        )
    if 0 < high - low < 1e-290:
        raise SchemaError(
            f"feature {feature.name!r}: the values lie between {low:g} and {high:g}, which is too"
            " close for double numbers. Rescale the column."
        )
    if feature.range is not None and not (feature.range[0] <= high and low <= feature.range[1]):
        raise SchemaError(
            f"feature {feature.name!r}: the permitted range {feature.range} holds none of the"
            f" training values, which lie between {low:g} and {high:g}. Widen the range."
        )


def _check_steps(feature: Continuous, scale: FeatureScale) -> None:
    """Refuse a step, or a range, of which the values cannot be counted in double numbers."""
    seen = f"the values, which lie between {scale.seen_low:g} and {scale.seen_high:g}"
    largest, step = max(abs(scale.seen_low), abs(scale.seen_high), scale.span), feature.step
    if step is not None and not (
        Fraction(repr(step)).denominator <= _LARGEST
        and math.isfinite(largest / step)
        and math.isfinite(step / scale.span)
    ):
        size = "small" if step < 1 else "large"
        raise SchemaError(
            f"feature {feature.name!r}: a step of {step:g} is too {size} beside {seen}. Give a step"
            " that people count in, or None for any value."
        )
    if feature.range is not None:
        low, high = feature.range
        unit = min(scale.span, scale.resolution or scale.span)
        if not math.isfinite(max(abs(low), abs(high), high - low) / unit):
            raise SchemaError(
                f"feature {feature.name!r}: the permitted range ({low:g}, {high:g}) is too wide for"
                f" double numbers beside {seen}, told in steps of {unit:g}. Narrow the range."
            )


def raw_units(
    span: float, low: float, resolution: float
) -> tuple[float, float, float, float, float]:
    """Return what turns an entry into raw units: span, low end, resolution and tolerance.

    The resolution is a fraction, because 3 / 10 is the double written 0.3, and 3 * 0.1 is not; it
    is ``0 / 1`` where there is none. The tolerance is by how many steps a value may be off the
    grid that lies on it.
    """
    if not resolution:
        return span, low, 0.0, 1.0, 0.0
    numerator, denominator = map(float, Fraction(repr(resolution)).as_integer_ratio())
    size = (abs(low) + span) * denominator / numerator  # in steps
    tolerance = min(0.25, GRID_TOLERANCE + 8 * sys.float_info.epsilon * size)
    return span, low, numerator, denominator, tolerance
