"""Explanations of single rows, read from JSON and checked."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from proce.explanation.exchange.record import Record
from proce.explanation.record.context import Context
from proce.explanation.record.diagnosis import Blocker, Diagnosis
from proce.explanation.result.explanation import OBJECTIVES, Change, Explanation, Front, Outcome
from proce.schema import MISSING_LEVEL, Codec, Continuous, Feature, Level
from proce.schema.feature import level_type

_KINDS = {kind.name.lower(): kind for kind in Change if kind is not Change.NONE}
_ACTION = Change.ACTION.name.lower()
_NEIGHBOURS = 8  # doubles on either side, among which a number's place on the unit range is


def read_explanations(record: Record, context: Context) -> tuple[Explanation, ...]:
    """Read one explanation per row."""
    reader = _Reader(context)
    records = record.items()
    raw = _tensor([reader.row(each["factual"]) for each in records], len(reader.names))
    found = [each["counterfactuals"].items() for each in records]
    fronts = [e["front"]["values"] if e.get("front") is not None else None for e in records]
    rows = reader.entries([[reader.row(way["values"]) for way in ways] for ways in found], raw)
    expected = reader.entries([[reader.expected(way) for way in ways] for ways in found], raw)
    front_rows = reader.entries([reader.listed(each) for each in fronts], raw)
    steps = reader.steps(found, rows, raw)
    factual = context.codec.to_unit(raw)
    return tuple(
        reader.explanation(*each)
        for each in zip(records, factual, raw, rows, expected, front_rows, steps, strict=True)
    )


class _Reader:
    """Reads values by feature; the tables of levels are made once."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.features = context.codec.schema.features
        self.names = context.codec.schema.names
        self.places = {name: at for at, name in enumerate(self.names)}
        self.codes = [_codes(feature) for feature in self.features]
        self.classes = {(level_type(c), c): at for at, c in enumerate(context.classes)}

    def explanation(
        self,
        record: Record,
        factual: Tensor,
        raw: Tensor,
        rows: Tensor,
        expected: Tensor,
        front_rows: Tensor,
        steps: tuple[Tensor, ...],
    ) -> Explanation:
        """Read what is beside the values."""
        found = record["counterfactuals"].items()
        diagnosis, front = record.get("diagnosis"), record.get("front")
        return Explanation(
            context=self.context,
            row=record["row"].count(),
            factual=factual,
            raw=raw,
            predicted=self._class(record["predicted"]),
            target=self._class(record["target"]),
            probability=record["probability"].number(),
            outcome=_outcome(record["outcome"]),
            rows=rows,
            changes=torch.tensor([self._kinds(each) for each in found], dtype=torch.int8).reshape(
                len(found), len(self.names)
            ),
            probabilities=_tensor([each["probability"].number() for each in found], 0),
            losses=_tensor([_losses(each["losses"]) for each in found], len(OBJECTIVES)),
            margin_met=record["margin_met"].flag(),
            support=_counts(record, "support"),
            refits=_counts(record, "refits"),
            front=None if front is None else Front(front_rows, _front_losses(front, front_rows)),
            diagnosis=None if diagnosis is None else _diagnosis(diagnosis),
            notes=record["notes"].texts(),
            dropped=record["dropped"].count(),
            expected=None if bool(expected.isnan().all()) else expected,
            contributions=self._contributions(found),
            steps=steps,
        )

    def row(self, record: Record) -> list[float]:
        """Return a value for each feature: a number in raw units, or the code of a level."""
        given = record.plain()
        if given.keys() != self.places.keys():
            record.refuse(f"a value for each of {', '.join(self.names)}")
        return [self._value(at, given[name], record) for at, name in enumerate(self.names)]

    def expected(self, record: Record) -> list[float]:
        """Return where held features would have gone, NaN for all others."""
        values = [math.nan] * len(self.names)
        for change in record["changes"].items():
            expected = change.get("expected")
            if expected is not None:
                at = self._position(change["feature"])
                values[at] = self._value(at, expected.value, change)
        return values

    def steps(
        self, found: Sequence[Sequence[Record]], rows: Sequence[Tensor], raw: Tensor
    ) -> list[tuple[Tensor, ...]]:
        """Return the way to each counterfactual, for the explanations that have them."""
        listed = [[self.listed(way.get("steps")) for way in ways] for ways in found]
        flat = self.entries([[row for way in ways for row in way] for ways in listed], raw)
        steps = []
        for ways, records, ends, each in zip(listed, found, rows, flat, strict=True):
            parts = torch.split(each, [len(way) for way in ways]) if any(ways) else ()
            for part, record, end in zip(parts, records, ends, strict=bool(parts)):
                if not len(part) or not torch.equal(part[-1].nan_to_num(), end.nan_to_num()):
                    record.refuse("steps, of which the last has the counterfactual's values")
            steps.append(tuple(parts))
        return steps

    def listed(self, record: Record | None) -> list[list[float]]:
        """Return a list of rows, none where it is not there."""
        rows = []
        for each in [] if record is None else record.items():
            if not isinstance(each.value, list) or len(each.value) != len(self.names):
                each.refuse(f"a list of {len(self.names)} values")
            rows.append([self._value(at, value, each) for at, value in enumerate(each.value)])
        return rows

    def entries(self, groups: Sequence[Sequence[Any]], raw: Tensor) -> tuple[Tensor, ...]:
        """Return rows of raw values, grouped by the row of ``raw`` that they vary, as entries."""
        counts = [len(group) for group in groups]
        flat = _tensor([row for group in groups for row in group], len(self.names))
        owner = torch.repeat_interleave(torch.arange(len(groups)), torch.tensor(counts).long())
        return torch.split(_entries(self.context.codec, flat, raw[owner]), counts)

    def _value(self, at: int, value: Any, record: Record) -> float:
        feature = self.features[at]
        if isinstance(feature, Continuous):
            if type(value) is float and math.isfinite(value):
                return value
            return Record(value, f"{record.place}.{feature.name}").number_or_missing()
        if value is None:
            return float(MISSING_LEVEL)
        code = None
        if isinstance(value, str | bool | int | float):
            code = self.codes[at].get((level_type(value), value))
        if code is None:
            Record(value, f"{record.place}.{feature.name}").refuse(f"a level of {feature.name!r}")
        return code

    def _contributions(self, found: Sequence[Record]) -> Tensor | None:
        """Return what each action adds; ``None`` unless all of them say so."""
        values = torch.zeros(len(found), len(self.names), dtype=torch.float64)
        told = False
        for at, way in enumerate(found):
            for change in way["changes"].items():
                added = change.get("contribution")
                if added is not None:
                    values[at, self._position(change["feature"])] = added.number()
                    told = True
                elif change["kind"].value == _ACTION:
                    return None
        return values if told else None

    def _class(self, record: Record) -> int:
        label = record.level()
        position = self.classes.get((level_type(label), label))
        if position is None:
            record.refuse("one of the model's classes")
        return position

    def _position(self, record: Record) -> int:
        at = self.places.get(record.text())
        if at is None:
            record.refuse("the name of a feature")
        return at

    def _kinds(self, record: Record) -> list[int]:
        kinds = [0] * len(self.names)
        for change in record["changes"].items():
            kind = _KINDS.get(change["kind"].text())
            if kind is None:
                change["kind"].refuse(f"one of {', '.join(_KINDS)}")
            kinds[self._position(change["feature"])] = kind
        return kinds


