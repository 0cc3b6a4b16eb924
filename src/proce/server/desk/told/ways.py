"""The ways of one row as a page draws them: in words, with causes, intervals and the front."""

from collections.abc import Mapping, Sequence
from typing import Any

from proce.explanation.exchange.plain_json import finite_or_none
from proce.explanation.record.outcome import UNKNOWN_CLASS
from proce.explanation.record.rows import ExplainedFrame, ExplainedRow
from proce.explanation.words.cells import ChangedCell, plain_value, row_cells
from proce.explanation.words.certainty import is_unsure
from proce.explanation.words.decision import decision_text
from proce.explanation.words.sentences import (
    Line,
    lines_of_counterfactual,
    lines_without_counterfactual,
)
from proce.explanation.words.values import class_texts, name_text, value_text
from proce.losses import Loss
from proce.server.desk.told.changes import changes_in_order, kind_of
from proce.server.desk.told.front import AXES, front_of
from proce.server.desk.told.obstacles import diagnosis_of
from proce.server.desk.told.results import id_of, label_of, row_id_of

Plain = dict[str, Any]


def ways_of(result: ExplainedFrame, row: ExplainedRow, request: Mapping[str, Any]) -> Plain:
    """Return everything that a page draws for one row.

    Parameters
    ----------
    result
        The explanations, as a view shows them.
    row
        One of their rows.
    request
        What was asked for, from which limits can be taken back.
    """
    ranked = row_cells(row)
    context = row.context
    diagnosis = None if len(row) else row.diagnosis
    return {
        "row": row.index,
        "row_id": row_id_of(request, row.index),
        "label": label_of(result, row),
        "id": id_of(result, row),
        "outcome": row.outcome.value,
        "decision": _decision(row),
        "values": _values(row),
        "lines": [] if len(row) else _lines(lines_without_counterfactual(row)),
        "ways": [_way(row, rank, cells) for rank, cells in enumerate(ranked, 1)],
        "front": front_of(row, ranked),
        "axes": AXES,
        "graph": {
            "edges": [list(edge) for edge in context.edges],
            "moved": {c.feature.name: kind_of(c) for c in (ranked[0] if ranked else ())},
            "edited": context.graph_was_edited,
        },
        "diagnosis": None if diagnosis is None else diagnosis_of(row, diagnosis, request),
    }


def _decision(row: ExplainedRow) -> Plain:
    predicted, target = class_texts(row)
    return {
        "predicted": row.context.class_at(row.predicted),
        "predicted_label": predicted,
        "target": row.context.class_at(row.target),
        "target_label": target,
        "probability": finite_or_none(row.probability),
        "needed": None if row.target == UNKNOWN_CLASS else row.needed or None,
        "sentence": decision_text(row),
    }


def _values(row: ExplainedRow) -> list[Plain]:
    codec = row.context.codec
    cells = zip(codec.schema, row.raw.tolist(), codec.span.tolist(), strict=True)
    return [
        {
            "feature": feature.name,
            "label": name_text(feature),
            "value": plain_value(feature, value),
            "text": value_text(feature, value, span),
        }
        for feature, value, span in cells
    ]


def _way(row: ExplainedRow, rank: int, cells: Sequence[ChangedCell]) -> Plain:
    confidence = None if row.confidence is None else row.confidence[rank - 1].item()
    return {
        "rank": rank,
        "probability": row.probabilities[rank - 1].item(),
        "distance": finite_or_none(row.losses[rank - 1, Loss.DISTANCE].item()),
        "confidence": None if confidence is None else finite_or_none(confidence),
        "unsure": is_unsure(row, rank),
        "lines": _lines(lines_of_counterfactual(row, cells, rank)),
        "changes": changes_in_order(cells, row.context),
    }


def _lines(lines: Sequence[Line]) -> list[Plain]:
    return [{"kind": line.kind, "text": line.text} for line in lines]
