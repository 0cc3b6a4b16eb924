"""Explained rows and their counterfactuals both ways: as columns, and as they stand in a text."""

import math
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from proce.arrays import Array, blocks
from proce.explanation.exchange.plain_json import finite_or_none, plain_json
from proce.explanation.exchange.values import (
    ValueReader,
    float_column,
    plain_losses,
    plain_raw,
    plain_rows,
    read_losses,
    split,
)
from proce.explanation.exchange.wire import (
    WireChange,
    WireCounterfactual,
    WireDiagnosis,
    WireFront,
    WireRow,
)
from proce.explanation.record.context import Context
from proce.explanation.record.counterfactuals import (
    CHANGES,
    NO_RULE,
    OPEN_END_WORDS,
    UNKNOWN_CHANGE,
    UNKNOWN_CLASS,
    UNKNOWN_COUNT,
    Blocker,
    Change,
    Counterfactuals,
    Diagnosis,
    Fronts,
    Notes,
    Outcome,
)
from proce.explanation.record.rows import ExplainedRows
from proce.explanation.words.cells import ChangedCells, changed_cells
from proce.explanation.words.sentences import recommended_lines
from proce.losses import LOSS_NAMES, Loss
from proce.schema import Level
from proce.schema.features.levels import level_type
from proce.schema.records import RecordError

_CHANGE_LETTERS = ".ahc"  # one for each kind of change
_BLOCK_ROWS = 1_024  # whose plain values are held at a time
_UNASKED = (Outcome.OUT_OF_TIME, Outcome.FAILED)  # where the model may have said nothing
Record = dict[str, Any]
_KINDS = tuple(change.name.lower() for change in CHANGES)
_ARTICLES = {"action": "an action", "hold": "a hold"}
_COUNTS = ("support", "refits", "robustness")
_ABSENT = ...  # of a field that a change does not have; None is a missing value


def wire_rows(rows: ExplainedRows) -> Iterator[WireRow]:
    """Yield the rows as they stand in a text."""
    for block in blocks(np.arange(len(rows)), _BLOCK_ROWS):
        yield from _wire_block(rows.take(block))


def _wire_block(rows: ExplainedRows) -> Iterator[WireRow]:
    cells, context = changed_cells(rows), rows.context
    ranked, ways = cells.by_counterfactual(), wire_counterfactuals(rows, cells)
    names = context.codec.schema.names
    factual, fronts = plain_raw(context.codec, rows.raw), _wire_fronts(rows)
    extents = zip(rows.extents[:-1], rows.extents[1:], strict=True)
    for row, values, (start, end), front in zip(rows, factual, extents, fronts, strict=True):
        record: dict[str, Any] = {
            "row": row.row,
            "outcome": row.outcome.value,
            "predicted": context.class_at(row.predicted),
            "target": context.class_at(row.target),
            "probability": finite_or_none(row.probability),
            "sentences": [line.text for line in recommended_lines(row, ranked[start:end])],
            "factual": dict(zip(names, values, strict=True)),
            "counterfactuals": ways[start:end],
            "margin_met": row.margin_met,
            "diagnosis": None if row.diagnosis is None else _wire_diagnosis(row.diagnosis),
            "notes": list(row.notes),
            "dropped": row.dropped,
            "front": front,
        }
        yield WireRow.model_construct(**record)  # checked when it is read: to check takes long


def read_rows(rows: Sequence[WireRow], context: Context) -> ExplainedRows:
    """Return the rows of a text as columns."""
    _check_rows(rows)
    reader = ValueReader(context.codec)
    places = [f"explanations[{index}]" for index in range(len(rows))]
    raw = reader.objects([row.factual for row in rows], [f"{place}.factual" for place in places])
    return ExplainedRows(
        context=context,
        positions=_integers([row.row for row in rows]),
        factual=context.codec.to_unit(raw),
        raw=raw,
        predicted=_classes([row.predicted for row in rows], context.classes, "predicted"),
        target=_classes([row.target for row in rows], context.classes, "target"),
        probability=float_column([row.probability for row in rows]),
        outcomes=_integers([Outcome(row.outcome).code for row in rows]),
        margin_met=np.array([row.margin_met for row in rows], dtype=np.bool_),
        dropped=_integers([row.dropped for row in rows]),
        counterfactuals=read_counterfactuals(
            [row.counterfactuals for row in rows], places, reader, raw, context.rules
        ),
        fronts=_read_fronts([row.front for row in rows], places, reader, raw),
        diagnoses={
            index: _read_diagnosis(row.diagnosis)
            for index, row in enumerate(rows)
            if row.diagnosis is not None
        },
        notes=Notes.of([row.notes for row in rows]),
    )