def _entries(codec: Codec, wanted: Tensor, raw: Tensor) -> Tensor:
    """Return values in raw units as entries: those that give these very values again."""
    rows = codec.to_unit(wanted)
    best = rows.clone()
    away = (codec.to_raw(rows) != wanted) & ~wanted.isnan()
    lower = upper = rows
    for _ in range(_NEIGHBOURS):
        if not bool(away.any()):
            break
        lower = torch.nextafter(lower, torch.full_like(rows, -math.inf))
        upper = torch.nextafter(upper, torch.full_like(rows, math.inf))
        for near in (lower, upper):
            hit = away & (codec.to_raw(near) == wanted)
            best, away = torch.where(hit, near, best), away & ~hit
    return torch.where(wanted == raw, codec.to_unit(raw), best)


def _codes(feature: Feature) -> dict[tuple[str, Level], float]:
    if isinstance(feature, Continuous):
        return {}
    return {(level_type(level), level): float(at) for at, level in enumerate(feature.levels)}


def _counts(record: Record, name: str) -> Tensor | None:
    """Return a count of each counterfactual, ``None`` where it was not made."""
    found = record["counterfactuals"].items()
    counts = [each[name].count() for each in found if each.get(name) is not None]
    if counts and len(counts) != len(found):
        record["counterfactuals"].refuse(f"{name} for all of them or for none")
    return torch.tensor(counts) if counts else None


def _front_losses(record: Record, rows: Tensor) -> Tensor:
    losses = [[loss.number_or_missing() for loss in e.items()] for e in record["losses"].items()]
    if len(losses) != len(rows) or any(len(each) != len(OBJECTIVES) for each in losses):
        record["losses"].refuse(f"{len(OBJECTIVES)} losses for each of {len(rows)} rows")
    return _tensor(losses, len(OBJECTIVES))


def _outcome(record: Record) -> Outcome:
    if record.text() not in list(Outcome):
        record.refuse(f"one of {', '.join(Outcome)}")
    return Outcome(record.text())


def _losses(record: Record) -> list[float]:
    return [record[name].number_or_missing() for name in OBJECTIVES]


def _diagnosis(record: Record) -> Diagnosis:
    miss, probability = record.get("closest_miss"), record.get("probability")
    return Diagnosis(
        reason=record["reason"].text(),
        closest_miss=None if miss is None else miss.plain(),
        probability=None if probability is None else probability.number(),
        needed=record["needed"].number(),
        broken=record["broken"].texts(),
        blockers=tuple(_blocker(each) for each in record["blockers"].items()),
        searched=record["searched"].count(),
    )


def _blocker(record: Record) -> Blocker:
    return Blocker(
        record["kind"].text(),
        record["name"].text(),
        record["relaxation"].text(),
        record["distance"].number_or_missing(),
    )


def _tensor(values: Sequence[Any], width: int) -> Tensor:
    made = torch.tensor(values, dtype=torch.float64)
    return made.reshape(len(values), width) if width else made
