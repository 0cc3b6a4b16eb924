"""Why a row has no way, and how each limit of the request could give way."""

from collections.abc import Mapping
from typing import Any

from proce.explanation.exchange.plain_json import finite_or_none
from proce.explanation.record.outcome import Blocker, Diagnosis
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.cells import plain_value
from proce.explanation.words.values import name_text, plain_value_text
from proce.server.desk.told.relaxing import patch_of

Plain = dict[str, Any]


def diagnosis_of(row: ExplainedRow, diagnosis: Diagnosis, request: Mapping[str, Any]) -> Plain:
    """Return a diagnosis as plain values; a blocker of the request has a patch that lifts it."""
    return {
        "reason": diagnosis.reason,
        "closest_miss": _closest_miss(row, diagnosis.closest_miss),
        "probability": diagnosis.probability,
        "needed": diagnosis.needed or None,
        "broken": list(diagnosis.broken),
        "blockers": [_blocker(row, blocker, request) for blocker in diagnosis.blockers],
    }


def _blocker(row: ExplainedRow, blocker: Blocker, request: Mapping[str, Any]) -> Plain:
    return {
        "kind": blocker.kind,
        "name": blocker.name,
        "relaxation": blocker.relaxation,
        "distance": finite_or_none(blocker.distance),
        "patch": patch_of(blocker, request, row.context.codec),
    }


def _closest_miss(row: ExplainedRow, miss: Mapping[str, Any] | None) -> Plain | None:
    """Return the values of the candidate that came nearest, and where it differs from the row."""
    if miss is None:
        return None
    context = row.context
    changes = []
    for feature, raw in zip(context.codec.schema, row.raw.tolist(), strict=True):
        before, after = plain_value(feature, raw), miss.get(feature.name)
        if before != after:
            changes.append(
                {
                    "feature": feature.name,
                    "label": name_text(feature),
                    "before": before,
                    "after": after,
                    "before_text": plain_value_text(context, feature.name, before),
                    "after_text": plain_value_text(context, feature.name, after),
                }
            )
    return {"values": dict(miss), "changes": changes}
