"""Frame to tensor and back: what is read from a frame goes to the unit range here.

A row is a float64 vector with one entry per feature: a number on the unit range of the
training rows, a level as its position. NaN is a missing number, -1 a missing level.
"""

import sys
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
import torch
from torch import Tensor

from proce.errors import SchemaError, did_you_mean
from proce.schema.cells import MISSING_LEVEL, Numbers
from proce.schema.feature import Action, Categorical, Continuous, Feature, Ordinal
from proce.schema.frame import open_frame, read_levels, read_numbers
from proce.schema.layout import Layout, level_columns
from proce.schema.levels import Level, find_level, shown
from proce.schema.schema import Schema

_BLOCK_ROWS = 65_536  # decoded at a time, so that intermediate values stay in the cache
_GRID_TOLERANCE = 1e-6  # of a step: a value nearer to the grid than this lies on it


@dataclass(frozen=True, eq=False)
class Codec:
    """A schema with the scale and the layout of the training rows.

    Attributes
    ----------
    schema
        The features, in the order of the tensor's columns.
    low, span
        ``raw = low + span * unit`` for a number; 0 and 1 for levels.
    may_miss
        Which features were missing somewhere in the training rows.
    layout
        How the training frame looked; models are asked with frames of this layout.
    reach
        How far apart two entries can be: 1 for numbers and categorical levels, the last
        rank for ordinal ones. A difference divided by it lies on the unit range. It follows
        from the schema.
    """

    schema: Schema
    low: Tensor  # (f,)
    span: Tensor  # (f,)
    may_miss: Tensor  # (f,) bool
    layout: Layout
    reach: Tensor = field(init=False)  # (f,)

    def __post_init__(self) -> None:
        last = [len(f.levels) - 1 if isinstance(f, Ordinal) else 1 for f in self.schema]
        reach = torch.tensor(last, dtype=torch.float64).clamp(min=1)
        object.__setattr__(self, "reach", reach)

    @classmethod
    def fit(cls, schema: Schema, frame: Any) -> "Codec":
        """Return the codec with the scale and the layout of a frame of training rows."""
        opened = _open_matching(schema, frame)
        scales = [_scale(feature, _read(opened, feature)) for feature in schema]
        low, span, may_miss = zip(*scales, strict=True)
        return cls(
            schema,
            torch.tensor(low, dtype=torch.float64),
            torch.tensor(span, dtype=torch.float64),
            torch.tensor(may_miss),
            Layout.of(frame).without_index(),
        )

    def encode(self, frame: Any) -> Tensor:
        """Return a frame's rows as a tensor ``(i, f)``."""
        opened = _open_matching(self.schema, frame)
        columns = np.empty((len(self.schema), len(opened)))
        for position, feature in enumerate(self.schema):
            values = _read(opened, feature)
            if isinstance(feature, Continuous):
                np.subtract(values, self.low[position].item(), out=columns[position])
                columns[position] /= self.span[position].item()
            else:
                columns[position] = values
        return torch.from_numpy(columns).T  # (i, f), each feature contiguous in memory

    def raw_of_frame(self, frame: Any) -> Tensor:
        """Return a frame's rows ``(i, f)`` in raw units, bit for bit, and level codes."""
        opened = _open_matching(self.schema, frame)
        columns = [torch.from_numpy(_read(opened, feature).copy()) for feature in self.schema]
        return torch.stack(columns, dim=-1)

    def decode(self, rows: Tensor, layout: Layout | None = None) -> Any:
        """Return rows ``(i, f)`` as a frame, in the training frame's layout or the given one."""
        return (layout or self.layout).build(self.columns(rows))

    def rebuild(self, rows: Tensor, layout: Layout, factual: Tensor, raw: Tensor) -> Any:
        """Return rows ``(i, f)`` as a frame in which unchanged numbers are those that came in.

        Parameters
        ----------
        rows, layout
            As for ``decode``.
        factual, raw
            ``(i, f)``, what each row was before, from ``encode`` and from ``raw_of_frame``.
        """
        columns = self.columns(rows)
        for position, feature in enumerate(self.schema):
            if isinstance(feature, Continuous):
                same = (rows[:, position] == factual[:, position]).numpy()
                before = raw[:, position].numpy()
                columns[feature.name] = np.where(same, before, columns[feature.name])
        return layout.build(columns)

    def columns(self, rows: Tensor) -> dict[str, Any]:
        """Return rows ``(i, f)`` as the plain columns that ``Layout.build`` takes."""
        columns: dict[str, Any] = {}
        for position, feature in enumerate(self.schema):
            column = rows[:, position].detach().cpu()
            if isinstance(feature, Continuous):
                parts = torch.split(column, _BLOCK_ROWS)
                blocks = [self.raw_numbers(position, part) for part in parts]
                columns[feature.name] = torch.cat(blocks).numpy()
                continue
            columns |= level_columns(feature, column.numpy().astype(np.int32))
        return columns

    def to_raw(self, rows: Tensor) -> Tensor:
        """Return rows ``(…, f)`` with numbers in raw units; level codes stay as they are.

        A number that lies on the grid of its feature's step, but for rounding, comes back exactly
        on that grid.
        """
        columns = [
            self.raw_numbers(position, rows[..., position])
            if isinstance(feature, Continuous)
            else rows[..., position].double()
            for position, feature in enumerate(self.schema)
        ]
        return torch.stack(columns, dim=-1)

    def to_unit(self, raw: Tensor) -> Tensor:
        """Return rows ``(…, f)`` with numbers on the unit range; undoes ``to_raw``."""
        return (raw - self.low.to(raw.device)) / self.span.to(raw.device)

    def missing(self, rows: Tensor) -> Tensor:
        """Return flags ``(…, f)`` for the cells of rows that are missing."""
        return torch.where(self._is_number.to(rows.device), rows.isnan(), rows < 0)

    def encode_value(self, name: str, value: Level | Tensor) -> float | Tensor:
        """Return a raw number or a level as it stands in a row.

        A tensor holds raw numbers, or level codes, which are entries already.
        """
        position = self.schema.position(name)
        feature = self.schema.features[position]
        if isinstance(feature, Continuous):
            if isinstance(value, str | bool) or not _is_known(value):
                raise SchemaError(f"feature {name!r} is a number; got {value!r}.")
            return (value - self.low[position].item()) / self.span[position].item()
        if isinstance(value, Tensor):
            return value
        code = find_level(feature.levels, value)
        if code is None:
            raise SchemaError(
                f"feature {name!r}: unknown level {value!r}; known levels are"
                f" {shown(feature.levels)}." + did_you_mean(value, feature.levels)
            )
        return float(code)

    @cached_property
    def _step_fractions(self) -> tuple[tuple[float, float], ...]:
        """Every step as a fraction: 3 / 10 is the double written 0.3, and 3 * 0.1 is not."""
        steps = [f.step if isinstance(f, Continuous) and f.step else 1.0 for f in self.schema]
        ratios = [Fraction(repr(step)).as_integer_ratio() for step in steps]
        return tuple((float(numerator), float(denominator)) for numerator, denominator in ratios)

    @cached_property
    def _is_number(self) -> Tensor:
        return torch.tensor([isinstance(feature, Continuous) for feature in self.schema])

    def raw_numbers(self, position: int, unit: Tensor) -> Tensor:
        """Return the values of one continuous feature in raw units."""
        feature = self.schema.features[position]
        raw = unit.double() * self.span[position].item() + self.low[position].item()
        if not isinstance(feature, Continuous) or feature.step is None:
            return raw
        numerator, denominator = self._step_fractions[position]
        counts = raw * (denominator / numerator)
        nearest = counts.round()
        size = abs(self.low[position].item()) + self.span[position].item()
        rounding = min(
            0.25, _GRID_TOLERANCE + 8 * sys.float_info.epsilon * size * denominator / numerator
        )
        on_grid = (counts - nearest).abs() <= rounding
        return torch.where(on_grid, nearest * numerator / denominator, raw)


