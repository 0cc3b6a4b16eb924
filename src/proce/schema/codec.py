"""Frame to array and back: what is read from a frame goes to the unit range here.

A row is a float64 vector with one entry per feature: a number on the unit range of the
training rows (see ``scale.py``), a level as its position. NaN is a missing number, -1 a missing
level. On the way back numbers come exactly onto their grids.
"""

import math
import sys
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from proce.arguments import brief, checked, is_number
from proce.arrays import MIN_DIFFERENCE, Array, Flags, Floats, missing_cells
from proce.compiled.cells import nearest_count
from proce.compiled.kernel import kernel, part
from proce.errors import SchemaError, did_you_mean
from proce.schema.features.feature import MIN_CHANGE, Categorical, Continuous, Feature, Ordinal
from proce.schema.features.levels import find_level, quoted, rank_span
from proce.schema.features.reprs import one_line
from proce.schema.frames.frame import Layout, level_columns, require_rows
from proce.schema.matching import (
    MatchingFrame,
    check_array,
    check_fit,
    check_parts,
    only_features,
    takes_rows,
)
from proce.schema.scale import FeatureScale, Scale, fit_scale, raw_units, scale_map, unit_span
from proce.schema.schema import Schema

_BEYOND = 0.5  # of the unit range: farther outside lie the outliers
_BLOCK_ROWS = 8_192  # decoded at a time, so that they stay in the cache