def _check_rows(rows: Sequence[WireRow]) -> None:
    """Refuse rows that are there twice, and those that lack what the model was asked about."""
    known: set[int] = set()
    for index, row in enumerate(rows):
        if row.row in known:
            expected = "every row once; this one was there before"
            raise RecordError(f"explanations[{index}].row", row.row, expected)
        known.add(row.row)
        if row.outcome in _UNASKED and not row.counterfactuals:
            continue
        for field in ("predicted", "target", "probability"):
            if getattr(row, field) is None:
                expected = "a value; only a row that has no answer may lack it"
                raise RecordError(f"explanations[{index}].{field}", None, expected)


def _classes(labels: Sequence[Level | None], classes: Sequence[Level], field: str) -> Array:
    """Return labels as positions among the model's classes; null is an unknown class."""
    known: dict[Any, int] = {
        (level_type(label), label): position for position, label in enumerate(classes)
    }
    known[None] = UNKNOWN_CLASS
    keys = [None if label is None else (level_type(label), label) for label in labels]
    for index, key in enumerate(keys):
        if key not in known:
            place = f"explanations[{index}].{field}"
            raise RecordError(place, labels[index], "one of the model's classes")
    return _integers([known[key] for key in keys])


def _wire_fronts(rows: ExplainedRows) -> list[WireFront | None]:
    """Return the front of each row, ``None`` where it was not kept."""
    fronts = rows.fronts
    sizes = np.bincount(fronts.owner, minlength=len(rows)).tolist()
    columns = (
        plain_rows(rows, fronts.rows, fronts.owner),
        plain_losses(fronts.losses),
        _letters(fronts.changes),
        (fronts.changes != UNKNOWN_CHANGE).all(1).tolist(),
    )
    return [
        WireFront.model_construct(
            values=values, losses=losses, **({"changes": letters} if all(known) else {})
        )
        if values
        else None
        for values, losses, letters, known in zip(
            *(split(column, sizes) for column in columns), strict=True
        )
    ]


def _letters(changes: Array) -> list[str]:
    """Return the kinds of change ``(p, f)`` of each member of a front as one text."""
    letters = np.ascontiguousarray(np.array([*_CHANGE_LETTERS])[changes])
    texts: list[str] = letters.view(f"U{changes.shape[1]}")[:, 0].tolist()
    return texts


def _read_fronts(
    fronts: Sequence[WireFront | None], places: Sequence[str], reader: ValueReader, raw: Array
) -> Fronts:
    owner: list[int] = []
    values: list[list[Any]] = []
    value_places: list[str] = []
    losses: list[list[float | None]] = []
    changes: list[list[int]] = []
    for index, front in enumerate(fronts):
        if front is None:
            continue
        place, size = f"{places[index]}.front", len(front.values)
        if len(front.losses) != size or any(len(own) != len(Loss) for own in front.losses):
            expected = f"{len(Loss)} losses for each of {size} rows"
            raise RecordError(f"{place}.losses", front.losses, expected)
        owner += [index] * size
        values += front.values
        value_places += [f"{place}.values[{member}]" for member in range(size)]
        losses += front.losses
        changes += _codes(front, place, len(reader.names))
    wanted, owners = reader.lists(values, value_places), _integers(owner)
    codes = np.array(changes, dtype=np.int8).reshape(len(owner), len(reader.names))
    return Fronts(owners, reader.entries(wanted, raw[owners]), read_losses(losses), codes)


def _codes(front: WireFront, place: str, n_features: int) -> list[list[int]]:
    """Return what became of each cell of a front; -1 where the text does not say."""
    if front.changes is None:
        return [[UNKNOWN_CHANGE] * n_features for _ in front.values]
    size = len(front.values)
    expected = f"{n_features} of the letters {_CHANGE_LETTERS!r} for each of {size} rows"
    if len(front.changes) != size:
        raise RecordError(f"{place}.changes", front.changes, expected)
    for number, letters in enumerate(front.changes):
        if len(letters) != n_features or not set(letters) <= set(_CHANGE_LETTERS):
            raise RecordError(f"{place}.changes[{number}]", letters, expected)
    return [[_CHANGE_LETTERS.index(letter) for letter in letters] for letters in front.changes]


def _wire_diagnosis(diagnosis: Diagnosis) -> WireDiagnosis:
    fields = plain_json(vars(diagnosis))
    if diagnosis.needed is not None:
        fields["needed"] = float(diagnosis.needed)
    blockers = [plain_json(vars(blocker)) for blocker in diagnosis.blockers]
    for blocker in blockers:
        if blocker["value"] is None:
            del blocker["value"]  # as in texts from before there was one
    return WireDiagnosis.read({**fields, "blockers": blockers})


