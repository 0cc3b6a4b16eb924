"""What explanations share, read from JSON and checked: schema, scale, graph, provenance."""

import json
from collections.abc import Sequence

import torch

from proce.causal import CausalGraph
from proce.errors import ProceError, SchemaError
from proce.explanation.exchange.record import Record
from proce.explanation.record.context import Context
from proce.explanation.record.provenance import Provenance
from proce.explanation.record.spread import spread_size
from proce.schema import Codec, Continuous, Feature, Level, Schema
from proce.schema.feature import level_type
from proce.schema.layout_json import LoadedLayout, layout_from_json
from proce.schema.records import RecordError


def read_context(record: Record) -> Context:
    """Read what all explanations share."""
    codec = _codec(record)
    model, graph, request = record["model"], record["graph"], record["request"]
    classes = tuple(each.level() for each in model["classes"].items())
    if not classes or len({level_type(each) for each in classes}) > 1:
        model["classes"].refuse("labels of one type")
    if any(isinstance(each, int) and abs(each) >= 2**63 for each in classes):
        model["classes"].refuse("whole numbers of 64 bits")
    edges = tuple(_edge(each) for each in graph["edges"].items())
    CausalGraph(edges, codec.schema.names)  # refuses unknown names and cycles
    origin, vary = graph.get("origin"), request.get("vary")
    threshold = model.get("threshold")
    refits, spread = graph.get("n_refits"), record.get("spread")
    names = None if vary is None else vary.texts()
    ranges = {name: _limits(each) for name, each in request["ranges"].fields()}
    effort = {name: each.number() for name, each in request["effort"].fields()}
    for name in (*(names or ()), *ranges, *effort):
        codec.schema.position(name)
    return Context(
        codec=codec,
        classes=classes,
        needed=_needed(model["needed"], len(classes)),
        threshold=None if threshold is None else threshold.number(),
        edges=edges,
        n_graphs=graph["n_graphs"].count(),
        n_refits=0 if refits is None else refits.count(),
        origin=None if origin is None else origin.text(),
        vary=names,
        ranges=ranges,
        effort=effort,
        spread=None if spread is None else _spread(spread, codec.schema),
    )


def read_provenance(record: Record) -> Provenance:
    """Read how explanations came about."""
    graph = record.get("graph")
    return Provenance(
        versions={name: each.text() for name, each in record["versions"].fields()},
        method=record["method"].text(),
        seed=record["seed"].integer(),
        settings=record["settings"].plain(),
        options=record["options"].plain(),
        mode=record["mode"].text(),
        graph=None if graph is None else graph.text(),
        training_rows=record["training_rows"].count(),
        training_hash=record["training_hash"].text(),
        elapsed_seconds=record["elapsed_seconds"].number(),
        generations=record["generations"].count(),
        evaluations=record["evaluations"].count(),
    )


def read_layout(
    record: Record, columns: Sequence[str], rows: Sequence[int] | None = None
) -> LoadedLayout:
    """Read how a frame looked, with the index where its rows are named."""
    try:
        return layout_from_json(record.value, columns, rows)
    except RecordError as error:
        place = f"{record.place}.{error.place}" if error.place else record.place
        Record(error.value, place).refuse(error.expected)


def _codec(record: Record) -> Codec:
    try:
        schema = Schema.from_json(json.dumps(record["schema"].plain()))
    except (OverflowError, TypeError, ValueError) as error:
        if isinstance(error, ProceError):
            raise
        raise SchemaError(f"the explanations' schema cannot be read: {error}.") from None
    scale = record["scale"]
    low, span = zip(*(_ends(feature, scale[feature.name]) for feature in schema), strict=True)
    may_miss = [scale[name]["may_miss"].flag() for name in schema.names]
    layout = read_layout(record.get("training_layout") or record["layout"], schema.columns)
    return Codec(
        schema,
        torch.tensor(low, dtype=torch.float64),
        torch.tensor(span, dtype=torch.float64),
        torch.tensor(may_miss),
        layout,
    )


def _ends(feature: Feature, record: Record) -> tuple[float, float]:
    """Return the low end and the span of a feature."""
    if not isinstance(feature, Continuous):
        return 0.0, 1.0
    low, span = record["low"].number(), record["span"].number()
    if not span > 0:
        record["span"].refuse("a positive number")
    return low, span


def _needed(record: Record, n_classes: int) -> tuple[float, ...]:
    """Return what each class needs as a target; a single number holds for all of them."""
    if not isinstance(record.value, list):
        return (record.number(),) * n_classes
    needed = tuple(each.number() for each in record.items())
    if len(needed) != n_classes:
        record.refuse(f"a probability for each of the {n_classes} classes")
    return needed


def _spread(record: Record, schema: Schema) -> dict[str, tuple[float, ...]]:
    spread = {name: tuple(e.number() for e in each.items()) for name, each in record.fields()}
    for name, values in spread.items():
        if len(values) != spread_size(schema[name]):
            record[name].refuse(f"{spread_size(schema[name])} numbers")
    return spread


def _edge(record: Record) -> tuple[str, str]:
    names = record.texts()
    if len(names) != 2:
        record.refuse("a pair of cause and effect")
    return names[0], names[1]


def _limits(record: Record) -> tuple[Level, Level]:
    limits = [each.level() for each in record.items()]
    if len(limits) != 2:
        record.refuse("a pair of limits")
    return limits[0], limits[1]
