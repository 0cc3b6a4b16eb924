"""Explanations made by hand, as columns."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from proce.arrays import Array
from proce.explanation import (
    Change,
    Context,
    Counterfactuals,
    Diagnosis,
    ExplainedRows,
    Explanation,
    Fronts,
    Outcome,
    Provenance,
)
from proce.explanation.record.counterfactuals import UNKNOWN_CHANGE, Intervals, Notes
from proce.explanation.record.rows import joined_rows
from proce.schema import Codec

# What became of a feature: the kind of its change, its value, and for a hold where it would have
# gone.
FeatureChange = tuple[str, Any] | tuple[str, Any, Any]
Way = Mapping[str, FeatureChange]

KINDS = {
    "action": Change.ACTION,
    "hold": Change.HOLD,
    "consequence": Change.CONSEQUENCE,
    "unmarked": Change.NONE,
}
BY_HAND = Provenance({}, "by hand", 0, {}, {}, "off", None, 5, "", 0.0, 0, 0)


def changed_rows(codec: Codec, factual: Array, ways: Sequence[Way]) -> tuple[Array, Array, Array]:
    """Return a row for each way, the kinds of its changes, and where its holds would have gone."""
    rows = np.tile(factual, (len(ways), 1))
    changes, expected = np.zeros(rows.shape, dtype=np.int8), np.full_like(rows, np.nan)
    for rank, way in enumerate(ways):
        for name, (kind, value, *would) in way.items():
            position = codec.schema.position(name)
            changes[rank, position] = KINDS[kind]
            if kind != "hold":
                rows[rank, position] = codec.encode_value(name, value)
            if would:
                expected[rank, position] = codec.encode_value(name, would[0])
    return rows, changes, expected


def explained_row(
    shared: Context,
    factual: Array,
    raw: Array,
    rows: Array,
    changes: Array,
    probabilities: Any,
    losses: Any,
    *,
    row: int = 0,
    predicted: int = 0,
    target: int = 1,
    probability: float = 0.31,
    outcome: Outcome | None = None,
    margin_met: bool = True,
    dropped: int = 0,
    expected: Array | None = None,
    contributions: Any = None,
    support: Any = None,
    refits: Any = None,
    confidence: Any = None,
    robustness: Any = None,
    intervals: Intervals | None = None,
    asked_by: Array | None = None,
    steps: Sequence[Array] = (),
    front: Fronts | None = None,
    diagnosis: Diagnosis | None = None,
    notes: tuple[str, ...] = (),
) -> Explanation:
    """Return one row of arrays or lists as an explanation: found where it has a counterfactual."""
    usual = Outcome.FOUND if len(rows) else Outcome.NOT_FOUND
    columns = ExplainedRows(
        context=shared,
        positions=np.array([row]),
        factual=factual[None],
        raw=raw[None],
        predicted=np.array([predicted]),
        target=np.array([target]),
        probability=np.array([probability], dtype=np.float64),
        outcomes=np.array([(outcome or usual).code]),
        margin_met=np.array([margin_met]),
        dropped=np.array([dropped]),
        counterfactuals=Counterfactuals.of(
            np.zeros(len(rows), dtype=np.int64),
            rows,
            changes,
            np.asarray(probabilities, np.float64),
            np.asarray(losses, np.float64),
            expected=expected,
            contributions=_column(contributions, np.float64),
            support=_column(support, np.int64),
            refits=_column(refits, np.int64),
            confidence=_column(confidence, np.float64),
            robustness=_column(robustness, np.int64),
            intervals=intervals,
            asked_by=asked_by,
            steps=steps,
        ),
        fronts=Fronts.empty(len(factual)) if front is None else front,
        diagnoses={} if diagnosis is None else {0: diagnosis},
        notes=Notes.of([notes]),
    )
    return Explanation(columns, 0)


def _column(values: Any, dtype: type) -> Array | None:
    return None if values is None else np.asarray(values, dtype)


def fronts_of_one(rows: Array, losses: Array) -> Fronts:
    """Return the front of a single row, of whose changes nothing is known."""
    owner, changes = np.zeros(len(rows), np.int64), np.full(rows.shape, UNKNOWN_CHANGE, np.int8)
    return Fronts(owner, rows, losses, changes)


def with_columns(item: Explanation, **columns: Any) -> Explanation:
    """Return an explanation with other columns of counterfactuals, such as ``refits``."""
    own = item.alone()
    steps = {"steps": columns.pop("steps")} if "steps" in columns else {}
    ways = own.counterfactuals
    arrays = {
        name: np.asarray(values, getattr(ways, name).dtype) for name, values in columns.items()
    }
    return Explanation(replace(own, counterfactuals=replace(ways, **arrays, **steps)), 0)


def together(items: Sequence[Explanation]) -> ExplainedRows:
    """Return the columns of one or more explanations, in the order given."""
    return joined_rows([item.alone() for item in items])
