"""What an explainer is about, as a page shows it: classes, features, rules and causal graph."""

from collections.abc import Sequence
from typing import Any

from proce.causal import StructuralCausalModel
from proce.causal.graphs.features import cut_edges
from proce.explanation.record.context import N_QUANTILES
from proce.explanation.words.cells import plain_value
from proce.explanation.words.values import joined, name_text, one_line
from proce.methods.fitting.fitted import FittedParts
from proce.schema import Continuous, Feature, Level, Ordinal
from proce.schema.features.naming import with_unit
from proce.server.explainer_api.handlers.graphs import Graphs, dagitty_of
from proce.server.explainer_api.handlers.role_view import RoleView
from proce.server.explainer_api.handlers.values import class_choices, text_of

_MAX_NAMES = 6  # causes of an equation that are named


def describe(fitted: FittedParts, role: RoleView, title: str, n_rows: int) -> dict[str, Any]:
    """Return classes, features and rules."""
    rules = [rule.text for rule, _ in fitted.rules]
    return {
        "title": title,
        "classes": class_choices(fitted.classifier.classes, fitted.class_labels),
        "threshold": fitted.classifier.threshold,
        "features": [_feature(fitted, role, feature) for feature in role.features],
        "rules": [text for text in rules if not role.redaction.in_rule(text)],
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


def describe_graph(graphs: Graphs, role: RoleView) -> dict[str, Any]:
    """Return the graph of an explainer as a view shows it."""
    own, fitted = graphs.own, graphs.explainer.fitted_
    edges = graphs.edges(role)
    return {
        "origin": None if own is None else "discovered" if own.origin.discovered else "given",
        "words": _origin_words(graphs),
        "can_edit": graphs.can_edit,
        "edges": [
            {
                "cause": cause,
                "effect": effect,
                "confidence": None if own is None else own.confidence.get((cause, effect)),
            }
            for cause, effect in edges
        ],
        "equations": _equations(fitted, role),
        "dagitty": dagitty_of(edges, role.names),
    }


def _origin_words(graphs: Graphs) -> str:
    own = graphs.own
    if own is None:
        return "There is no causal graph: what else would change with an action is left out."
    if not own.origin.discovered:
        return "The causal graph was given by a person."
    counted = ""
    if own.resamples:
        counted = f" The shares beside arrows count {len(own.resamples)} graphs of resampled rows."
    return (
        f"The causal graph was learned from data ({own.origin}) and may be wrong; a person has to"
        f" judge it.{counted}"
    )


def _equations(fitted: FittedParts, role: RoleView) -> list[dict[str, Any]]:
    scm = fitted.scm
    if scm is None:
        return []
    cut = {effect for _, effect in cut_edges(scm.graph.edges, fitted.codec.schema)}
    return [
        _equation(scm, name, role, is_cut=name in cut)
        for name in scm.graph.endogenous
        if name in role.codec.schema
    ]


def _equation(
    scm: StructuralCausalModel, name: str, role: RoleView, *, is_cut: bool
) -> dict[str, Any]:
    feature = scm.codec.schema[name]
    causes = [cause for cause in scm.graph.parents(name) if cause in role.codec.schema]
    residual = _residual(scm, name)
    effect = name_text(feature)
    followed = joined([name_text(scm.codec.schema[cause]) for cause in causes], _MAX_NAMES)
    start = f"{effect[:1].upper()}{effect[1:]}"
    words = f"{start} follows from {followed}" if causes else f"{start} follows from other features"
    if name in scm.records:
        words += f", by {scm.records[name].description}"
    words += "."
    if residual is not None:
        words += f" What it does not explain is typically {_residual_text(feature, residual)}."
    if is_cut:
        words += " The schema lets nothing move it, so these arrows are left out for a person."
    return {
        "effect": name,
        "causes": causes,
        "words": words,
        "residual": residual,
        "unit": feature.unit,
    }


def _residual(scm: StructuralCausalModel, name: str) -> float | None:
    """Return the cross-validated error of an equation in raw units or levels, where it has one."""
    record = scm.records.get(name)
    error = None if record is None else record.errors.get(record.kind)
    position = scm.codec.schema.position(name)
    feature = scm.codec.schema.features[position]
    if error is None or not isinstance(feature, Continuous | Ordinal):
        return None
    whole: float = (scm.codec.span * scm.codec.reach)[position].item()
    return error * whole


def _residual_text(feature: Feature, residual: float) -> str:
    """Return the size of what is not explained, to two digits: it need not lie on any step."""
    size = float(f"{residual:.2g}")
    if isinstance(feature, Continuous):
        return with_unit(f"{size:,.12g}", feature.unit)
    return f"{size:g} level{'s' * (size != 1)}"
