"""Limits lifted one at a time, to see which of them stands in the way."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from proce.arrays import Array
from proce.explanation import done_by_hand
from proce.explanation.words.cells import plain_value
from proce.explanation.words.values import joined, name_text, percent, value_text
from proce.methods.calls.options import Options
from proce.methods.phases.plan import CallSpec
from proce.objective import CallLimits
from proce.schema import Action, Codec, Continuous, Feature, Level, Schema
from proce.schema.features.numerals import counted

OF_NO_FEATURE = ("rule", "search", "vary", "max_changes", "min_probability", "robust")


@dataclass(frozen=True, eq=False)
class LiftedLimit:
    """A limit that is lifted, and the terms of a search without it."""

    # kind, name: the limit that was lifted, as in a `~proce.explanation.Blocker`
    kind: str
    name: str
    spec: CallSpec  # the terms without the limit; all other limits stand


def lift_limits(spec: CallSpec, options: Options) -> Iterator[LiftedLimit]:
    """Yield every limit of an explainer and a call, each lifted alone; likely blockers first."""
    yield from _lift_rules(spec)
    yield from _lift_options(spec, options)
    yield from _lift_schema_limits(spec, options)
    if spec.fitted.refits is not None:
        fitted = replace(spec.fitted, refits=None)
        yield LiftedLimit("search", "n_refits", replace(spec, fitted=fitted))


def _lift_rules(spec: CallSpec) -> Iterator[LiftedLimit]:
    for text in dict.fromkeys(rule.text for rule, _ in spec.rules):  # one that stands twice, once
        others = tuple(bound for bound in spec.rules if bound[0].text != text)
        yield LiftedLimit("rule", text, replace(spec, rules=others))


def _lift_options(spec: CallSpec, options: Options) -> Iterator[LiftedLimit]:
    codec, ranges = spec.fitted.codec, options.ranges or {}
    for name in ranges:
        others = {other: limits for other, limits in ranges.items() if other != name}
        limits = CallLimits.read(codec, options.vary, others)
        yield LiftedLimit("range", name, replace(spec, limits=limits))
    if options.vary is not None:
        limits = CallLimits.read(codec, None, ranges)
        yield LiftedLimit("vary", "", replace(spec, limits=limits))
    if options.max_changes is not None:
        yield LiftedLimit("max_changes", "", replace(spec, max_changes=None))
    if options.min_probability is not None:
        requirement = replace(spec.requirement, min_probability=None)
        yield LiftedLimit("min_probability", "", replace(spec, requirement=requirement))
    if spec.robust is not None:
        yield LiftedLimit("robust", "", replace(spec, robust=None))


def _lift_schema_limits(spec: CallSpec, options: Options) -> Iterator[LiftedLimit]:
    """Yield what the schema says of features; what this call does not let vary still may not."""
    schema = spec.fitted.codec.schema
    for feature in schema:
        if feature.action is not Action.FREE and not feature.protected:
            freed = schema.edit(feature.name, action=_lifted(feature))
            yield LiftedLimit(
                feature.action.value, feature.name, _under_schema(spec, options, freed)
            )
    for feature in schema:
        if isinstance(feature, Continuous) and feature.range:
            low, high = feature.range
            lower = max(2 * low - high, 0.0) if low >= 0 else 2 * low - high  # no debt below 0
            wider = schema.edit(feature.name, range=(lower, 2 * high - low))
            yield LiftedLimit("range", feature.name, _under_schema(spec, options, wider))
    for feature in schema:  # for an auditor alone, and so after all others
        if feature.protected:
            freed = schema.edit(feature.name, action=_lifted(feature), protected=False)
            yield LiftedLimit("protected", feature.name, _under_schema(spec, options, freed))


def _lifted(feature: Feature) -> Action:
    """Return what may be done with a feature whose limit is lifted; time never passes backwards."""
    return Action.INCREASE if feature.action is Action.WAITS else Action.FREE


def _under_schema(spec: CallSpec, options: Options, schema: Schema) -> CallSpec:
    fitted = spec.fitted.with_schema(schema)
    limits = CallLimits.read(fitted.codec, options.vary, options.ranges)
    return replace(spec, fitted=fitted, limits=limits)


_MAX_NAMES = 6  # features that may vary too


def relaxation_of(
    limit: LiftedLimit,
    codec: Codec,
    row: Array,
    changes: Array,
    probability: float,
    vary: tuple[str, ...],
) -> tuple[str, Level | tuple[str, ...] | None]:
    """Return how far a limit must give way for a counterfactual to be allowed, and as a value.

    The two are the ``relaxation`` and the ``value`` of a :class:`~proce.explanation.Blocker`.

    Shapes: row, changes ``(f,)``.
    """
    by_hand = np.flatnonzero(done_by_hand(changes)).tolist()
    match limit.kind:
        case "rule":
            return f"without the rule '{limit.name}'", None
        case "search":
            return "if it need not hold when the equations are fitted again", None
        case "vary":
            acted_on = [codec.schema.features[position] for position in by_hand]
            more = [feature for feature in acted_on if feature.name not in vary]
            words = joined([name_text(feature) for feature in more], _MAX_NAMES)
            return f"if {words} may vary too", tuple(feature.name for feature in more)
        case "max_changes":
            return f"with {counted(len(by_hand), 'change')}", len(by_hand)
        case "min_probability":
            return f"with a probability of {percent(probability)}", probability
        case "robust":
            return "if it need not hold under other models", None
    position = codec.schema.position(limit.name)
    feature, span = codec.schema.features[position], codec.span[position].item()
    raw = codec.to_raw(row)[position].item()
    text = _text_of_feature(limit.kind, name_text(feature), value_text(feature, raw, span))
    return text, plain_value(feature, raw)


def _text_of_feature(kind: str, name: str, value: str) -> str:
    match kind:
        case "range":
            return f"with {name} allowed to reach {value}"
        case "increase":
            return f"if {name} could also fall to {value}"
        case "decrease":
            return f"if {name} could also rise to {value}"
        case "fixed":
            return f"if {name} were not fixed, but {value}"
        case "protected":
            return f"if {name}, which is protected, were {value}"
        case "indirect":
            return f"if {name}, which only follows from others, could be set to {value}"
        case "waits":
            return f"if one could wait until {name} is {value}"
    return f"with {name} allowed to become {value}"
