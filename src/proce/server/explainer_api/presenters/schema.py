"""What an explainer is about: its classes, its features and its rules, as a page shows them."""

from collections.abc import Sequence
from typing import Any

from proce.explanation.record.context import N_QUANTILES
from proce.explanation.words.cells import plain_value
from proce.explanation.words.values import name_text, one_line
from proce.methods.fitting.fitted import FittedParts
from proce.schema import Continuous, Feature, Level
from proce.server.explainer_api.handlers.role_view import RoleView
from proce.server.explainer_api.handlers.values import class_choices, text_of


def describe(fitted: FittedParts, role: RoleView, title: str, n_rows: int) -> dict[str, Any]:
    """Return classes, features and rules."""
    rules = [rule.text for rule, _ in fitted.rules]
    return {
        "title": title,
        "classes": class_choices(fitted.classifier.classes, fitted.class_labels),
        "threshold": fitted.classifier.threshold,
        "features": [_feature(fitted, role, feature) for feature in role.features],
        "rules": [text for text in rules if role.tells_rule(text)],
        "causal": fitted.mode,
        "n_rows": n_rows,
        "withheld": role.n_withheld,
    }


def _feature(fitted: FittedParts, role: RoleView, feature: Feature) -> dict[str, Any]:
    codec = role.codec
    position = codec.schema.position(feature.name)
    spread = None if fitted.facts.spread is None else fitted.facts.spread[feature.name]
    described: dict[str, Any] = {
        "name": feature.name,
        "label": name_text(feature),
        "unit": feature.unit,
        "type": feature.kind,
        "step": None,
        "whole": False,
        "range": None,
        "seen": None,
        "levels": None,
        "action": feature.action.value,
        "effort": feature.effort,
        "protected": feature.protected,
        "may_miss": bool(codec.may_miss[position]),
        "typical": None if spread is None else _typical(feature, spread),
        "quantiles": None,
        "shares": None,
    }
    if isinstance(feature, Continuous):
        return described | {
            "step": feature.step,
            "whole": feature.integer or feature.name in role.whole_numbers,
            "range": None if feature.range is None else list(feature.range),
            "seen": [codec.seen_low[position].item(), codec.seen_high[position].item()],
            "quantiles": None if spread is None else list(spread),
        }
    return described | {
        "levels": [
            {
                "value": level,
                "label": one_line(feature.labels.get(level, text_of(level))),
                "avoid": level in feature.avoid,
            }
            for level in feature.levels
        ],
        "shares": None if spread is None else list(spread),
    }


def _typical(feature: Feature, spread: Sequence[float]) -> Level | None:
    """Return the median of a number, or the commonest level."""
    if isinstance(feature, Continuous):
        return plain_value(feature, spread[N_QUANTILES // 2])
    return feature.levels[max(range(len(spread)), key=spread.__getitem__)]