@dataclass(frozen=True, eq=False, repr=False)
class Codec:
    """A schema with the scale and the layout of the training rows.

    Attributes
    ----------
    schema
        The features, in the order of the array's columns.
    low, span
        ``raw = low + span * unit`` for a number; 0 and 1 for levels.
    may_miss
        Which features were missing somewhere in the training rows.
    layout
        How the training frame looked; models are asked with frames of this layout.
    seen_low, seen_high
        The lowest and the highest value of the training rows, in raw units; for levels the first
        and the last code. Beyond the unit range where a number has outliers. By default the ends
        of the unit range.
    resolution
        What changed numbers are told to, in raw units: the step of the schema or, on the scale of
        the bulk, a round number of about a thousandth of the span; 0 for any value. By default
        the step.
    reach
        How far apart two entries can be: 1 for numbers and categorical levels, the last
        rank for ordinal ones. A difference divided by it lies on the unit range. It follows
        from the schema.
    """

    schema: Schema
    low: Array  # (f,)
    span: Array  # (f,)
    may_miss: Array  # (f,) bool
    layout: Layout
    seen_low: Array = None  # type: ignore[assignment]  # (f,)
    seen_high: Array = None  # type: ignore[assignment]  # (f,)
    resolution: Array = None  # type: ignore[assignment]  # (f,)
    reach: Array = field(init=False)  # (f,)

    def __repr__(self) -> str:
        return one_line(f"Codec({self.schema!r})")

    def __post_init__(self) -> None:
        given = vars(self)
        check_parts(**given)
        if given["seen_low"] is None or given["seen_high"] is None:
            last = np.where(self.is_number, self.low + self.span, self._last_codes)
            object.__setattr__(self, "seen_low", self.low)
            object.__setattr__(self, "seen_high", last)
        if given["resolution"] is None:
            steps = [f.step or 0.0 if isinstance(f, Continuous) else 0.0 for f in self.schema]
            object.__setattr__(self, "resolution", np.array(steps, dtype=np.float64))
        reach = [rank_span(len(f.levels)) if isinstance(f, Ordinal) else 1 for f in self.schema]
        object.__setattr__(self, "reach", np.array(reach, dtype=np.float64))

    @classmethod
    @checked(SchemaError)
    def fit(cls, schema: Schema, frame: Any, scale: Scale = "range") -> "Codec":
        """Return the codec with the scale and the layout of a frame of training rows.

        Parameters
        ----------
        schema
            The features.
        frame
            The training rows.
        scale
            ``range``: the unit range is that from the lowest to the highest value, as networks
            are trained on. ``bulk``: it is that of the central 99% of the values, which outliers
            cannot move, and changed numbers are rounded.
        """
        opened = require_rows(MatchingFrame(schema, frame))
        scales = [fit_scale(feature, opened.read(feature), scale) for feature in schema]
        low, span, seen_low, seen_high, resolution = (
            np.array([getattr(own, name) for own in scales], dtype=np.float64)
            for name in ("low", "span", "seen_low", "seen_high", "resolution")
        )
        may_miss = np.array([own.may_miss for own in scales])
        layout = Layout.of(only_features(schema, frame)).without_index()
        return cls(schema, low, span, may_miss, layout, seen_low, seen_high, resolution)

    @cached_property
    def by_range(self) -> "Codec":
        """The codec of the same rows whose unit range is from the lowest to the highest value.

        What a network was trained on is on this scale.
        """
        if np.array_equal(self.low, self.seen_low) and self._spans_all:
            return self
        span = np.where(self.is_number, unit_span(self.seen_low, self.seen_high), 1.0)
        low = np.where(self.is_number, self.seen_low, 0.0)
        seen = (self.seen_low, self.seen_high)
        return Codec(self.schema, low, span, self.may_miss, self.layout, *seen)

    @cached_property
    def lowest(self) -> Array:
        """The lowest entries of the training rows ``(f,)``: 0, or below for outliers."""
        return np.where(self.is_number, unit_numbers(self, ..., self.seen_low), 0.0)

    @cached_property
    def highest(self) -> Array:
        """The highest entries of the training rows ``(f,)``; of a number 1, or above."""
        exact = self.low + self.span == self.seen_high
        units = np.where(exact, 1.0, unit_numbers(self, ..., self.seen_high))
        return np.where(self.is_number, units, self._last_codes)

    @cached_property
    def largest(self) -> Array:
        """The largest absolute entries of the training rows ``(f,)``."""
        return np.maximum(np.abs(self.lowest), np.abs(self.highest))

    @takes_rows(SchemaError, "rows")
    def on_range(self, rows: Array) -> Array:
        """Return rows ``(…, f)`` in the entries of ``by_range``."""
        if self.by_range is self:
            return rows
        factor, shift = self.range_map
        return rows * factor + shift

    @cached_property
    def range_map(self) -> tuple[Array, Array]:
        """The factors and the shifts ``(f,)`` that turn entries into those of ``by_range``."""
        other = self.by_range
        return scale_map(self.low, self.span, other.low, other.span)

    def encode(self, frame: Any) -> Array:
        """Return a frame's rows as an array ``(i, f)``."""
        return self.to_unit(self._read(frame).T)  # each feature contiguous in memory

    def raw_of_frame(self, frame: Any) -> Array:
        """Return a frame's rows ``(i, f)`` in raw units, bit for bit, and level codes."""
        return np.ascontiguousarray(self._read(frame).T)

    def _read(self, frame: Any) -> Floats:
        """Return the features of a frame in raw units and level codes, ``(f, i)``."""
        matching = MatchingFrame(self.schema, frame)
        columns = np.empty((len(self.schema), len(matching)))
        for position, feature in enumerate(self.schema):
            columns[position] = matching.read(feature)
        return columns

    @takes_rows(SchemaError, "rows")
    @checked(SchemaError)
    def decode(self, rows: Array, layout: Layout | None = None) -> Any:
        """Return rows ``(i, f)`` as a frame, in the training frame's layout or the given one."""
        by_feature = np.empty((len(self.schema), len(rows)))
        for start in range(0, len(rows), _BLOCK_ROWS):
            block = slice(start, start + _BLOCK_ROWS)
            by_feature[:, block] = self.to_raw(rows[block]).T
        return _frame(self.schema, by_feature, layout or self.layout)

    @takes_rows(SchemaError, "rows", "factual", "raw")
    @checked(SchemaError)
    def rebuild(self, rows: Array, layout: Layout, factual: Array, raw: Array) -> Any:
        """Return rows ``(i, f)`` as a frame in which unchanged numbers are those that came in.

        Parameters
        ----------
        rows, layout
            As for ``decode``.
        factual, raw
            ``(i, f)``, what each row was before, from ``encode`` and from ``raw_of_frame``.
        """
        return frame_of_raw(self, self.raw_of_changes(rows, factual, raw), layout)

    @takes_rows(SchemaError, "rows", "factual", "raw")
    def raw_of_changes(self, rows: Array, factual: Array, raw: Array) -> Array:
        """Return rows ``(i, f)`` in raw units, in which unchanged cells are those that came in.

        ``factual`` and ``raw`` are as for ``rebuild``.
        """
        check_fit(rows, SchemaError, factual=factual, raw=raw)
        return np.where(rows == factual, raw, self.to_raw(rows))

    @takes_rows(SchemaError, "rows")
    def to_raw(self, rows: Array) -> Array:
        """Return rows ``(…, f)`` with numbers in raw units; level codes stay as they are.

        A number that lies on the grid of its feature's resolution, but for rounding, comes back
        exactly on that grid.
        """
        return raw_rows(self.raw_units, rows)

    @takes_rows(SchemaError, "raw")
    def to_unit(self, raw: Array) -> Array:
        """Return rows ``(…, f)`` with numbers on the unit range; undoes ``to_raw``."""
        return np.asarray(unit_numbers(self, ..., raw))

    @cached_property
    def grid(self) -> tuple[Array, Array]:
        """Where the grids of entries begin and how wide they are, ``(f,)`` each.

        A grid begins at what is 0 in raw units. Numbers that are told to any value have none: its
        width is 0.
        """
        step = np.where(self.is_number, self.resolution / self.span, 1.0)
        return np.where(self.is_number, -self.low / self.span, 0.0), step

    @cached_property
    def still(self) -> Floats:
        """How far an entry may be from another and count as being there, ``(f,)``.

        That is half a step, or half a thousandth of the unit range where the schema has no step.
        Levels must agree.
        """
        has_step = [f.step is not None for f in self.schema if isinstance(f, Continuous)]
        least = np.where(self.is_number, MIN_CHANGE, 1.0)
        stepped = np.flatnonzero(self.is_number)[has_step]
        least[stepped] = self.grid[1][stepped]
        still: Floats = least / 2 + MIN_DIFFERENCE
        return still

    @takes_rows(SchemaError, "rows")
    def missing(self, rows: Array) -> Array:
        """Return flags ``(…, f)`` for the cells of rows that are missing."""
        return missing_cells(rows, self.is_number)

    @checked(SchemaError)
    def encode_value(self, name: str, value: Any) -> float | Array:
        """Return a raw number or a level as it stands in a row.

        An array holds raw numbers, or level codes, which are entries already.
        """
        raw = raw_of_value(self.schema[name], value)
        return unit_numbers(self, self.schema.position(name), raw)

    @cached_property
    def _spans_all(self) -> bool:
        """Whether no training row lies outside the unit range, nor ends within it."""
        same_end = np.where(self.is_number, self.highest == 1, True)
        constant = self.seen_low == self.seen_high
        return bool((same_end | constant).all())

    @cached_property
    def _last_codes(self) -> Array:
        last = [0 if isinstance(f, Continuous) else len(f.levels) - 1 for f in self.schema]
        return np.array(last, dtype=np.float64)

    @cached_property
    def is_number(self) -> Array:
        """Which features are numbers, ``(f,)``; the others have levels."""
        return np.array([isinstance(feature, Continuous) for feature in self.schema])

    @cached_property
    def is_categorical(self) -> Flags:
        """Which features have levels without an order, ``(f,)``."""
        return np.array([isinstance(feature, Categorical) for feature in self.schema])

    @cached_property
    def avoided(self) -> Flags:
        """Which levels no action may lead to, ``(f, l)``, by feature and code.

        Who has such a level may keep it, and it may follow.
        """
        table = np.zeros((len(self.schema), 1 + int(self._last_codes.max())), np.bool_)
        for own, feature in zip(table, self.schema, strict=True):
            if not isinstance(feature, Continuous):
                own[[feature.levels.index(level) for level in feature.avoid]] = True
        return table

    @checked(SchemaError)
    def raw_numbers(self, position: int, unit: Array) -> Array:
        """Return the values of one continuous feature in raw units."""
        check_array("unit", unit, SchemaError)
        if not 0 <= position < len(self.schema):
            raise SchemaError(f"position is {position}; there are {len(self.schema)} features.")
        return raw_rows(self.raw_units[[position]], unit[..., None])[..., 0]

    @cached_property
    def raw_units(self) -> Floats:
        """What turns entries into raw units, ``(f, 5)``.

        The columns are the span and the low end, the resolution as a fraction (``0 / 1`` without
        one) and by how many steps a value may be off the grid that lies on it.
        """
        scales = (self.span.tolist(), self.low.tolist(), self.resolution.tolist())
        units = [raw_units(*scale) for scale in zip(*scales, strict=True)]
        return np.array(units).reshape(-1, 5)


