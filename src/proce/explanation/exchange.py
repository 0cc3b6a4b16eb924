"""Explanations as JSON and back: raw values by feature, no pickle, a versioned form."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np
import pyarrow as pa
import torch

from proce.errors import ProceError, SchemaError
from proce.explanation.cells import Cell, cells_of, plain, raw_rows, stacked
from proce.explanation.diagnosis import Diagnosis
from proce.explanation.exchange_reading import read_context, read_explanations, read_provenance
from proce.explanation.explanation import (
    OBJECTIVES,
    Change,
    Context,
    Explanation,
    Explanations,
    Front,
)
from proce.explanation.layout_exchange import layout_record, read_layout
from proce.explanation.record import Record
from proce.explanation.rendering import told
from proce.explanation.tables import counterfactuals, outcomes
from proce.schema import Continuous

FORMAT = 1
_BROKEN_DOWN = 4  # levels of the text that have a line per item
_WIDTH = 100  # characters of a list or an object that stay on a line
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def to_json(result: Explanations) -> str:
    """Return everything as JSON text; :func:`from_json` reads it back."""
    context = result.context
    layout = layout_record(result.layout)
    training = layout_record(context.codec.layout)
    record = {
        "format": FORMAT,
        "schema": json.loads(context.codec.schema.to_json()),
        "scale": _scale(context),
        "layout": layout_record(result.layout, [item.row for item in result.items]),
        **({"training_layout": training} if training != layout else {}),
        "model": {"classes": list(context.classes), "needed": context.needed},
        "graph": {
            "edges": [list(edge) for edge in context.edges],
            "origin": context.origin,
            "n_graphs": context.n_graphs,
        },
        "request": {
            "vary": None if context.vary is None else list(context.vary),
            "ranges": {name: list(limits) for name, limits in context.ranges.items()},
            "effort": dict(context.effort),
        },
        "provenance": vars(result.provenance),
        "explanations": _explanations(result),
    }
    return _text(_plain(record), _BROKEN_DOWN) + "\n"


def from_json(text: str) -> Explanations:
    """Read what :func:`to_json` wrote; frames made from the result are pandas frames."""
    record = _opened(text)
    rows = [each["row"].count() for each in record["explanations"].items()]
    if len(set(rows)) != len(rows):
        record["explanations"].refuse("every row once")
    context = read_context(record)
    layout = read_layout(record["layout"], context.codec.schema.columns, rows)
    provenance = read_provenance(record["provenance"])
    try:
        with np.errstate(invalid="raise", over="raise"):
            items = read_explanations(record["explanations"], context)
            result = Explanations(context, items, layout, provenance)
            counterfactuals(result)
            outcomes(result)
    except ProceError:
        raise
    except (ValueError, TypeError, ArithmeticError, pa.ArrowException) as error:
        raise SchemaError(
            "the explanations cannot be read: their values do not fit their schema or layout"
            f" ({error}). The text was changed or is damaged; write it again with to_json()."
        ) from None
    return result


def _opened(text: str) -> Record:
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError, TypeError) as error:
        raise SchemaError(f"the explanations are not JSON: {error}.") from None
    record = Record(value, "")
    if not isinstance(value, dict):
        raise SchemaError('the explanations are not of the form {"format": 1, …}.')
    version = record["format"].integer()
    if version > FORMAT:
        raise SchemaError(
            f"the explanations have format {version}; this version of proce reads up to {FORMAT}."
            " Update proce, or write them again with this version."
        )
    if version < 1:
        record["format"].refuse(str(FORMAT))
    return record


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number of JSON")


def _scale(context: Context) -> dict[str, Any]:
    codec = context.codec
    columns = (codec.low.tolist(), codec.span.tolist(), codec.may_miss.tolist())
    scale: dict[str, Any] = {}
    for feature, low, span, may_miss in zip(codec.schema, *columns, strict=True):
        ends = {"low": low, "span": span} if isinstance(feature, Continuous) else {}
        scale[feature.name] = {**ends, "may_miss": may_miss}
    return scale


def _explanations(result: Explanations) -> list[dict[str, Any]]:
    if not result.items:
        return []
    told_apart = cells_of(result.items)
    rows, factual, raw = stacked(result.items)
    values = iter(raw_rows(result.context, rows, factual, raw).tolist())
    return [
        _explanation(item, cells, [next(values) for _ in cells])
        for item, cells in zip(result.items, told_apart, strict=True)
    ]


def _explanation(
    item: Explanation, ranked: Sequence[Sequence[Cell]], values: Sequence[Sequence[float]]
) -> dict[str, Any]:
    classes = item.context.classes
    return {
        "row": item.row,
        "outcome": item.outcome.value,
        "predicted": classes[item.predicted],
        "target": classes[item.target],
        "probability": item.probability,
        "sentences": [line.text for line in told(item, ranked[0] if ranked else ())],
        "factual": _named(item.context, item.raw.tolist()),
        "counterfactuals": [
            _counterfactual(item, at, cells, row)
            for at, (cells, row) in enumerate(zip(ranked, values, strict=True))
        ],
        "margin_met": item.margin_met,
        "diagnosis": None if item.diagnosis is None else _diagnosis(item.diagnosis),
        "notes": list(item.notes),
        "dropped": item.dropped,
        "front": None if item.front is None else _front(item, item.front),
    }


def _counterfactual(
    item: Explanation, at: int, cells: Sequence[Cell], values: Sequence[float]
) -> dict[str, Any]:
    losses = dict(zip(OBJECTIVES, item.losses[at].tolist(), strict=True))
    support = {} if item.support is None else {"support": int(item.support[at])}
    return {
        "rank": at + 1,
        "probability": item.probabilities[at].item(),
        **support,
        "losses": losses,
        "changes": [_change(cell) for cell in cells],
        "values": _named(item.context, values),
    }


def _change(cell: Cell) -> dict[str, Any]:
    record = {
        "feature": cell.feature.name,
        "kind": cell.kind.name.lower(),
        "before": plain(cell.feature, cell.before),
        "after": plain(cell.feature, cell.after),
    }
    if cell.kind is Change.HOLD and not math.isnan(cell.expected):
        record["expected"] = plain(cell.feature, cell.expected)
    return record


def _diagnosis(diagnosis: Diagnosis) -> dict[str, Any]:
    return {**vars(diagnosis), "blockers": [vars(each) for each in diagnosis.blockers]}


def _front(item: Explanation, front: Front) -> dict[str, Any]:
    rows = torch.where(front.rows == item.factual, item.raw, item.context.codec.raw(front.rows))
    features = item.context.codec.schema.features
    values = [
        [plain(feature, value) for feature, value in zip(features, row, strict=True)]
        for row in rows.tolist()
    ]
    return {"values": values, "losses": front.losses.tolist()}


def _named(context: Context, values: Sequence[float]) -> dict[str, Any]:
    pairs = zip(context.codec.schema, values, strict=True)
    return {feature.name: plain(feature, value) for feature, value in pairs}


def _plain(value: Any) -> Any:
    """Return a value with nothing in it that JSON does not have."""
    if isinstance(value, Enum):
        return _plain(value.value)
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, Sequence | set | frozenset):
        return [_plain(each) for each in value]
    return str(value)


def _text(value: Any, levels: int) -> str:
    """Return JSON with a line per item on the first levels, and none below or where all fits."""
    compact = not levels or not isinstance(value, dict | list)
    if not compact:
        parts = value.values() if isinstance(value, dict) else value
        compact = not any(isinstance(each, dict | list) for each in parts)
        compact = compact and len(json.dumps(value, ensure_ascii=False)) <= _WIDTH
    if compact:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    indent = "\n" + " " * (_BROKEN_DOWN - levels + 1)
    if isinstance(value, dict):
        items = [
            f"{json.dumps(key, ensure_ascii=False)}: {_text(each, levels - 1)}"
            for key, each in value.items()
        ]
        return "{" + ",".join(indent + each for each in items) + indent[:-1] + "}"
    return "[" + ",".join(indent + _text(each, levels - 1) for each in value) + indent[:-1] + "]"