def _is_known(value: Any) -> bool:
    return isinstance(value, Tensor) or (isinstance(value, Real) and value == value)  # not NaN


def _open_matching(schema: Schema, frame: Any) -> "nw.DataFrame[Any]":
    opened = open_frame(frame)
    known = set(schema.columns)
    if absent := [column for column in schema.columns if column not in opened.columns]:
        raise SchemaError(
            f"the frame lacks the column {absent[0]!r}; expected {shown(schema.columns)}."
            + did_you_mean(absent[0], set(opened.columns) - known)
        )
    if extra := [column for column in opened.columns if column not in known]:
        raise SchemaError(
            f"the frame has the column {extra[0]!r}, which the schema does not name; expected"
            f" {shown(schema.columns)}. Drop it, for example with frame[list(schema.columns)]."
        )
    return opened


def _read(opened: "nw.DataFrame[Any]", feature: Feature) -> Numbers:
    if isinstance(feature, Continuous):
        return read_numbers(opened[feature.name])
    if isinstance(feature, Categorical) and feature.one_hot:
        return _read_one_hot(opened, feature)
    return read_levels(opened[feature.name], feature.levels).astype(np.float64)


def _read_one_hot(opened: "nw.DataFrame[Any]", feature: Categorical) -> Numbers:
    columns = [opened[column] for column in feature.one_hot]
    flags = [c.cast(nw.Int8) if c.dtype == nw.Boolean else c for c in columns]
    hot = np.stack([read_numbers(column) for column in flags], axis=-1)  # (i, level)
    missing = np.isnan(hot).all(-1)
    sound = ((hot == 0) | (hot == 1)).all(-1) & (hot.sum(-1) == 1)
    if not (sound | missing).all():
        row = int((~(sound | missing)).argmax())
        raise SchemaError(
            f"one-hot feature {feature.name!r}: row {row} is {hot[row].tolist()} over the columns"
            f" {shown(feature.one_hot)}; expected a single 1 and 0 elsewhere."
        )
    return np.where(missing, MISSING_LEVEL, hot.argmax(-1))


def _scale(feature: Feature, values: Numbers) -> tuple[float, float, bool]:
    """Return the low end and the span of a feature, and whether a cell was missing."""
    missing = np.isnan(values) if isinstance(feature, Continuous) else values == MISSING_LEVEL
    present = values[~missing]
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
        return 0.0, 1.0, bool(missing.any())
    if feature.range is not None and not (feature.range[0] <= high and low <= feature.range[1]):
        raise SchemaError(
            f"feature {feature.name!r}: the permitted range {feature.range} holds none of the"
            f" training values, which lie between {low:g} and {high:g}. Widen the range."
        )
    return low, (high - low) or 1.0, bool(missing.any())