def scales_of(codec: Codec) -> dict[str, FeatureScale]:
    """Return the scale of every number of a codec, by name."""
    names = ("low", "span", "seen_low", "seen_high", "resolution", "may_miss")
    columns = zip(*(getattr(codec, name).tolist() for name in names), strict=True)
    return {
        feature.name: FeatureScale(*values)
        for feature, values in zip(codec.schema, columns, strict=True)
        if isinstance(feature, Continuous)
    }


def with_scales(codec: Codec) -> Schema:
    """Return the schema of a codec with the scale of every number, to be printed."""
    return Schema(codec.schema.features, scales=scales_of(codec), notes=codec.schema.notes)


def outlier_bounds(codec: Codec) -> Array:
    """Return the entries ``(2, f)`` that values are learned between; infinite without outliers."""
    far = codec.is_number & ((codec.lowest < -_BEYOND) | (codec.highest > 1 + _BEYOND))
    low, high = np.where(far, -_BEYOND, -np.inf), np.where(far, 1 + _BEYOND, np.inf)
    return np.stack([low, high]).astype(np.float64)


def frame_of_raw(codec: Codec, raw: Array, layout: Layout) -> Any:
    """Return rows ``(i, f)`` in raw units and level codes as a frame of some layout."""
    return _frame(codec.schema, raw.T.astype(np.float64, order="C"), layout)