def _read_diagnosis(diagnosis: WireDiagnosis) -> Diagnosis:
    blockers = [
        Blocker(**dict(own) | {"distance": math.nan if own.distance is None else own.distance})
        for own in diagnosis.blockers
    ]
    told = {"broken": tuple(diagnosis.broken), "blockers": tuple(blockers)}
    return Diagnosis(**dict(diagnosis) | told)


def _integers(values: Sequence[int]) -> Array:
    return np.array(values, dtype=np.int64)


def wire_counterfactuals(rows: ExplainedRows, cells: ChangedCells) -> list[Record]:
    """Return the fields of each counterfactual of some rows, whose changed cells these are."""
    ways, names = rows.counterfactuals, rows.context.codec.schema.names
    columns = zip(
        ways.ranks().tolist(),
        ways.probabilities.tolist(),
        _certainties(ways),
        plain_losses(ways.losses),
        _wire_changes(rows, cells),
        _wire_steps(rows),
        plain_rows(rows, ways.rows, ways.owner),
        strict=True,
    )
    return [
        {
            "rank": rank,
            "probability": probability,
            **certainties,
            "losses": dict(zip(LOSS_NAMES, losses, strict=True)),
            "changes": changes,
            **({"steps": steps} if steps else {}),
            "values": dict(zip(names, values, strict=True)),
        }
        for rank, probability, certainties, losses, changes, steps, values in columns
    ]


def read_counterfactuals(
    by_row: Sequence[Sequence[WireCounterfactual]],
    row_places: Sequence[str],
    reader: ValueReader,
    raw: Array,
    rules: Sequence[str],
) -> Counterfactuals:
    """Return the counterfactuals of explained rows ``raw (i, f)``, which stand at these places."""
    ways = list(chain.from_iterable(by_row))
    owner = np.repeat(np.arange(len(by_row)), [len(own) for own in by_row])
    places = [
        f"{place}.counterfactuals[{line}]"
        for place, own in zip(row_places, by_row, strict=True)
        for line in range(len(own))
    ]
    own_raw = raw[owner]
    wanted = reader.objects([way.values for way in ways], [f"{place}.values" for place in places])
    rows = reader.entries(wanted, own_raw)
    cells = _read_changes(ways, places, reader, reader.codec.missing(rows), rules)
    cells["expected"] = reader.entries(cells["expected"], own_raw)
    cells["contributions"] = _contributions(ways, owner, cells["contributions"])
    return Counterfactuals(
        owner=owner,
        rows=rows,
        probabilities=np.array([way.probability for way in ways], dtype=np.float64),
        losses=read_losses([[getattr(way.losses, name) for name in LOSS_NAMES] for way in ways]),
        confidence=float_column([way.confidence for way in ways]),
        steps=_read_steps([way.steps or [] for way in ways], rows, owner, places, reader, raw),
        **cells,
        **{name: _counts(ways, owner, places, name) for name in _COUNTS},
    )


def _wire_changes(rows: ExplainedRows, cells: ChangedCells) -> list[list[Record]]:
    """Return the changes of each counterfactual."""
    names, rules = rows.context.codec.schema.names, rows.context.rules
    is_action = cells.kind == Change.ACTION
    drifts = is_action & (cells.expected != cells.before)
    has_expected = ((cells.kind == Change.HOLD) | drifts) & ~np.isnan(cells.expected)
    added = _known_contributions(rows.counterfactuals)[cells.counterfactual, cells.position]
    has_interval = ~np.isnan(cells.holds_from)
    optional = {
        "expected": _given(cells.plain_values(cells.expected), has_expected),
        "contribution": _given(added.tolist(), is_action & ~np.isnan(added)),
        "holds_from": _given(cells.holds_from.tolist(), has_interval),
        "holds_to": _given(cells.holds_to.tolist(), has_interval),
        "open_ends": _given(
            [OPEN_END_WORDS[ends] for ends in cells.open_ends.tolist()], cells.open_ends != 0
        ),
        "rule": [_ABSENT if rule == NO_RULE else rules[rule] for rule in cells.rule.tolist()],
    }
    columns = zip(
        cells.counterfactual.tolist(),
        cells.position.tolist(),
        cells.kind.tolist(),
        cells.plain_values(cells.before),
        cells.plain_values(cells.after),
        zip(*optional.values(), strict=True),
        strict=True,
    )
    changes: list[list[Record]] = [[] for _ in range(cells.n_counterfactuals)]
    for line, position, kind, before, after, values in columns:
        record = {"feature": names[position], "kind": _KINDS[kind]}
        record |= {"before": before, "after": after}
        given = zip(optional, values, strict=True)
        record |= {name: value for name, value in given if value is not _ABSENT}
        changes[line].append(record)
    return changes


