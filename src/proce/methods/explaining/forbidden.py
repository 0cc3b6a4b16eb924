"""What a schema forbids of a change that a person has in mind, in words."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from proce.arrays import Array
from proce.explanation.words.values import level_text, name_text, value_text
from proce.objective import CallLimits
from proce.objective.obeying import find_beyond
from proce.schema import Action, Codec, Continuous, Feature


def forbidden_by_schema(
    codec: Codec, factual: Array, ends: Array, by_hand: Sequence[int]
) -> Iterator[str]:
    """Yield what the schema says against a row that ends elsewhere, a sentence for each limit.

    What a person would do comes first, then what would follow. The limits are those of advice,
    which never counts on a consequence that no training row has.

    Parameters
    ----------
    codec
        The features and their scale.
    factual, ends
        ``(f,)``, the row as it is and as it would be, in the entries of the codec.
    by_hand
        The positions of the features that a person would act on; all else follows from them.
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
