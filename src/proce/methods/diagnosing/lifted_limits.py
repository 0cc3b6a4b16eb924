"""Limits lifted one at a time, to see which of them stands in the way."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from proce.methods.calls.options import Options
from proce.methods.searching.terms import SearchTerms
from proce.objective import CallLimits
from proce.schema import Action, Continuous, Feature, Schema

OF_NO_FEATURE = ("rule", "search", "vary", "max_changes", "min_probability", "robust")


@dataclass(frozen=True, eq=False)
class LiftedLimit:
    """A limit that is lifted, and the terms of a search without it.

    Attributes
    ----------
    kind, name
        The limit that was lifted, as in a :class:`~proce.explanation.Blocker`.
    terms
        The terms without the limit; all other limits stand.
    """

    kind: str
    name: str
    terms: SearchTerms


def lift_limits(terms: SearchTerms, options: Options) -> Iterator[LiftedLimit]:
    """Yield every limit of an explainer and a call, each lifted alone; likely blockers first.

    Parameters
    ----------
    terms
        The terms under which nothing was found.
    options
        The options of the call, which the terms were read from.
    """
    yield from _lift_rules(terms)
    yield from _lift_options(terms, options)
    yield from _lift_schema_limits(terms, options)
    if terms.fitted.refits is not None:
        fitted = replace(terms.fitted, refits=None)
        yield LiftedLimit("search", "n_refits", replace(terms, fitted=fitted))


def _lift_rules(terms: SearchTerms) -> Iterator[LiftedLimit]:
    for text in dict.fromkeys(rule.text for rule, _ in terms.rules):  # one that stands twice, once
        others = tuple(bound for bound in terms.rules if bound[0].text != text)
        yield LiftedLimit("rule", text, replace(terms, rules=others))


def _lift_options(terms: SearchTerms, options: Options) -> Iterator[LiftedLimit]:
    codec, ranges = terms.fitted.codec, options.ranges or {}
    for name in ranges:
        others = {other: limits for other, limits in ranges.items() if other != name}
        limits = CallLimits.read(codec, options.vary, others)
        yield LiftedLimit("range", name, replace(terms, limits=limits))
    if options.vary is not None:
        limits = CallLimits.read(codec, None, ranges)
        yield LiftedLimit("vary", "", replace(terms, limits=limits))
    if options.max_changes is not None:
        yield LiftedLimit("max_changes", "", replace(terms, max_changes=None))
    if options.min_probability is not None:
        requirement = replace(terms.requirement, min_probability=None)
        yield LiftedLimit("min_probability", "", replace(terms, requirement=requirement))
    if terms.robust is not None:
        yield LiftedLimit("robust", "", replace(terms, robust=None))


def _lift_schema_limits(terms: SearchTerms, options: Options) -> Iterator[LiftedLimit]:
    """Yield what the schema says of features; what this call does not let vary still may not."""
    schema = terms.fitted.codec.schema
    for feature in schema:
        if feature.action is not Action.FREE and not feature.protected:
            freed = schema.edit(feature.name, action=_lifted(feature))
            yield LiftedLimit(
                feature.action.value, feature.name, _under_schema(terms, options, freed)
            )
    for feature in schema:
        if isinstance(feature, Continuous) and feature.range:
            low, high = feature.range
            lower = max(2 * low - high, 0.0) if low >= 0 else 2 * low - high  # no debt below 0
            wider = schema.edit(feature.name, range=(lower, 2 * high - low))
            yield LiftedLimit("range", feature.name, _under_schema(terms, options, wider))
    for feature in schema:  # for an auditor alone, and so after all others
        if feature.protected:
            freed = schema.edit(feature.name, action=_lifted(feature), protected=False)
            yield LiftedLimit("protected", feature.name, _under_schema(terms, options, freed))


def _lifted(feature: Feature) -> Action:
    """Return what may be done with a feature whose limit is lifted; time never passes backwards."""
    return Action.INCREASE if feature.action is Action.WAITS else Action.FREE


def _under_schema(terms: SearchTerms, options: Options, schema: Schema) -> SearchTerms:
    fitted = terms.fitted.with_schema(schema)
    limits = CallLimits.read(fitted.codec, options.vary, options.ranges)
    return replace(terms, fitted=fitted, limits=limits)
