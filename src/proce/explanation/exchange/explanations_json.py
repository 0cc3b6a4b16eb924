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
from torch import Tensor

from proce.errors import ProceError, SchemaError
from proce.explanation.exchange.context import read_context, read_layout, read_provenance
from proce.explanation.exchange.items import read_explanations
from proce.explanation.exchange.record import Record
from proce.explanation.record.context import Context
from proce.explanation.record.diagnosis import Diagnosis
from proce.explanation.result.explanation import OBJECTIVES, Change, Explanation, Front
from proce.explanation.result.explanations import Explanations
from proce.explanation.tables.frames import counterfactuals, outcomes
from proce.explanation.words.cells import Cell, cells_of, plain, plain_column, raw_rows, stacked
from proce.explanation.words.sentences import told
from proce.schema import Continuous
from proce.schema.layout_json import layout_to_json

FORMAT = 1
_BROKEN_DOWN = 4  # levels of the text that have a line per item
_WIDTH = 100  # characters of a list or an object that stay on a line
_KINDS = {kind: kind.name.lower() for kind in Change}
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def to_json(result: Explanations) -> str:
    """Return everything as JSON text; :func:`from_json` reads it back."""
    context = result.context
    layout = layout_to_json(result.layout)
    training = layout_to_json(context.codec.layout)
    record = {
        "format": FORMAT,
        "schema": json.loads(context.codec.schema.to_json()),
        "scale": _scale(context),
        "layout": layout_to_json(result.layout, [item.row for item in result.items]),
        **({"training_layout": training} if training != layout else {}),
        "model": {
            "classes": list(context.classes),
            "needed": list(context.needed),
            "threshold": context.threshold,
        },
        "graph": {
            "edges": [list(edge) for edge in context.edges],
            "origin": context.origin,
            "n_graphs": context.n_graphs,
            "n_refits": context.n_refits,
        },
        **({} if context.spread is None else {"spread": _plain(context.spread)}),
        "request": _plain(
            {"vary": context.vary, "ranges": context.ranges, "effort": context.effort}
        ),
        "provenance": _plain(vars(result.provenance)),
        "explanations": _explanations(result),
    }
    return _text(record, _BROKEN_DOWN) + "\n"


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
    items = result.items
    if not items:
        return []
    values = iter(_values(result.context, raw_rows(result.context, *stacked(items))))
    factual = _values(result.context, torch.stack([item.raw for item in items]))
    names = result.context.codec.schema.names
    records = []
    for item, before, ranked in zip(items, factual, cells_of(items), strict=True):
        record = _explanation(item, dict(zip(names, before, strict=True)), ranked)
        for each in record["counterfactuals"]:
            each["values"] = dict(zip(names, next(values), strict=True))
        records.append(record)
    return records


def _explanation(
    item: Explanation, factual: dict[str, Any], ranked: Sequence[Sequence[Cell]]
) -> dict[str, Any]:
    classes = item.context.classes
    chances, losses = item.probabilities.tolist(), _finite(item.losses.tolist())
    return {
        "row": item.row,
        "outcome": item.outcome.value,
        "predicted": classes[item.predicted],
        "target": classes[item.target],
        "probability": item.probability,
        "sentences": [line.text for line in told(item, ranked[0] if ranked else ())],
        "factual": factual,
        "counterfactuals": [
            {
                "rank": at + 1,
                "probability": chances[at],
                **({} if item.support is None else {"support": int(item.support[at])}),
                **({} if item.refits is None else {"refits": int(item.refits[at])}),
                "losses": dict(zip(OBJECTIVES, losses[at], strict=True)),
                "changes": [_change(cell, item, at) for cell in cells],
                **({"steps": _raw_values(item, item.steps[at])} if item.steps else {}),
            }
            for at, cells in enumerate(ranked)
        ],
        "margin_met": item.margin_met,
        "diagnosis": None if item.diagnosis is None else _diagnosis(item.diagnosis),
        "notes": list(item.notes),
        "dropped": item.dropped,
        "front": None if item.front is None else _front(item, item.front),
    }


def _change(cell: Cell, item: Explanation, at: int) -> dict[str, Any]:
    feature, before = cell.feature, cell.before
    values = plain_column(feature, [before, cell.after])
    record = {
        "feature": feature.name,
        "kind": _KINDS[cell.kind],
        "before": values[0],
        "after": values[1],
    }
    if cell.kind is Change.HOLD and not math.isnan(cell.expected):
        record["expected"] = plain(feature, cell.expected)
    if cell.kind is Change.ACTION and item.contributions is not None:
        record["contribution"] = item.contributions[at, cell.position].item()
    return record


def _diagnosis(diagnosis: Diagnosis) -> Any:
    return _plain({**vars(diagnosis), "blockers": [vars(each) for each in diagnosis.blockers]})


def _front(item: Explanation, front: Front) -> dict[str, Any]:
    return {"values": _raw_values(item, front.rows), "losses": _finite(front.losses.tolist())}


def _raw_values(item: Explanation, rows: Tensor) -> list[list[Any]]:
    """Return rows ``(n, f)``, variants of an explanation's own, as plain values."""
    return _values(item.context, raw_rows(item.context, rows, item.factual, item.raw))


def _values(context: Context, raw: Tensor) -> list[list[Any]]:
    """Return rows ``(n, f)`` in raw units as plain values."""
    columns = zip(context.codec.schema, raw.T.tolist(), strict=True)
    made = [plain_column(feature, values) for feature, values in columns]
    return [list(row) for row in zip(*made, strict=True)]


def _finite(losses: list[list[float]]) -> list[list[float | None]]:
    return [[loss if math.isfinite(loss) else None for loss in row] for row in losses]


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
        compact = compact and len(_encode(value)) <= _WIDTH
    if compact:
        return _encode(value)
    indent = "\n" + " " * (_BROKEN_DOWN - levels + 1)
    if isinstance(value, dict):
        items = [f"{_encode(key)}: {_text(each, levels - 1)}" for key, each in value.items()]
        return "{" + ",".join(indent + each for each in items) + indent[:-1] + "}"
    return "[" + ",".join(indent + _text(each, levels - 1) for each in value) + indent[:-1] + "]"
