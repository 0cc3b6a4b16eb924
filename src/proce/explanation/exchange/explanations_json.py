"""Explanations as JSON and back: raw values by feature, no pickle, a versioned form."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from proce.causal import CausalGraph
from proce.errors import ProceError, SchemaError
from proce.explanation.exchange.plain_json import json_text, plain_json
from proce.explanation.exchange.rows import read_rows, wire_rows
from proce.explanation.exchange.wire import (
    WireCall,
    WireExplanations,
    WireFormat,
    WireGraph,
    WireModel,
    WireProvenance,
    WireRequest,
    WireScale,
)
from proce.explanation.record.context import Context, Provenance, spread_size
from proce.explanation.record.rows import ExplainedFrame
from proce.explanation.tables.frames import counterfactuals, outcomes
from proce.json_reading import check_format, parse_json
from proce.schema import Codec, Continuous, Feature, Layout, Level, Schema
from proce.schema.features.levels import find_level, level_type
from proce.schema.features.naming import checked_words
from proce.schema.frames.layout_json import layout_from_json, layout_to_json
from proce.schema.records import RecordError

FORMAT = 1
_DAMAGED = "The text was changed or is damaged; write it again with to_json()."
_MAX_CLASS = 2**63  # tables hold whole numbers of 64 bits


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


def wire_context(context: Context) -> dict[str, Any]:
    """Return the fields of a :class:`WireCall` that a context gives; the same for the same one."""
    rules = {"rules": list(context.rules)} if context.rules else {}
    return {
        "schema": json.loads(context.codec.schema.to_json()),
        "scale": _wire_scale(context.codec),
        "training_layout": layout_to_json(context.codec.layout),
        "model": _wire_model(context),
        "graph": WireGraph(
            edges=[list(edge) for edge in context.edges],
            origin=context.origin,
            n_graphs=context.n_graphs,
            n_refits=context.n_refits,
        ),
        "spread": plain_json(context.spread),
        "request": WireRequest(
            vary=plain_json(context.vary),
            ranges=plain_json(context.ranges),
            effort={name: float(effort) for name, effort in context.effort.items()},
            **rules,
        ),
    }


def read_context(text: WireCall) -> Context:
    """Return what all explanations of a text share."""
    codec = _codec(text)
    model, graph, request = text.model, text.graph, text.request
    _check_classes(model.classes)
    edges = tuple((cause, effect) for cause, effect in graph.edges)
    CausalGraph(edges, codec.schema.names)  # refuses unknown names and cycles
    _check_request(request, codec.schema)
    return Context(
        codec=codec,
        classes=tuple(model.classes),
        class_labels=_class_labels(model),
        withheld=text.withheld or 0,
        needed=_needed(model),
        threshold=model.threshold,
        lead=model.lead,
        n_models=model.n_models or 0,
        models_are_refits=bool(model.models_are_refits),
        robust=model.robust,
        edges=edges,
        n_graphs=graph.n_graphs,
        n_refits=graph.n_refits or 0,
        origin=graph.origin,
        vary=None if request.vary is None else tuple(request.vary),
        ranges={name: _range(*limits) for name, limits in request.ranges.items()},
        effort=request.effort,
        rules=tuple(request.rules or ()),
        spread=None if text.spread is None else _spread(text.spread, codec.schema),
    )


def wire_provenance(provenance: Provenance) -> WireProvenance:
    """Return how explanations came about as it stands in a text."""
    return WireProvenance(**plain_json(vars(provenance)))


def read_provenance(text: WireProvenance) -> Provenance:
    """Return how the explanations came about."""
    return Provenance(**dict(text))


def read_explained_layout(text: WireExplanations, schema: Schema) -> Layout:
    """Return the layout of the frame that was explained."""
    rows = [explanation.row for explanation in text.explanations]
    return _layout(text.layout, "layout", schema, rows)


def _layout(record: Any, place: str, schema: Schema, rows: Sequence[int] | None = None) -> Layout:
    try:
        return layout_from_json(record, schema.columns, rows)
    except RecordError as error:
        inside = f"{place}.{error.place}" if error.place else place
        raise RecordError(inside, error.value, error.expected) from None


def _wire_scale(codec: Codec) -> dict[str, WireScale]:
    scale = {}
    for position, feature in enumerate(codec.schema):
        own: dict[str, Any] = {"may_miss": codec.may_miss[position].item()}
        if isinstance(feature, Continuous):
            own |= {"low": codec.low[position].item(), "span": codec.span[position].item()}
            if codec.lowest[position] != 0 or codec.highest[position] != 1:
                own["seen"] = [codec.seen_low[position].item(), codec.seen_high[position].item()]
            if codec.resolution[position] != (feature.step or 0.0):
                own["resolution"] = codec.resolution[position].item()
        scale[feature.name] = WireScale(**own)
    return scale


def _codec(text: WireCall) -> Codec:
    schema, scale = _schema(text.features), text.scale
    ends = [_ends(scale, feature) for feature in schema]
    low, span = np.array(ends, dtype=np.float64).T
    may_miss = np.array([scale[name].may_miss for name in schema.names])
    if text.training_layout is None:
        layout = _layout(text.layout, "layout", schema)
    else:
        layout = _layout(text.training_layout, "training_layout", schema)
    codec = Codec(schema, low, span, may_miss, layout)
    columns = (codec.seen_low, codec.seen_high, codec.resolution)
    seen_low, seen_high, resolution = (column.copy() for column in columns)
    for position, name in enumerate(schema.names):
        own = scale[name]
        if own.seen is not None:
            if own.seen[0] > own.seen[1]:
                raise RecordError(f"scale.{name}.seen", list(own.seen), "the lower value first")
            seen_low[position], seen_high[position] = own.seen
        if own.resolution is not None:
            resolution[position] = own.resolution
    return replace(codec, seen_low=seen_low, seen_high=seen_high, resolution=resolution)


def _schema(features: dict[str, Any]) -> Schema:
    try:
        return Schema.from_json(json.dumps(features))
    except (OverflowError, TypeError, ValueError) as error:
        if isinstance(error, ProceError):
            raise
        raise SchemaError(f"the explanations' schema cannot be read: {error}.") from None


def _ends(scale: Mapping[str, WireScale], feature: Feature) -> tuple[float, float]:
    """Return the low end and the span of a feature; those of levels are always the same."""
    if feature.name not in scale:
        plain_scale = {name: ends.model_dump(exclude_unset=True) for name, ends in scale.items()}
        raise RecordError("scale", plain_scale, f"an object with {feature.name!r}")
    if not isinstance(feature, Continuous):
        return 0.0, 1.0
    place, own = f"scale.{feature.name}", scale[feature.name]
    if own.low is None or own.span is None:
        plain = own.model_dump(exclude_unset=True)
        raise RecordError(place, plain, "an object with 'low' and 'span'")
    if own.span <= 0:
        raise RecordError(f"{place}.span", own.span, "a positive number")
    return own.low, own.span


def _wire_model(context: Context) -> WireModel:
    optional: dict[str, Any] = {}
    if context.class_labels:
        optional["class_labels"] = [context.class_labels.get(label) for label in context.classes]
    if context.lead is not None:
        optional["lead"] = float(context.lead)
    if context.n_models:
        optional["n_models"] = context.n_models
        optional["models_are_refits"] = context.models_are_refits
        if context.robust is not None:
            optional["robust"] = float(context.robust)
    return WireModel(
        classes=list(context.classes),
        needed=[float(share) for share in context.needed],
        threshold=None if context.threshold is None else float(context.threshold),
        **optional,
    )


def _check_classes(classes: Sequence[Level]) -> None:
    if not classes or len({level_type(label) for label in classes}) > 1:
        raise RecordError("model.classes", classes, "labels of one type")
    if any(isinstance(label, int) and abs(label) >= _MAX_CLASS for label in classes):
        raise RecordError("model.classes", classes, "whole numbers of 64 bits")


def _class_labels(model: WireModel) -> dict[Level, str]:
    labels = model.class_labels
    if labels is None:
        return {}
    if len(labels) != len(model.classes):
        expected = f"words or null for each of the {len(model.classes)} classes"
        raise RecordError("model.class_labels", labels, expected)
    pairs = zip(model.classes, labels, strict=True)
    return {
        label: checked_words(f"model.class_labels: the label of {label!r}", words)
        for label, words in pairs
        if words is not None
    }


def _needed(model: WireModel) -> tuple[float, ...]:
    """Return the probability that each class needs as a target; older texts have one for all."""
    if not isinstance(model.needed, list):
        return (model.needed,) * len(model.classes)
    if len(model.needed) != len(model.classes):
        expected = f"a probability for each of the {len(model.classes)} classes"
        raise RecordError("model.needed", model.needed, expected)
    return tuple(model.needed)


def _range(low: Level | None, high: Level | None) -> tuple[Level, Level]:
    """Return the limits of a request; JSON has null for one that is infinite."""
    return -math.inf if low is None else low, math.inf if high is None else high


def _check_request(request: WireRequest, schema: Schema) -> None:
    for name in (*(request.vary or ()), *request.ranges, *request.effort):
        schema.position(name)
    for name, limits in request.ranges.items():
        feature = schema[name]
        if isinstance(feature, Continuous):
            fit = all(limit is None or level_type(limit) == "number" for limit in limits)
            expected = "two numbers, or null for one without end"
        else:
            fit = all(find_level(feature.levels, limit) is not None for limit in limits)
            expected = f"two levels of {name!r}"
        if not fit:
            raise RecordError(f"request.ranges.{name}", limits, expected)


def _spread(spread: Mapping[str, list[float]], schema: Schema) -> dict[str, tuple[float, ...]]:
    for name, values in spread.items():
        size = spread_size(schema[name])
        if len(values) != size:
            raise RecordError(f"spread.{name}", values, f"{size} numbers")
    return {name: tuple(values) for name, values in spread.items()}
