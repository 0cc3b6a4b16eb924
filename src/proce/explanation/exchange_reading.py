"""The parts of explanations, read from JSON and checked."""

import json
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from proce.causal import CausalGraph
from proce.errors import ProceError, SchemaError
from proce.explanation.diagnosis import Blocker, Diagnosis
from proce.explanation.explanation import (
    OBJECTIVES,
    Change,
    Context,
    Explanation,
    Front,
    Outcome,
)
from proce.explanation.layout_exchange import read_layout
from proce.explanation.provenance import Provenance
from proce.explanation.record import Record
from proce.schema import MISSING_LEVEL, Codec, Continuous, Feature, Level, Ordinal, Schema
from proce.schema.feature import level_type

_KINDS = {kind.name.lower(): kind for kind in Change if kind is not Change.NONE}
_NEIGHBOURS = 8  # doubles on either side, among which a number's place on the unit range is


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
    names = None if vary is None else vary.texts()
    ranges = {name: _limits(each) for name, each in request["ranges"].fields()}
    effort = {name: each.number() for name, each in request["effort"].fields()}
    for name in (*(names or ()), *ranges, *effort):
        codec.schema.position(name)
    return Context(
        codec=codec,
        classes=classes,
        needed=model["needed"].number(),
        edges=edges,
        n_graphs=graph["n_graphs"].count(),
        origin=None if origin is None else origin.text(),
        vary=names,
        ranges=ranges,
        effort=effort,
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


def read_explanations(record: Record, context: Context) -> tuple[Explanation, ...]:
    """Read one explanation per row."""
    reader = _Reader(context)
    return tuple(reader.explanation(each) for each in record.items())


class _Reader:
    """Reads values by feature; the tables of levels are made once."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.features = context.codec.schema.features
        self.names = context.codec.schema.names
        self.codes = [_codes(feature) for feature in self.features]
        self.classes = {(level_type(c), c): at for at, c in enumerate(context.classes)}

    def explanation(self, record: Record) -> Explanation:
        raw = torch.tensor(self._row(record["factual"]), dtype=torch.float64)
        factual = self.context.codec.unit(raw)
        found = record["counterfactuals"].items()
        values = [self._row(each["values"]) for each in found]
        supports = [each.get("support") for each in found]
        support = [each.count() for each in supports if each is not None]
        if support and len(support) != len(found):
            record["counterfactuals"].refuse("support for all of them or for none")
        diagnosis, front = record.get("diagnosis"), record.get("front")
        return Explanation(
            context=self.context,
            row=record["row"].count(),
            factual=factual,
            raw=raw,
            predicted=self._class(record["predicted"]),
            target=self._class(record["target"]),
            probability=record["probability"].number(),
            outcome=_outcome(record["outcome"]),
            rows=self._entries(values, raw, factual),
            changes=self._changes(found),
            probabilities=_tensor([each["probability"].number() for each in found], 0),
            losses=_tensor([_losses(each["losses"]) for each in found], len(OBJECTIVES)),
            margin_met=record["margin_met"].flag(),
            support=torch.tensor(support) if support else None,
            front=None if front is None else self._front(front, raw, factual),
            diagnosis=None if diagnosis is None else _diagnosis(diagnosis),
            notes=record["notes"].texts(),
            dropped=record["dropped"].count(),
            expected=self._expected(found, raw, factual),
        )

    def _row(self, record: Record) -> list[float]:
        given = record.plain()
        if len(given) != len(self.names):
            record.refuse(f"a value for each of {', '.join(self.names)}")
        return [self._value(at, record[name]) for at, name in enumerate(self.names)]

    def _value(self, at: int, record: Record) -> float:
        """Return a number in raw units, or the code of a level."""
        feature = self.features[at]
        if isinstance(feature, Continuous):
            return record.number_or_missing()
        if record.value is None:
            return float(MISSING_LEVEL)
        level = record.level()
        code = self.codes[at].get((level_type(level), level))
        if code is None:
            record.refuse(f"a level of {feature.name!r}")
        return float(code)

    def _class(self, record: Record) -> int:
        label = record.level()
        position = self.classes.get((level_type(label), label))
        if position is None:
            record.refuse("one of the model's classes")
        return position

    def _entries(self, values: Sequence[Any], raw: Tensor, factual: Tensor) -> Tensor:
        """Return values in raw units as entries: those that give these very values again."""
        wanted = _tensor(values, len(self.features))
        codec = self.context.codec
        rows = codec.unit(wanted)
        best = rows.clone()
        away = codec.raw(rows) != wanted
        for step in range(1, _NEIGHBOURS + 1):
            if not bool((away & ~wanted.isnan()).any()):
                break
            for direction in (-math.inf, math.inf):
                near = rows
                for _ in range(step):
                    near = torch.nextafter(near, torch.full_like(near, direction))
                hit = away & (codec.raw(near) == wanted)
                best, away = torch.where(hit, near, best), away & ~hit
        return torch.where(wanted == raw, factual, best)

    def _changes(self, found: Sequence[Record]) -> Tensor:
        kinds = torch.zeros(len(found), len(self.features), dtype=torch.int8)
        for at, each in enumerate(found):
            for change in each["changes"].items():
                kind = change["kind"].text()
                if kind not in _KINDS:
                    change["kind"].refuse(f"one of {', '.join(_KINDS)}")
                position = self.context.codec.schema.position(change["feature"].text())
                kinds[at, position] = _KINDS[kind]
        return kinds

    def _expected(self, found: Sequence[Record], raw: Tensor, factual: Tensor) -> Tensor | None:
        values = torch.full((len(found), len(self.features)), math.nan, dtype=torch.float64)
        for at, each in enumerate(found):
            for change in each["changes"].items():
                if (expected := change.get("expected")) is not None:
                    position = self.context.codec.schema.position(change["feature"].text())
                    values[at, position] = self._value(position, expected)
        if bool(values.isnan().all()):
            return None
        return self._entries(values.tolist(), raw, factual)

    def _front(self, record: Record, raw: Tensor, factual: Tensor) -> Front:
        rows = []
        for each in record["values"].items():
            cells = each.items()
            if len(cells) != len(self.features):
                each.refuse(f"{len(self.features)} values")
            rows.append([self._value(at, cell) for at, cell in enumerate(cells)])
        losses = []
        for each in record["losses"].items():
            losses.append([loss.number_or_missing() for loss in each.items()])
            if len(losses[-1]) != len(OBJECTIVES):
                each.refuse(f"{len(OBJECTIVES)} losses")
        if len(losses) != len(rows):
            record["losses"].refuse(f"losses of {len(rows)} rows")
        return Front(self._entries(rows, raw, factual), _tensor(losses, len(OBJECTIVES)))


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
    reach = [float(max(1, len(f.levels) - 1)) if isinstance(f, Ordinal) else 1.0 for f in schema]
    layout = read_layout(record.get("training_layout") or record["layout"], schema.columns)
    return Codec(
        schema,
        torch.tensor(low, dtype=torch.float64),
        torch.tensor(span, dtype=torch.float64),
        torch.tensor(reach, dtype=torch.float64),
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


def _codes(feature: Feature) -> dict[tuple[str, Level], int]:
    if isinstance(feature, Continuous):
        return {}
    return {(level_type(level), level): code for code, level in enumerate(feature.levels)}


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


def _outcome(record: Record) -> Outcome:
    if record.text() not in list(Outcome):
        record.refuse(f"one of {', '.join(Outcome)}")
    return Outcome(record.text())


def _losses(record: Record) -> list[float]:
    return [record[name].number_or_missing() for name in OBJECTIVES]


def _diagnosis(record: Record) -> Diagnosis:
    miss, probability = record.get("closest_miss"), record.get("probability")
    return Diagnosis(
        reason=record["reason"].text(),
        closest_miss=None if miss is None else miss.plain(),
        probability=None if probability is None else probability.number(),
        needed=record["needed"].number(),
        broken=record["broken"].texts(),
        blockers=tuple(_blocker(each) for each in record["blockers"].items()),
        searched=record["searched"].count(),
    )


def _blocker(record: Record) -> Blocker:
    return Blocker(
        record["kind"].text(),
        record["name"].text(),
        record["relaxation"].text(),
        record["distance"].number_or_missing(),
    )


def _tensor(values: Sequence[Any], width: int) -> Tensor:
    made = torch.tensor(values, dtype=torch.float64)
    return made.reshape(len(values), width) if width else made
