"""Reads the counterfactuals of a text as columns."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from proce.arrays import Array, Ints
from proce.explanation.exchange.values import ValueReader, loss_column
from proce.explanation.exchange.wire import WireChange, WireCounterfactual
from proce.explanation.record.counterfactuals import (
    NO_RULE,
    OPEN_END_WORDS,
    UNKNOWN_COUNT,
    Counterfactuals,
    Intervals,
)
from proce.explanation.record.outcome import Change
from proce.losses import LOSS_NAMES
from proce.schema.records import RecordError

_ARTICLES = {"action": "an action", "hold": "a hold"}


def read_counterfactuals(
    by_row: Sequence[Sequence[WireCounterfactual]],
    row_places: Sequence[str],
    reader: ValueReader,
    raw: Array,
    rules: Sequence[str],
) -> Counterfactuals:
    """Return the counterfactuals of a text as columns.

    Parameters
    ----------
    by_row
        The counterfactuals of each explained row.
    row_places
        Where each explained row stands in the text, for errors.
    reader
        The reader of values.
    raw
        ``(i, f)``, the explained rows in raw units.
    rules
        The rules of the text, of which a change may name one.
    """
    ways = list(chain.from_iterable(by_row))
    counts = np.array([len(own) for own in by_row], dtype=np.int64)
    owner = np.repeat(np.arange(len(by_row)), counts)
    places = [
        f"{place}.counterfactuals[{line}]"
        for place, own in zip(row_places, by_row, strict=True)
        for line in range(len(own))
    ]
    own_raw = raw[owner]
    wanted = reader.objects([way.values for way in ways], [f"{place}.values" for place in places])
    rows = reader.entries(wanted, own_raw)
    changes = _Changes.of(ways, places, reader)
    changes.refuse_missing(reader.codec.missing(rows))
    intervals = changes.intervals(len(ways))
    return Counterfactuals(
        owner=owner,
        rows=rows,
        changes=changes.kinds(len(ways)),
        probabilities=np.array([way.probability for way in ways], dtype=np.float64),
        losses=loss_column([[getattr(way.losses, name) for name in LOSS_NAMES] for way in ways]),
        expected=reader.entries(changes.expected(len(ways)), own_raw),
        contributions=changes.contributions(owner),
        support=_counts(ways, owner, places, "support"),
        refits=_counts(ways, owner, places, "refits"),
        confidence=np.array(
            [math.nan if way.confidence is None else way.confidence for way in ways],
            dtype=np.float64,
        ),
        robustness=_counts(ways, owner, places, "robustness"),
        holds_from=intervals.low,
        holds_to=intervals.high,
        open_ends=intervals.open_ends,
        asked_by=changes.asked_by(len(ways), rules),
        steps=_steps([way.steps or [] for way in ways], rows, owner, places, reader, raw),
    )


@dataclass(frozen=True, eq=False)
class _Changes:
    """All changes of a text as columns ``(m,)``.

    Attributes
    ----------
    reader
        The reader of values.
    line
        The line of the counterfactual that each change belongs to.
    position
        The position of the feature that changes.
    items
        The changes as they stand in the text.
    places
        Where each change stands in the text, for errors.
    """

    reader: ValueReader
    line: Ints
    position: Ints
    items: Sequence[WireChange]
    places: Sequence[str]

    @classmethod
    def of(
        cls, ways: Sequence[WireCounterfactual], way_places: Sequence[str], reader: ValueReader
    ) -> "_Changes":
        items = list(chain.from_iterable(way.changes for way in ways))
        line = [index for index, way in enumerate(ways) for _ in way.changes]
        places = [
            f"{place}.changes[{index}]"
            for place, way in zip(way_places, ways, strict=True)
            for index in range(len(way.changes))
        ]
        position = [
            reader.position(change.feature, f"{place}.feature")
            for change, place in zip(items, places, strict=True)
        ]
        return cls(reader, _integers(line), _integers(position), items, places)

    def refuse_missing(self, missing: Array) -> None:
        """Refuse an action on, or a hold of, a cell whose value ``(n, f)`` is missing."""
        gone = missing[self.line, self.position]
        for change, place, is_missing in zip(self.items, self.places, gone, strict=True):
            if is_missing and change.kind != "consequence":
                way = place.rpartition(".changes")[0]
                expected = f"a value, since a change names it as {_ARTICLES[change.kind]}"
                raise RecordError(f"{way}.values.{change.feature}", None, expected)

    def kinds(self, n_ways: int) -> Array:
        """Return a ``Change`` for each cell ``(n, f)``."""
        cells = np.zeros((n_ways, len(self.reader.names)), dtype=np.int8)
        cells[self.line, self.position] = [Change[change.kind.upper()] for change in self.items]
        return cells

    def expected(self, n_ways: int) -> Array:
        """Return the values that held features would have had ``(n, f)``; NaN for other cells."""
        cells = np.full((n_ways, len(self.reader.names)), np.nan)
        given = np.array([change.expected is not None for change in self.items], dtype=bool)
        for position in range(cells.shape[1]):
            own = np.flatnonzero(given & (self.position == position))
            values = [self.items[change].expected for change in own.tolist()]
            places = [self.places[change] for change in own.tolist()]
            raw = self.reader.column(position, values, places, "expected")
            cells[self.line[own], position] = raw
        return cells

    def contributions(self, owner: Array) -> Array:
        """Return what each action adds ``(n, f)``; NaN for rows of which not all is known."""
        given = np.array([change.contribution is not None for change in self.items], dtype=bool)
        action = np.array([change.kind == "action" for change in self.items], dtype=bool)
        row = owner[self.line]
        known = np.isin(owner, row[given]) & ~np.isin(owner, row[action & ~given])
        cells = np.zeros((len(owner), len(self.reader.names)))
        cells[self.line[given], self.position[given]] = [
            change.contribution for change in self.items if change.contribution is not None
        ]
        cells[~known] = np.nan
        return cells

    def intervals(self, n_ways: int) -> Intervals:
        """Return where numbers that are acted on may end."""
        shape = (n_ways, len(self.reader.names))
        low, high = np.full(shape, np.nan), np.full(shape, np.nan)
        ends = np.zeros(shape, dtype=np.int8)
        for cell, change, place in zip(self._cells, self.items, self.places, strict=True):
            if change.holds_from is None and change.holds_to is None:
                continue
            if change.holds_from is None or change.holds_to is None:
                raise RecordError(place, None, "both 'holds_from' and 'holds_to', or neither")
            if change.holds_from > change.holds_to:
                raise RecordError(f"{place}.holds_to", change.holds_to, "no less than 'holds_from'")
            low[cell], high[cell] = change.holds_from, change.holds_to
            ends[cell] = OPEN_END_WORDS.index(change.open_ends or "none")
        return Intervals(low, high, ends)

    def asked_by(self, n_ways: int, rules: Sequence[str]) -> Array:
        """Return the position of the rule that asks for each cell ``(n, f)``, -1 for none."""
        asked_by = np.full((n_ways, len(self.reader.names)), NO_RULE, dtype=np.int64)
        known = {text: position for position, text in enumerate(rules)}
        for cell, change, place in zip(self._cells, self.items, self.places, strict=True):
            if change.rule is None:
                continue
            if change.rule not in known:
                raise RecordError(f"{place}.rule", change.rule, "one of the rules of the request")
            asked_by[cell] = known[change.rule]
        return asked_by

    @property
    def _cells(self) -> list[tuple[int, int]]:
        """The line and the position of each change."""
        return list(zip(self.line.tolist(), self.position.tolist(), strict=True))


def _counts(
    ways: Sequence[WireCounterfactual],
    owner: Array,
    places: Sequence[str],
    field: str,
) -> Array:
    """Return counts ``(n,)``; a row has them for all of its counterfactuals or for none."""
    values = [getattr(way, field) for way in ways]
    absent = np.array([value is None for value in values], dtype=bool)
    wrong = np.flatnonzero(absent & np.isin(owner, owner[~absent]))
    if len(wrong):
        expected = "a whole number, as for the other counterfactuals of the row"
        raise RecordError(f"{places[wrong[0]]}.{field}", None, expected)
    known = [UNKNOWN_COUNT if value is None else value for value in values]
    return np.array(known, dtype=np.int64)


def _steps(
    steps: Sequence[Sequence[Sequence[object]]],
    rows: Array,
    owner: Array,
    places: Sequence[str],
    reader: ValueReader,
    raw: Array,
) -> tuple[Array, ...]:
    """Return the path to each counterfactual; a row has them for all of its own or for none."""
    if not any(steps):
        return ()
    counts = [len(own) for own in steps]
    step_places = [
        f"{place}.steps[{step}]"
        for place, count in zip(places, counts, strict=True)
        for step in range(count)
    ]
    wanted = reader.lists(list(chain.from_iterable(steps)), step_places)
    entries = reader.entries(wanted, raw[np.repeat(owner, counts)])
    paths = tuple(np.split(entries, np.cumsum(counts)[:-1]))
    with_steps = {row for row, count in zip(owner.tolist(), counts, strict=True) if count}
    for line, (path, row) in enumerate(zip(paths, owner.tolist(), strict=True)):
        if row in with_steps and not _leads_to(path, rows[line]):
            expected = "steps, of which the last has the counterfactual's values"
            raise RecordError(f"{places[line]}.steps", list(steps[line]), expected)
    return paths


def _leads_to(path: Array, end: Array) -> bool:
    return bool(len(path)) and np.array_equal(path[-1], end, equal_nan=True)


def _integers(values: Sequence[int]) -> Ints:
    return np.array(values, dtype=np.int64)
