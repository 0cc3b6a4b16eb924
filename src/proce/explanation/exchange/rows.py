"""Reads the explained rows of a text as columns."""

from collections.abc import Sequence

import numpy as np

from proce.arrays import Array
from proce.explanation.exchange.counterfactuals import read_counterfactuals
from proce.explanation.exchange.values import ValueReader, loss_column, number_or_nan
from proce.explanation.exchange.wire import WireDiagnosis, WireFront, WireRow
from proce.explanation.record.context import Context
from proce.explanation.record.counterfactuals import UNKNOWN_CHANGE, Fronts
from proce.explanation.record.diagnosis import Blocker, Diagnosis
from proce.explanation.record.notes import Notes
from proce.explanation.record.outcome import CHANGE_LETTERS, UNKNOWN_CLASS, Outcome
from proce.explanation.record.rows import ExplainedRows
from proce.losses import Loss
from proce.schema import Level
from proce.schema.features.levels import level_type
from proce.schema.records import RecordError

_UNASKED = (Outcome.OUT_OF_TIME, Outcome.FAILED)  # where the model may have said nothing


def read_rows(rows: Sequence[WireRow], context: Context) -> ExplainedRows:
    """Return the rows of a text as columns."""
    _refuse_repeats(rows)
    _refuse_unknown(rows)
    reader = ValueReader(context.codec)
    places = [f"explanations[{index}]" for index in range(len(rows))]
    raw = reader.objects([row.factual for row in rows], [f"{place}.factual" for place in places])
    diagnoses = {index: _diagnosis(row.diagnosis) for index, row in enumerate(rows)}
    return ExplainedRows(
        context=context,
        positions=_integers([row.row for row in rows]),
        factual=context.codec.to_unit(raw),
        raw=raw,
        predicted=_classes([row.predicted for row in rows], context.classes, "predicted"),
        target=_classes([row.target for row in rows], context.classes, "target"),
        probability=_numbers([row.probability for row in rows]),
        outcomes=_integers([Outcome(row.outcome).code for row in rows]),
        margin_met=np.array([row.margin_met for row in rows], dtype=np.bool_),
        dropped=_integers([row.dropped for row in rows]),
        counterfactuals=read_counterfactuals(
            [row.counterfactuals for row in rows], places, reader, raw, context.rules
        ),
        fronts=_fronts([row.front for row in rows], places, reader, raw),
        diagnoses={
            index: diagnosis for index, diagnosis in diagnoses.items() if diagnosis is not None
        },
        notes=Notes.of([row.notes for row in rows]),
    )


def _refuse_repeats(rows: Sequence[WireRow]) -> None:
    known: set[int] = set()
    for index, row in enumerate(rows):
        if row.row in known:
            expected = "every row once; this one was there before"
            raise RecordError(f"explanations[{index}].row", row.row, expected)
        known.add(row.row)


def _refuse_unknown(rows: Sequence[WireRow]) -> None:
    """Refuse rows of which the model said nothing, but for those that it was never asked about."""
    for index, row in enumerate(rows):
        if row.outcome in _UNASKED and not row.counterfactuals:
            continue
        for field in ("predicted", "target", "probability"):
            if getattr(row, field) is None:
                expected = "a value; only a row that has no answer may lack it"
                raise RecordError(f"explanations[{index}].{field}", None, expected)


def _classes(labels: Sequence[Level | None], classes: Sequence[Level], field: str) -> Array:
    """Return labels as positions among the model's classes; null is an unknown class."""
    known = {(level_type(label), label): position for position, label in enumerate(classes)}
    positions = [
        UNKNOWN_CLASS if label is None else known.get((level_type(label), label))
        for label in labels
    ]
    if None in positions:
        wrong = positions.index(None)
        place = f"explanations[{wrong}].{field}"
        raise RecordError(place, labels[wrong], "one of the model's classes")
    return _integers([position for position in positions if position is not None])


def _fronts(
    fronts: Sequence[WireFront | None], places: Sequence[str], reader: ValueReader, raw: Array
) -> Fronts:
    owner: list[int] = []
    values: list[list[object]] = []
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
    return Fronts(owners, reader.entries(wanted, raw[owners]), loss_column(losses), codes)


def _codes(front: WireFront, place: str, n_features: int) -> list[list[int]]:
    """Return what became of each cell of a front; -1 where the text does not say."""
    if front.changes is None:
        return [[UNKNOWN_CHANGE] * n_features for _ in front.values]
    expected = (
        f"{n_features} of the letters {CHANGE_LETTERS!r} for each of {len(front.values)} rows"
    )
    if len(front.changes) != len(front.values):
        raise RecordError(f"{place}.changes", front.changes, expected)
    for number, letters in enumerate(front.changes):
        if len(letters) != n_features or not set(letters) <= set(CHANGE_LETTERS):
            raise RecordError(f"{place}.changes[{number}]", letters, expected)
    return [[CHANGE_LETTERS.index(letter) for letter in letters] for letters in front.changes]


def _diagnosis(diagnosis: WireDiagnosis | None) -> Diagnosis | None:
    if diagnosis is None:
        return None
    blockers = [
        Blocker(
            blocker.kind,
            blocker.name,
            blocker.relaxation,
            number_or_nan(blocker.distance),
            blocker.value,
        )
        for blocker in diagnosis.blockers
    ]
    return Diagnosis(
        reason=diagnosis.reason,
        closest_miss=diagnosis.closest_miss,
        probability=diagnosis.probability,
        needed=diagnosis.needed,
        broken=tuple(diagnosis.broken),
        blockers=tuple(blockers),
        searched=diagnosis.searched,
    )


def _numbers(values: Sequence[float | None]) -> Array:
    return np.array([number_or_nan(value) for value in values], dtype=np.float64)


def _integers(values: Sequence[int]) -> Array:
    return np.array(values, dtype=np.int64)
