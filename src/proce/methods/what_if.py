"""What would follow from a change that a person has in mind."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from proce.arguments import brief
from proce.arrays import Array, cells_differ
from proce.classifier import decide, predict_read_frame
from proce.compiled.streams import row_keys
from proce.errors import GraphError, SchemaError
from proce.explanation.words.values import level_text, name_text, value_text
from proce.methods.calls.call import broken_rules
from proce.methods.fitting.fitted import FittedParts
from proce.objective import CallLimits, Clock
from proce.objective.terms import find_beyond
from proce.schema import Action, Codec, Continuous, Feature, Layout, Level
from proce.schema.codec import on_step, unit_numbers
from proce.schema.features.numerals import counted
from proce.schema.features.reprs import one_line
from proce.schema.matching import only_features
from proce.schema.round_trip import ReadFrame


@dataclass(frozen=True, eq=False, repr=False)
class WhatIf:
    """What follows from some changes of a row.

    Attributes
    ----------
    frame
        The row as it would be, in the layout of the frame that was given.
    consequences
        For each feature that follows, its values before and after, in raw units.
    before, after
        The decision without and with the changes.
    probabilities
        The probability of each class with the changes.
    broken
        The rules that the changed row breaks, then what the schema forbids, as sentences: a value
        outside of its range, a consequence that no training row has, a feature that is fixed or may
        only rise.
    notes
        What the reader should know, such as a value that was rounded to the step of its feature.
    """

    frame: Any
    consequences: Mapping[str, tuple[Any, Any]]
    before: Level
    after: Level
    probabilities: Mapping[Level, float]
    broken: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        following = counted(len(self.consequences), "consequence")
        broken = f", {len(self.broken)} broken" if self.broken else ""
        return one_line(f"WhatIf({self.before!r} → {self.after!r}, {following}{broken})")


def what_if(fitted: FittedParts, row: Any, changes: Mapping[str, Any]) -> WhatIf:
    """Set features of one row, let the rest follow, and ask the model and the rules again.

    A value is judged as it is given, and then rounded where it is off the step of its feature.
    """
    if not isinstance(changes, Mapping):
        raise SchemaError(
            f"changes is {brief(changes)}; expected the new values by feature, such as"
            f" {{{fitted.codec.schema.names[0]!r}: value}}."
        )
    codec, classifier, schema = fitted.codec, fitted.classifier, fitted.codec.schema
    row = only_features(schema, row)
    read = ReadFrame.of(codec, row)
    factual, raw = codec.to_unit(read.raw), read.raw
    if len(factual) != 1:
        raise SchemaError(f"what_if takes one row; the frame has {len(factual)}.")
    given = {name: _raw_value(codec, name, value) for name, value in changes.items()}
    rounded = {name: float(on_step(schema[name], np.array(x))) for name, x in given.items()}
    by_hand = [schema.position(name) for name in changes]
    acted_on = np.isin(np.arange(len(schema)), by_hand)
    rows = _followed(fitted, factual, rounded, acted_on)
    values = codec.raw_of_changes(rows, factual, raw)
    told = ReadFrame.holding(codec, values, Layout.of(row))
    shown, frame = codec.to_unit(told.raw), told.frame
    chances = predict_read_frame(classifier, told)[0]
    before, after = (
        int(decide(answer, classifier.threshold))
        for answer in (predict_read_frame(classifier, read)[0], chances)
    )
    moved = cells_differ(shown, factual)[0] & ~acted_on
    followed = [feature for feature, has_moved in zip(schema, moved, strict=True) if has_moved]
    asked = shown[0].copy()
    asked[by_hand] = unit_numbers(codec, by_hand, np.array(list(given.values())))
    return WhatIf(
        frame,
        {feature.name: _pair(row, frame, feature) for feature in followed},
        classifier.classes[before],
        classifier.classes[after],
        dict(zip(classifier.classes, chances.tolist(), strict=True)),
        (
            *broken_rules(fitted.rules, factual[0], shown[0]),
            *forbidden_by_schema(codec, factual[0], asked, by_hand),
        ),
        tuple(_notes(codec, given, rounded)),
    )


def _notes(codec: Codec, given: Mapping[str, float], rounded: Mapping[str, float]) -> Iterator[str]:
    """Yield what became of values as they were given."""
    for name, value in given.items():
        position, feature = codec.schema.position(name), codec.schema[name]
        if not isinstance(feature, Continuous):
            continue
        if rounded[name] != value:
            end = value_text(feature, rounded[name], codec.span[position].item())
            yield (
                f"{name_text(feature)} goes in steps of {feature.step:g}:"
                f" {value:,.12g} was rounded to {end}."
            )
        low, high = codec.seen_low[position].item(), codec.seen_high[position].item()
        if not low <= value <= high:
            ends = (value_text(feature, end) for end in (low, high))
            yield (
                f"{name_text(feature)} was between {' and '.join(ends)} in all training rows:"
                " what the model says beyond is a guess."
            )


def _raw_value(codec: Codec, name: str, value: Any) -> float:
    """Return a value as a number in raw units, or as the code of a level."""
    entry = float(codec.encode_value(name, value))
    return float(value) if isinstance(codec.schema[name], Continuous) else entry


def _followed(
    fitted: FittedParts, factual: Array, changes: Mapping[str, float], acted_on: Array
) -> Array:
    """Return the row ``(1, f)`` with its changes and all that follows from them."""
    codec = fitted.codec
    rows = factual.copy()
    for name, value in changes.items():
        is_number = isinstance(codec.schema[name], Continuous)
        entry = float(codec.encode_value(name, value)) if is_number else value
        rows[0, codec.schema.position(name)] = entry
    scm, residual = fitted.scm, None
    if scm is not None:
        bound = [name for name in changes if not codec.schema[name].can_be_acted_on]
        if bound:
            schema = codec.schema.edit(bound, action=Action.FREE, protected=False)
            scm = replace(scm, codec=replace(codec, schema=schema))
        residual = scm.abduct(factual, seed=fitted.seed, keys=row_keys(factual))
    clock = Clock.of(codec).told_by(np.flatnonzero(acted_on).tolist())
    acting = np.broadcast_to(acted_on, (1, *rows.shape))
    realised = clock.follow(scm, codec, factual, rows[:, None], residual, acting)
    point = np.where(acted_on, rows, realised.point[:, 0])
    endless = np.flatnonzero(np.isinf(point[0])).tolist()
    if endless:
        raise GraphError(
            f"what follows from changes for {codec.schema.names[endless[0]]!r} is not known: its"
            " equation gives NaN or an infinite number there. Give changes that it can answer."
        )
    return point


def _pair(before: Any, after: Any, feature: Feature) -> tuple[Any, Any]:
    column = feature.columns[0]
    first, second = (
        frame[column].to_list()[0]
        if isinstance(frame, pd.DataFrame)
        else nw.from_native(frame, eager_only=True).get_column(column).to_list()[0]
        for frame in (before, after)
    )
    return first, second


def forbidden_by_schema(
    codec: Codec, factual: Array, ends: Array, by_hand: Sequence[int]
) -> Iterator[str]:
    """Yield what the schema says against a row that ends elsewhere, a sentence for each limit.

    What a person would do comes first, then what would follow. The limits are those of advice,
    which never counts on a consequence that no training row has.

    Shapes: factual, ends ``(f,)``.
    """
    acts = np.isin(np.arange(len(ends)), by_hand)
    known = np.where(codec.missing(factual), ends, factual)  # what was missing binds nothing
    limits = CallLimits.read(codec).widened()
    rows, flags = ends[None, None], acts[None, None]
    beyond, beyond_range = (
        find_beyond(own.of_rows(codec, known[None]), codec, factual[None], rows, flags)[0, 0]
        for own in (limits, replace(limits, both_ways=True))
    )
    before, after = codec.to_raw(factual).tolist(), codec.to_raw(ends).tolist()
    changed = ends != factual
    for position in (*by_hand, *np.flatnonzero(~acts).tolist()):
        if not changed[position]:
            continue
        feature, span = codec.schema.features[position], codec.span[position].item()
        name, move = name_text(feature), (before[position], after[position])
        if acts[position]:
            yield from _against_acting(feature, name)
        if beyond[position]:
            yield from _against_direction(feature, name, *move, span)
        if beyond_range[position] and not (acts[position] and _is_unbound(feature)):
            seen = codec.seen_low[position].item(), codec.seen_high[position].item()
            yield _against_value(feature, name, move[1], span, seen)


def _is_unbound(feature: Feature) -> bool:
    """Return whether a feature is a number that may be set to anything."""
    return isinstance(feature, Continuous) and feature.range is None


def _against_acting(feature: Feature, name: str) -> Iterator[str]:
    if feature.action is Action.FIXED:
        yield f"{name} is fixed: it cannot change."
    elif feature.action is Action.INDIRECT:
        yield f"{name} is indirect: nobody can act on it."
    elif feature.protected:
        yield f"{name} is protected: nobody is asked to change it."


def _against_direction(
    feature: Feature, name: str, before: float, after: float, span: float
) -> Iterator[str]:
    then, now = (value_text(feature, value, span) for value in (before, after))
    if then == now:
        then, now = (level_text(feature, value) for value in (before, after))
    if feature.action in _ONLY_RISING and after < before:
        yield f"{name} may only rise: from {then} it cannot fall to {now}."
    if feature.action is Action.DECREASE and after > before:
        yield f"{name} may only fall: from {then} it cannot rise to {now}."


def _against_value(
    feature: Feature, name: str, after: float, span: float, seen: tuple[float, float]
) -> str:
    """Return what is said against a value outside of the range, or of what rows have ``seen``."""
    now = value_text(feature, after, span)
    if not isinstance(feature, Continuous):
        return f"{name} is never advised to be {now}."
    first, last = feature.range or (-math.inf, math.inf)
    is_permitted = first <= after <= last
    ends = seen if is_permitted else (first, last)
    low, high = (value_text(feature, end, span) for end in ends)
    now = level_text(feature, after) if now in (low, high) else now
    if is_permitted:
        return f"{name} would follow to {now}, but in all training rows it is {low} to {high}."
    return f"{name} must be between {low} and {high}, not {now}."


_ONLY_RISING = tuple(action for action in Action if action.value in ("increase", "waits"))
