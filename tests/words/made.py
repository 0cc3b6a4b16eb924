"""Results of all kinds, drawn from a seed: odd names, units, steps and levels, every change."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from proce.explanation import Context, Diagnosis, Explanation, Explanations, Outcome
from proce.explanation.record.counterfactuals import Intervals
from proce.explanation.words.values import class_text
from proce.methods.diagnosing.diagnosis import ClosestMiss, nearness_text
from proce.schema import Action, Categorical, Codec, Continuous, Feature, Layout, Ordinal, Schema

from ..explained import BY_HAND, explained_row, together

NAMES = (
    *("credit_history", "DebtRatio", "PAY_AMT1", "hoursPerWeek", "x1", "Größe", "capital.gain"),
    *("loan amount", "LSATScore", "naïve_bet", "MonthlyIncome", "tax_rate"),
)
UNITS = ("$", "US$", "€/month", "%", "km", "DM", "points", "months", "$ a year", None)
STEPS = (1.0, 100.0, 0.5, 0.01, 5.0, None)
LEVELS = (("low", "mid", "high"), (1, 2, 3, 4), ("none", "some"), (False, True), (-1, 0, 1))
LABELS = {"low": "below 0 DM", "none": "no such thing", 1: "the first class"}
RULES = ("cf.age >= x.age", "cf.debt_ratio < 3")
_KINDS = (0, 0, 1, 1, 2, 3)  # none, action, hold, consequence


def made(seed: int) -> Explanations:
    """Return the explanations of one to four rows."""
    rng = np.random.default_rng(seed)
    schema = _schema(rng)
    frame = _frame(schema, rng, int(rng.integers(1, 5)))
    codec = Codec.fit(schema, pd.concat([frame, _frame(schema, rng, 30)], ignore_index=True))
    shared = _context(codec, rng)
    items = [_item(shared, frame, row, rng) for row in range(len(frame))]
    if rng.random() < 0.5:
        frame.index = pd.Index([f"C{row:03}" for row in range(len(frame))])
    return Explanations(together(items), Layout.of(frame), BY_HAND)


def _schema(rng: np.random.Generator) -> Schema:
    names = rng.permutation(NAMES)[: rng.integers(2, 7)].tolist()
    features = [_feature(name, rng) for name in names]
    features[0] = replace(features[0], action=Action.FREE)  # so that something can be done
    features.append(Continuous("age", (18, 90), 1, _one(rng, [Action.WAITS, Action.FREE])))
    if rng.random() < 0.5:
        features.append(Categorical("sex", ("female", "male"), Action.FIXED, protected=True))
    return Schema(features)


def _feature(name: str, rng: np.random.Generator) -> Feature:
    label = None if rng.random() < 0.6 else f"label of {name.replace('_', ' ')}"
    action = _one(rng, [Action.FREE, Action.FREE, Action.INCREASE, Action.INDIRECT, Action.FIXED])
    if rng.random() < 0.6:
        step = _one(rng, STEPS)
        low = -40 * (step or 1.0) if rng.random() < 0.5 else 0.0
        ends = None if rng.random() < 0.3 else (low, 60 * (step or 1.0))
        return Continuous(name, ends, step, action, label=label, unit=_one(rng, UNITS))
    levels = _one(rng, LEVELS)
    words = {
        level: LABELS[level] for level in levels if type(level) is not bool and level in LABELS
    }
    if rng.random() < 0.5 and type(levels[0]) is not bool:
        return Ordinal(name, levels, action, label=label, labels=words)
    action = Action.FREE if action is Action.INCREASE else action
    return Categorical(name, levels, action, label=label, labels=words)


def _frame(schema: Schema, rng: np.random.Generator, n_rows: int) -> pd.DataFrame:
    columns = {f.name: [_value(f, rng) for _ in range(n_rows)] for f in schema}
    return pd.DataFrame(columns)


def _value(feature: Feature, rng: np.random.Generator) -> Any:
    if not isinstance(feature, Continuous):
        return feature.levels[int(rng.integers(len(feature.levels)))]
    step = feature.step or 1.0
    low, high = feature.range or (-40 * step, 60 * step)
    count = rng.integers(0, round((high - low) / step) + 1)
    value = low + count * step if feature.step else rng.uniform(low, high)
    return round(float(value), 12)


def _context(codec: Codec, rng: np.random.Generator) -> Context:
    names = codec.schema.names
    several = rng.random() < 0.2
    threshold = _one(rng, [None, 0.3, 0.5, 0.62])
    line = 0.5 if threshold is None else threshold
    numbers = [f for f in codec.schema if isinstance(f, Continuous) and f.range and not f.protected]
    ranges: dict[str, Any] = {}
    if numbers and rng.random() < 0.5:
        low, high = numbers[0].range or (0.0, 1.0)
        middle = low + (high - low) / 4
        ranges = {numbers[0].name: _one(rng, [(low, middle), (middle, high), (middle, 2 * middle)])}
    classes: tuple[Any, ...] = _one(rng, [("rejected", "approved"), (0, 1)])
    return Context(
        codec=codec,
        classes=("bad", "fair", "good") if several else classes,
        needed=(0.0,) * 3 if several else (min(1.0, 1 - line + 0.1), min(1.0, line + 0.1)),
        threshold=None if several else threshold,
        lead=_one(rng, [0.0, 0.01, 0.2]) if several else None,
        edges=tuple((names[0], name) for name in names[1:]) if rng.random() < 0.7 else (),
        origin=_one(rng, ["given", "edited", "direct_lingam", None]),
        n_graphs=int(_one(rng, [0, 1, 50])),
        n_refits=int(_one(rng, [0, 2, 20])),
        n_models=int(_one(rng, [0, 1, 20])),
        robust=_one(rng, [None, 0.95]),
        models_are_refits=bool(rng.random() < 0.5),
        vary=_one(rng, [None, names[:1], names]),
        ranges=ranges,
        rules=RULES,
        class_labels=_one(rng, [{}, {0: "turned down", 1: "taken on"}])
        if classes == (0, 1)
        else {},
    )


def _item(shared: Context, frame: pd.DataFrame, row: int, rng: np.random.Generator) -> Explanation:
    codec = shared.codec
    factual, raw = codec.encode(frame)[row], codec.raw_of_frame(frame)[row]
    target = int(rng.integers(len(shared.classes)))
    line = _line(shared, target)
    outcome = _one(rng, [*[Outcome.FOUND] * 6, *Outcome])
    n_ways = int(rng.integers(1, 4)) if outcome in (Outcome.FOUND, Outcome.OUT_OF_TIME) else 0
    below = _near(line, -1, rng)
    there = outcome is Outcome.ALREADY_TARGET
    ways = [_way(codec, factual, frame, rng) for _ in range(n_ways)]
    empty = np.zeros((0, len(factual)))
    columns = {
        name: np.stack([way[name] for way in ways]) if ways else empty
        for name in ("rows", "changes", "expected", "low", "high", "open", "rule")
    }
    counts = {
        name: np.array([int(rng.integers(0, n + 1)) for _ in ways])
        for name, n in (("support", shared.n_graphs), ("refits", shared.n_refits))
        if n and ways
    }
    if shared.n_models and ways:
        counts["robustness"] = np.array([int(rng.integers(shared.n_models + 1)) for _ in ways])
    confidence = np.array([_one(rng, [1.0, 0.99, 0.5, math.nan]) for _ in ways], dtype=np.float64)
    return explained_row(
        shared,
        factual,
        raw,
        columns["rows"],
        columns["changes"].astype(np.int8),
        np.array([_near(line, 1, rng) for _ in ways], dtype=np.float64),
        rng.random((len(ways), 3)),
        row=row,
        predicted=target if there else (target + 1) % len(shared.classes),
        target=target,
        probability=_near(line, 1, rng) if there else below,
        outcome=outcome,
        margin_met=bool(rng.random() < 0.8),
        expected=columns["expected"] if ways else None,
        contributions=rng.normal(0, 0.1, (len(ways), len(factual)))
        if ways and rng.random() < 0.7
        else None,
        confidence=confidence if ways else None,
        intervals=Intervals(columns["low"], columns["high"], columns["open"].astype(np.int8))
        if ways
        else None,
        asked_by=columns["rule"].astype(np.int64) if ways else None,
        diagnosis=_diagnosis(shared, target, line, below) if outcome is Outcome.NOT_FOUND else None,
        notes=_one(rng, [(), ("Missing, and so left as it is: age.",)]),
        **counts,
    )


def _way(codec: Codec, factual: np.ndarray, frame: pd.DataFrame, rng: Any) -> dict[str, Any]:
    other = codec.encode(_frame(codec.schema, rng, 2).astype(frame.dtypes.to_dict()))
    n = len(factual)
    rows, changes = factual.copy(), np.zeros(n)
    expected, low, high = (np.full(n, math.nan) for _ in range(3))
    open_ends, rule = np.zeros(n), np.full(n, -1)
    for position, feature in enumerate(codec.schema):
        kind = int(_one(rng, _KINDS))
        if feature.action is Action.FIXED or feature.protected:
            kind = 0
        if feature.action is Action.INDIRECT:
            kind = 3 if kind == 3 else 0
        wanted = other[0, position]
        if feature.action is Action.WAITS:
            kind, wanted = (1, max(wanted, factual[position])) if kind == 1 else (0, wanted)
        if kind != 2 and wanted == factual[position]:
            continue
        if kind == 0:
            continue
        changes[position] = kind
        if kind != 2:
            rows[position] = wanted
        if kind == 2 or (kind == 1 and rng.random() < 0.5 and feature.action is not Action.WAITS):
            expected[position] = other[1, position]
        if kind == 1 and isinstance(feature, Continuous) and rng.random() < 0.7:
            at = codec.to_raw(rows[None])[0, position].item()
            reach = 10 * (feature.step or 1.0)
            low[position], high[position] = _one(
                rng, [(at, at + reach), (at - reach, at), (at, at)]
            )
            open_ends[position] = int(rng.integers(0, 4))
        if kind == 1 and rng.random() < 0.1:
            rule[position] = int(rng.integers(len(RULES)))
    if not bool((changes == 1).any()):
        return _way(codec, factual, frame, rng)
    columns = ("rows", "changes", "expected", "low", "high", "open", "rule")
    return dict(zip(columns, (rows, changes, expected, low, high, open_ends, rule), strict=True))


def _diagnosis(shared: Context, target: int, line: float, below: float) -> Diagnosis:
    label = class_text(shared, shared.classes[target])
    rival = None if shared.lead is None else "bad"
    closest = ClosestMiss({}, below, RULES[:1], rival, below + 0.1, is_reached=below > line)
    told = nearness_text(closest, line)
    reason = f"No change was found for which the model says {label}.{told}"
    return Diagnosis(reason, None, below, line, RULES[:1])


def _line(shared: Context, target: int) -> float:
    if len(shared.classes) > 2 or shared.threshold is None:
        return 0.5
    return shared.threshold if target == 1 else 1 - shared.threshold


def _near(line: float, side: int, rng: np.random.Generator) -> float:
    """Return a probability on one side of a line, often next to it."""
    away = float(_one(rng, [1e-9, 1e-4, 0.004, 0.2]))
    return min(1.0, max(0.0, line + side * away))


def _one(rng: np.random.Generator, choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]
