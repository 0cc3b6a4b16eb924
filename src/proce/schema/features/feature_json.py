"""One feature as plain values for JSON, read back, and edited."""

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from proce.arguments import brief
from proce.errors import SchemaError, did_you_mean
from proce.schema.features.feature import Categorical, Continuous, Feature, Ordinal
from proce.schema.features.levels import Level, checked_levels, find_level

_KINDS: dict[str, type[Feature]] = {
    "continuous": Continuous,
    "ordinal": Ordinal,
    "categorical": Categorical,
}
_DEFAULTS: dict[str, Any] = {"effort": 1.0, "protected": False, "labels": {}}  # else None or ()
_FIELDS = {kind: tuple(field.name for field in fields(type_)) for kind, type_ in _KINDS.items()}


def edited(feature: Feature, changes: Mapping[str, Any]) -> Feature:
    """Return a feature with some fields changed, and its type where ``kind`` names another."""
    kind = changes.get("kind", feature.kind)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise SchemaError(f"unknown type {brief(kind)}; expected one of {', '.join(_KINDS)}.")
    changes = {field: value for field, value in changes.items() if field != "kind"}
    for field in changes:
        if field not in _FIELDS[kind]:
            raise SchemaError(
                f"feature {feature.name!r}: a {kind} feature has no {field!r}; it has"
                f" {', '.join(_FIELDS[kind])}." + did_you_mean(field, _FIELDS[kind])
            )
    if "levels" in changes and not isinstance(feature, Continuous):
        changes = _of_kept_levels(feature, changes["levels"]) | changes
    if kind == feature.kind:
        return replace(feature, **changes)
    kept = {field: getattr(feature, field, None) for field in _FIELDS[kind]}
    given = {field: value for field, value in kept.items() if value is not None} | changes
    if "levels" in _FIELDS[kind] and "levels" not in given:
        raise SchemaError(
            f"feature {feature.name!r}: to make it {kind}, give levels=[...] as well."
        )
    return _KINDS[kind](**given)


def to_record(feature: Feature) -> dict[str, Any]:
    """Return a feature as plain values; fields that say nothing are left out."""
    values = {field: getattr(feature, field) for field in _FIELDS[feature.kind]}
    filled = {
        field: value
        for field, value in values.items()
        if value not in (None, ()) and not (field in _DEFAULTS and value == _DEFAULTS[field])
    }
    if "labels" in filled:
        filled["labels"] = {_key(level): words for level, words in filled["labels"].items()}
    return {"type": feature.kind} | filled


def from_record(record: Any) -> Feature:
    """Return the feature that plain values describe."""
    if not isinstance(record, dict) or record.get("type") not in list(_KINDS):
        raise SchemaError(
            f"{record!r} is not a feature; expected an object with a 'type' of {', '.join(_KINDS)}."
        )
    kind = record["type"]
    given = {field: value for field, value in record.items() if field != "type"}
    for field in given:
        if field not in _FIELDS[kind]:
            raise SchemaError(
                f"feature {record.get('name')!r}: unknown field {field!r}; a {kind} feature has"
                f" {', '.join(_FIELDS[kind])}."
            )
    needed = {"name", "levels"} & set(_FIELDS[kind])
    if missing := sorted(needed - set(given)):
        raise SchemaError(f"feature {record.get('name')!r}: {', '.join(missing)} is missing.")
    if isinstance(given.get("labels"), dict) and isinstance(given["levels"], list):
        by_key = {_key(level): level for level in given["levels"] if isinstance(level, Level)}
        given["labels"] = {by_key.get(key, key): words for key, words in given["labels"].items()}
    one_hot = given.get("one_hot", [])
    if not isinstance(one_hot, list) or not all(isinstance(column, str) for column in one_hot):
        raise SchemaError(f"feature {record.get('name')!r}: one_hot must list column names.")
    return _KINDS[kind](**given)


def _key(level: Level) -> str:
    """Return a level as the key of a JSON object."""
    return level if isinstance(level, str) else json.dumps(level)


def _of_kept_levels(feature: Ordinal | Categorical, levels: Any) -> dict[str, Any]:
    """Return what was said of the levels that a feature keeps when it gets others."""
    kept = checked_levels(feature.name, levels)
    return {
        "labels": {
            level: words
            for level, words in feature.labels.items()
            if find_level(kept, level) is not None
        },
        "avoid": tuple(level for level in feature.avoid if find_level(kept, level) is not None),
    }
