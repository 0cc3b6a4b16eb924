"""What could not change, and who says so: the schema, or the request."""

import math

from proce.causal.graphs.features import cut_edges
from proce.explanation.record.context import Context
from proce.explanation.words.values import joined, name_text, name_texts, plain_value_text
from proce.schema import Action, Codec, Continuous, Level

_MAX_NAMES = 6  # names in one sentence


def limits_of_request(context: Context) -> list[str]:
    """Return what could not change, and whether the schema or the request says so."""
    schema = context.codec.schema
    fixed = [name_text(f) for f in schema if f.action is Action.FIXED]
    indirect = [name_text(f) for f in schema if f.action is Action.INDIRECT]
    waiting = [name_text(f) for f in schema if f.action is Action.WAITS]
    texts = []
    if fixed:
        texts.append(f"Held fixed by the schema: {joined(fixed, _MAX_NAMES)}.")
    if waiting:
        texts.append(f"Moved by time alone, by the schema: {joined(waiting, _MAX_NAMES)}.")
    kinds = " or ".join(filter(None, ["is fixed" * bool(fixed), "waits" * bool(waiting)]))
    cut = _cut_edges(context) if context.view == "auditor" else {}
    if cut:
        parts = [f"{effect} (from {joined(causes, _MAX_NAMES)})" for effect, causes in cut.items()]
        texts.append(
            f"The causal graph's arrows into what {kinds} were left out:"
            f" {joined(parts, _MAX_NAMES)}."
        )
    if indirect:
        names = joined(indirect, _MAX_NAMES)
        texts.append(f"Never acted on, by the schema, but may follow: {names}.")
    if context.vary is not None:
        names = joined(name_texts(context, context.vary), _MAX_NAMES)
        texts.append(f"Only these could be acted on, by this request: {names}.")
    texts += [
        f"Kept {_range_text(context, name)} by this request: {name_text(schema[name])}."
        for name in context.ranges
    ]
    return texts


def _range_text(context: Context, name: str) -> str:
    """Return the range of a request in words: only the ends that hold something back."""
    widest = _widest(context.codec, name)
    limits = tuple(
        end if isinstance(limit, float) and math.isinf(limit) else limit
        for limit, end in zip(context.ranges[name], widest, strict=True)
    )
    low, high = (plain_value_text(context, name, limit) for limit in limits)
    if limits[0] == limits[1]:
        return f"at {low}"
    ends = (*limits, *widest)
    first, last, lowest, highest = (float(context.codec.encode_value(name, end)) for end in ends)
    if first <= lowest and last < highest:
        return f"at {high} or below"
    if last >= highest and first > lowest:
        return f"at {low} or above"
    return f"between {low} and {high}"


def _widest(codec: Codec, name: str) -> tuple[Level, Level]:
    """Return the ends that hold where a request names none."""
    position = codec.schema.position(name)
    feature = codec.schema.features[position]
    if not isinstance(feature, Continuous):
        return feature.levels[0], feature.levels[-1]
    return feature.range or (codec.seen_low[position].item(), codec.seen_high[position].item())


def _cut_edges(context: Context) -> dict[str, list[str]]:
    """Return the causes of each fixed feature: nothing moves it, so these edges are cut."""
    cut: dict[str, list[str]] = {}
    for cause, effect in cut_edges(context.edges, context.codec.schema):
        named_cause, named_effect = name_texts(context, (cause, effect))
        cut.setdefault(named_effect, []).append(named_cause)
    return cut