def _read_changes(
    ways: Sequence[WireCounterfactual],
    places: Sequence[str],
    reader: ValueReader,
    missing: Array,
    rules: Sequence[str],
) -> dict[str, Array]:
    """Return what the changes say of each cell ``(n, f)``, of which some have no value."""
    shape = missing.shape
    columns: dict[str, Array] = {
        "changes": np.zeros(shape, np.int8),
        "expected": np.full(shape, np.nan),
        "contributions": np.zeros(shape),
        "holds_from": np.full(shape, np.nan),
        "holds_to": np.full(shape, np.nan),
        "open_ends": np.zeros(shape, np.int8),
        "asked_by": np.full(shape, NO_RULE),
    }
    known_rules = {text: position for position, text in enumerate(rules)}
    for line, (way, way_place) in enumerate(zip(ways, places, strict=True)):
        for number, change in enumerate(way.changes):
            place = f"{way_place}.changes[{number}]"
            position = reader.position(change.feature, f"{place}.feature")
            cell = line, position
            if missing[cell] and change.kind != "consequence":
                needed = f"a value, since a change names it as {_ARTICLES[change.kind]}"
                raise RecordError(f"{way_place}.values.{change.feature}", None, needed)
            columns["changes"][cell] = _KINDS.index(change.kind)
            if change.expected is not None:
                value = reader.column(position, (change.expected,), (place,), "expected")
                columns["expected"][cell] = value[0]
            if change.contribution is not None:
                columns["contributions"][cell] = change.contribution
            if change.holds_from is not None or change.holds_to is not None:
                low, high = _interval(change, place)
                columns["holds_from"][cell], columns["holds_to"][cell] = low, high
                open_ends = OPEN_END_WORDS.index(change.open_ends or "none")
                columns["open_ends"][cell] = open_ends
            if change.rule is not None:
                if change.rule not in known_rules:
                    wanted = "one of the rules of the request"
                    raise RecordError(f"{place}.rule", change.rule, wanted)
                columns["asked_by"][cell] = known_rules[change.rule]
    return columns


def _interval(change: WireChange, place: str) -> tuple[float, float]:
    if change.holds_from is None or change.holds_to is None:
        raise RecordError(place, None, "both 'holds_from' and 'holds_to', or neither")
    if change.holds_from > change.holds_to:
        raise RecordError(f"{place}.holds_to", change.holds_to, "no less than 'holds_from'")
    return change.holds_from, change.holds_to


def _contributions(ways: Sequence[WireCounterfactual], owner: Array, added: Array) -> Array:
    """Return what each action adds ``(n, f)``; NaN for rows of which not all is known."""
    some = [any(change.contribution is not None for change in way.changes) for way in ways]
    lacks = [
        any(change.kind == "action" and change.contribution is None for change in way.changes)
        for way in ways
    ]
    known = np.isin(owner, owner[np.array(some, bool)])
    known &= ~np.isin(owner, owner[np.array(lacks, bool)])
    return np.where(known[:, None], added, np.nan)


def _known_contributions(ways: Counterfactuals) -> Array:
    """Return the contributions ``(n, f)``; NaN throughout a row of which not all are known."""
    unknown = ways.owner[np.isnan(ways.contributions).any(1)]
    return np.where(np.isin(ways.owner, unknown)[:, None], np.nan, ways.contributions)


def _given(values: Sequence[Any], flags: Array) -> list[Any]:
    return [value if flag else _ABSENT for value, flag in zip(values, flags.tolist(), strict=True)]


def _certainties(ways: Counterfactuals) -> list[Record]:
    """Return how sure each counterfactual is: its chance, and the counts that its row has."""
    certainties: list[Record] = [{} for _ in range(len(ways))]
    known = {name: ways.is_counted(name) for name in _COUNTS}
    known["confidence"] = ~np.isnan(ways.confidence)
    for name, flags in known.items():
        lines = np.flatnonzero(flags)
        values = getattr(ways, name)[lines].tolist()
        for line, value in zip(lines.tolist(), values, strict=True):
            certainties[line][name] = value
    return certainties


def _counts(
    ways: Sequence[WireCounterfactual], owner: Array, places: Sequence[str], field: str
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


def _wire_steps(rows: ExplainedRows) -> list[list[list[Any]]]:
    """Return the path to each counterfactual, empty where there is none."""
    ways = rows.counterfactuals
    if not ways.steps:
        return [[] for _ in range(len(ways))]
    counts = [len(steps) for steps in ways.steps]
    owner = np.repeat(ways.owner, counts)
    return split(plain_rows(rows, np.concatenate(ways.steps), owner), counts)


def _read_steps(
    steps: Sequence[Sequence[Sequence[Any]]],
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
        leads_to = len(path) and np.array_equal(path[-1], rows[line], equal_nan=True)
        if row in with_steps and not leads_to:
            expected = "steps, of which the last has the counterfactual's values"
            raise RecordError(f"{places[line]}.steps", list(steps[line]), expected)
    return paths