def _frame(schema: Schema, by_feature: Floats, layout: Layout) -> Any:
    """Return raw values ``(f, i)``, which are the frame's from now on, as a frame."""
    columns: dict[str, Any] = {}
    for feature, values in zip(schema, by_feature, strict=True):
        if isinstance(feature, Continuous):
            columns[feature.name] = values
        else:
            columns |= level_columns(feature, values.astype(np.int32))
    return layout.build(columns)


@np.errstate(over="ignore")  # what is too far away for a double is infinitely far
def unit_numbers(codec: Codec, position: Any, raw: Any) -> Any:
    """Return raw values of one feature, of a feature each, or of all ``(…, f)``, as entries."""
    return (raw - codec.low[position]) / codec.span[position]


def entries_on_step(codec: Codec, position: int, entries: Array) -> Array:
    """Return entries of a feature; numbers on the nearest multiples of its step, if any."""
    feature = codec.schema.features[position]
    if not isinstance(feature, Continuous) or feature.step is None:
        return entries
    raw = on_step(feature, codec.raw_numbers(position, entries))
    return np.asarray(unit_numbers(codec, position, raw))


def raw_of_value(feature: Feature, value: Any) -> Any:
    """Return a value in raw units, or as the code of a level; arrays hold such already."""
    name = feature.name
    if isinstance(feature, Continuous):
        if isinstance(value, str | bool) or not _is_known(value):
            raise SchemaError(f"feature {name!r} is a number; got {brief(value)}.")
        return value
    if isinstance(value, np.ndarray):
        return value
    code = find_level(feature.levels, value)
    if code is None:
        raise SchemaError(
            f"feature {name!r}: unknown level {brief(value)}; known levels are"
            f" {quoted(feature.levels)}." + did_you_mean(value, feature.levels)
        )
    return float(code)


def _is_known(value: Any) -> bool:
    """Whether a value is a number; NaN, and what no double can hold, are none."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biuf"
    return is_number(value) and abs(value) <= sys.float_info.max


# What turns the entries of a feature into raw units; see `Codec.raw_units`.
_SPAN, _LOW, _NUMERATOR, _DENOMINATOR, _TOLERANCE = range(5)


def raw_rows(units: Floats, rows: Array) -> Floats:
    """Return rows ``(…, f)`` in raw units; ``units`` are ``(f, 5)``."""
    raw = np.array(rows, np.float64, order="C")
    put_in_raw_units(raw.reshape(math.prod(raw.shape[:-1]), raw.shape[-1]), units)
    return raw


def on_step(feature: Feature, raw: Array) -> Array:
    """Return raw values of a feature; numbers as the nearest multiples of its step are written."""
    if not isinstance(feature, Continuous) or feature.step is None:
        return raw
    *units, _ = raw_units(1.0, 0.0, feature.step)
    return raw_rows(np.array([[*units, np.inf]]), raw[..., None])[..., 0]


def raw_cells(units: Floats, entries: Array) -> Floats:
    """Return entries ``(n,)`` in raw units, each with ``units`` of its own ``(n, 5)``."""
    return raw_rows(units, entries[None])[0]


@kernel
def put_in_raw_units(rows: Floats, units: Floats) -> None:
    """Bring rows ``(n, f)`` into raw units ``(f, 5)``, where they are."""
    for f in range(rows.shape[1]):
        put_column_in_raw_units(rows[:, f], units[f])


@part
def put_column_in_raw_units(entries: Floats, units: Floats) -> None:
    """Bring entries ``(n,)`` of a feature into raw units ``(5,)``, where they are.

    What is next to a point of the grid is that point. Its width is a fraction: 3 / 10 is the double
    written 0.3, and 3 * 0.1 is not. A whole number off a grid of whole numbers keeps being whole.
    """
    span, low, tolerance = units[_SPAN], units[_LOW], units[_TOLERANCE]
    numerator, denominator = units[_NUMERATOR], units[_DENOMINATOR]
    keeps_whole = numerator > denominator and denominator == 1
    for n in range(len(entries)):
        raw = entries[n] * span + low
        if numerator > 0:
            counts = raw * (denominator / numerator)
            nearest, whole = nearest_count(counts), np.rint(raw)
            if abs(counts - nearest) <= tolerance:
                raw = nearest * numerator / denominator
            elif keeps_whole and abs(raw - whole) <= tolerance:
                raw = whole
        entries[n] = raw
