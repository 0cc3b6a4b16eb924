"""Explanations as JSON and back: raw values by feature, no pickle, a versioned form."""

from typing import Any

import numpy as np
import pyarrow as pa

from proce.errors import ProceError, SchemaError
from proce.explanation.exchange.context import (
    read_context,
    read_explained_layout,
    read_provenance,
    wire_context,
    wire_provenance,
)
from proce.explanation.exchange.plain_json import json_text
from proce.explanation.exchange.rows import read_rows, wire_rows
from proce.explanation.exchange.wire import WireCall, WireExplanations, WireFormat
from proce.explanation.record.rows import ExplainedFrame
from proce.explanation.tables.frames import counterfactuals, outcomes
from proce.json_reading import check_format, parse_json
from proce.schema.frames.layout_json import layout_to_json
from proce.schema.records import RecordError

FORMAT = 1
_DAMAGED = "The text was changed or is damaged; write it again with to_json()."


def to_json(result: ExplainedFrame) -> str:
    """Return an explained frame as JSON text; :func:`from_json` reads it back."""
    withheld, shared = result.context.withheld, wire_context(result.context)
    if shared["training_layout"] == layout_to_json(result.layout):
        del shared["training_layout"]
    if shared["spread"] is None:
        del shared["spread"]
    if withheld:
        shared |= {"view": "applicant", "withheld": withheld}
    call = WireCall(
        format=FORMAT,
        layout=layout_to_json(result.layout, result.rows.positions.tolist()),
        provenance=wire_provenance(result.provenance),
        **shared,
    )
    record = call.model_dump(exclude_unset=True, by_alias=True)
    return json_text(record | {"explanations": wire_rows(result.rows)})


def from_json(text: str) -> ExplainedFrame:
    """Read what :func:`to_json` wrote; frames made from the result are pandas frames."""
    record = _parsed(text)
    try:
        version = WireFormat.read(record).format
        wrong = RecordError("format", version, str(FORMAT))
        newer = f"the explanations have format {version}"
        check_format(version, FORMAT, wrong, newer, "write them again", SchemaError)
        return _read(WireExplanations.read(record))
    except RecordError as error:
        raise SchemaError(f"the explanations cannot be read: {error} {_DAMAGED}") from None
    except ProceError:
        raise
    except (ValueError, TypeError, ArithmeticError, RecursionError, pa.ArrowException) as error:
        raise SchemaError(
            "the explanations cannot be read: their values do not fit their schema or layout"
            f" ({error}). {_DAMAGED}"
        ) from None


def _read(text: WireExplanations) -> ExplainedFrame:
    context = read_context(text)
    layout = read_explained_layout(text, context.codec.schema)
    with np.errstate(invalid="raise", over="raise"):
        rows = read_rows(text.explanations, context)
        result = ExplainedFrame(rows, layout, read_provenance(text.provenance))
        counterfactuals(result)  # fails where a dtype of the layout cannot hold a value
        outcomes(result)
    return result


def _parsed(text: str) -> dict[str, Any]:
    try:
        value = parse_json(text)
    except ValueError as error:
        raise SchemaError(f"the explanations are not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise SchemaError('the explanations are not of the form {"format": 1, …}.')
    return value
