"""Explained rows both ways: as columns, and as they stand in a text."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from proce.arrays import Array, blocks
from proce.explanation.exchange.counterfactuals import read_counterfactuals, wire_counterfactuals
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
from proce.explanation.exchange.wire import WireDiagnosis, WireFront, WireRow
from proce.explanation.record.context import Context
from proce.explanation.record.counterfactuals import (
    UNKNOWN_CHANGE,
    UNKNOWN_CLASS,
    Blocker,
    Diagnosis,
    Fronts,
    Notes,
    Outcome,
)
from proce.explanation.record.rows import ExplainedRows
from proce.explanation.words.cells import changed_cells
from proce.explanation.words.sentences import recommended_lines
from proce.losses import Loss
from proce.schema import Level
from proce.schema.features.levels import level_type
from proce.schema.records import RecordError

_CHANGE_LETTERS = ".ahc"  # one for each kind of change
_BLOCK_ROWS = 1_024  # whose plain values are held at a time
_UNASKED = (Outcome.OUT_OF_TIME, Outcome.FAILED)  # where the model may have said nothing


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
