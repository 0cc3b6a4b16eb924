"""The view of one row as plain values of JSON, as a page draws it; and how its limits give way."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from proce.explanation.exchange.plain_json import finite_or_none
from proce.explanation.record.context import Context
from proce.explanation.record.counterfactuals import Blocker, Change
from proce.explanation.record.rows import ExplainedFrame, ExplainedRow
from proce.explanation.row_view import (
    BlockerView,
    ChangeView,
    DiagnosisView,
    FrontMember,
    RowView,
    WayView,
    front_of,
    row_view,
)
from proce.explanation.words.cells import plain_value
from proce.explanation.words.sentences import Line
from proce.schema import Codec, Continuous
from proce.schema.features.levels import find_level
from proce.server.explainer_api.presenters.results import id_of, label_of, row_id_of

Plain = dict[str, Any]
_DECIMALS = 4  # to which a probability that is asked for is cut
AXES = [
    {"key": "distance", "label": "how much it asks of the person", "better": "low"},
    {"key": "probability", "label": "how likely the decision is", "better": "high"},
    {"key": "prototype", "label": "how unlike typical cases it is", "better": "low"},
    {"key": "n_actions", "label": "number of actions", "better": "low"},
]


def ways_of(result: ExplainedFrame, row: ExplainedRow, request: Mapping[str, Any]) -> Plain:
    """Return everything that a page draws for one row; limits of the request can be taken back."""
    view, context = row_view(row), row.context
    best = view.recommended
    return {
        "row": row.index,
        "row_id": row_id_of(request, row.index),
        "label": label_of(result, row),
        "id": id_of(result, row),
        "outcome": row.outcome.value,
        "decision": _decision(view),
        "values": [
            {"feature": v.feature.name, "label": v.label, "value": v.value, "text": v.text}
            for v in view.values
        ],
        "lines": [] if view.ways else _lines(view.lines),
        "ways": [_way(way, context) for way in view.ways],
        "front": [_member(member) for member in front_of(view)],
        "axes": AXES,
        "graph": {
            "edges": [list(edge) for edge in context.edges],
            "moved": {s.change.name: s.change.kind for s in (best.steps if best else ())},
            "edited": context.graph_was_edited,
        },
        "diagnosis": view.diagnosis and _diagnosis(view.diagnosis, request, context.codec),
    }


def changes_in_order(
    changes: Sequence[ChangeView], context: Context
) -> list[tuple[ChangeView, list[str], int]]:
    """Return the changes with their causes and depths, each below what it follows from."""
    # A consequence with several causes stands below the one that is nearest to a person's own
    # actions, the largest first.
    causes = _causes(changes, context)
    depths, parents = _places(changes, causes)
    ordered: list[tuple[ChangeView, list[str], int]] = []

    def add(change: ChangeView) -> None:
        ordered.append((change, causes[change.name], depths[change.name]))
        for follower in changes:
            if parents.get(follower.name) == change.name:
                add(follower)

    for change in changes:
        if change.name not in parents:
            add(change)
    return ordered


def _causes(changes: Sequence[ChangeView], context: Context) -> dict[str, list[str]]:
    """Return for each change the features that move it, in the order of the changes."""
    # A person moves an action; what time moves goes with the time that is waited.
    edges = set(context.edges)
    moving = [change.name for change in changes if change.cell.kind is not Change.HOLD]
    waited = [c.name for c in changes if c.cell.kind.by_hand and c.kind == "wait"]
    causes: dict[str, list[str]] = {}
    for change in changes:
        name = change.name
        if change.cell.kind.by_hand:
            causes[name] = []
        elif change.kind == "wait":
            causes[name] = waited
        else:
            causes[name] = [cause for cause in moving if (cause, name) in edges]
    return causes


def _places(
    changes: Sequence[ChangeView], causes: Mapping[str, Sequence[str]]
) -> tuple[dict[str, int], dict[str, str]]:
    """Return how deep each change stands, and below which other one."""
    depths = {change.name: 0 for change in changes if change.cell.kind.by_hand}
    parents: dict[str, str] = {}
    waiting = [change.name for change in changes if change.name not in depths]
    while waiting:
        found = {
            name: min((c for c in causes[name] if c in depths), key=depths.__getitem__)
            for name in waiting
            if any(cause in depths for cause in causes[name])
        }
        if not found:  # its causes are not shown in this view
            found = {waiting[0]: ""}
        for name, parent in found.items():
            depths[name] = depths.get(parent, 0) + 1
            if parent:
                parents[name] = parent
        waiting = [name for name in waiting if name not in depths]
    return depths, parents


def _decision(view: RowView) -> Plain:
    row = view.row
    return {
        "predicted": row.context.class_at(row.predicted),
        "predicted_label": view.predicted,
        "target": row.context.class_at(row.target),
        "target_label": view.target,
        "probability": finite_or_none(row.probability),
        "needed": view.needed,
        "sentence": view.decision,
    }


def _way(way: WayView, context: Context) -> Plain:
    steps = {step.change.name: step for step in way.steps}
    changes = changes_in_order([step.change for step in way.steps], context)
    return {
        "rank": way.rank,
        "probability": way.probability,
        "distance": finite_or_none(way.distance),
        "confidence": None if way.confidence is None else finite_or_none(way.confidence),
        "unsure": way.is_unsure,
        "lines": _lines(way.lines),
        "changes": [
            {
                **_change(change),
                "sentence": steps[change.name].sentence,
                "holds_from": finite_or_none(change.cell.holds_from),
                "holds_to": finite_or_none(change.cell.holds_to),
                "interval_text": steps[change.name].interval,
                "causes": causes,
                "depth": depth,
            }
            for change, causes, depth in changes
        ],
    }


def _lines(lines: Sequence[Line]) -> list[Plain]:
    return [{"kind": line.kind, "text": line.text} for line in lines]


def _change(change: ChangeView) -> Plain:
    cell = change.cell
    return {
        "feature": change.name,
        "label": change.label,
        "kind": change.kind,
        "before": plain_value(cell.feature, cell.before),
        "after": plain_value(cell.feature, cell.after),
        "before_text": change.before,
        "after_text": change.after,
    }


def _member(member: FrontMember) -> Plain:
    return {
        "rank": member.rank,
        "probability": member.probability,
        "distance": finite_or_none(member.distance),
        "prototype": finite_or_none(member.prototype),
        "n_actions": member.n_actions,
        "changes": [_change(change) for change in member.changes],
    }


def _diagnosis(view: DiagnosisView, request: Mapping[str, Any], codec: Codec) -> Plain:
    """Return a diagnosis; a blocker of the request has a patch that lifts it."""
    told, miss = view.diagnosis, view.diagnosis.closest_miss
    changes = [
        {
            "feature": one.name,
            "label": one.label,
            "before": one.before,
            "after": one.after,
            "before_text": one.before_text,
            "after_text": one.after_text,
        }
        for one in view.differences
        if one.name in codec.schema
    ]
    return {
        "reason": told.reason,
        "closest_miss": None if miss is None else {"values": dict(miss), "changes": changes},
        "probability": told.probability,
        "needed": told.needed or None,
        "broken": list(told.broken),
        "blockers": [_blocker(blocker, request, codec) for blocker in view.blockers],
    }


def _blocker(view: BlockerView, request: Mapping[str, Any], codec: Codec) -> Plain:
    blocker = view.blocker
    return {
        "kind": blocker.kind,
        "name": blocker.name,
        "relaxation": blocker.relaxation,
        "distance": finite_or_none(blocker.distance),
        "patch": patch_of(blocker, request, codec),
    }


# Only what the request itself asks for can be taken back by whoever made it. The rules of the
# explainer and what the schema says of a feature stay: somebody else would have to change them.


def patch_of(blocker: Blocker, request: Mapping[str, Any], codec: Codec) -> dict[str, Any] | None:
    """Return the fields of the request that lift a blocker; ``None`` if it is none of them."""
    value = blocker.value
    match blocker.kind:
        case "rule":
            rules = list(request.get("rules") or [])
            kept = [text for text in rules if text.strip() != blocker.name]
            return {"rules": kept} if len(kept) < len(rules) else None
        case "vary" if isinstance(value, tuple) and request.get("vary") is not None:
            return {"vary": list(dict.fromkeys([*request["vary"], *value]))}
        case "max_changes" if isinstance(value, int):
            return {"max_changes": value}
        case "min_probability" if isinstance(value, float):
            cut = math.floor(value * 10**_DECIMALS) / 10**_DECIMALS
            return {"min_probability": cut or value}
        case "robust":
            return {"robust": None}
        case "range" if value is not None:
            return _wider(blocker, request, codec)
    return None


def _wider(blocker: Blocker, request: Mapping[str, Any], codec: Codec) -> dict[str, Any] | None:
    """Return the ranges of the request, one of them wide enough for the value that is needed."""
    ranges = dict(request.get("ranges") or {})
    limits = ranges.get(blocker.name)
    if limits is None or blocker.name not in codec.schema:
        return None
    feature = codec.schema[blocker.name]
    places = {
        "low": _place(feature, limits[0]),
        "value": _place(feature, blocker.value),
        "high": _place(feature, limits[1]),
    }
    if any(place is None for place in places.values()):
        return None
    low, value, high = (place for place in places.values() if place is not None)
    if low <= value <= high:  # it is the range of the schema that stands in the way
        return None
    ranges[blocker.name] = [blocker.value, limits[1]] if value < low else [limits[0], blocker.value]
    return {"ranges": ranges}


def _place(feature: Any, value: Any) -> float | None:
    """Return where a value stands in the order of a feature."""
    if isinstance(feature, Continuous):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return float(value) if is_number else None
    code = find_level(feature.levels, value)
    return None if code is None else float(code)
