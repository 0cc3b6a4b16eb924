"""What if: a row with some values set by hand, what follows, and what the model then says."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from proce.arrays import Array
from proce.classifier import decide, predict_read_frame
from proce.errors import GraphError, SchemaError
from proce.explanation import Context
from proce.explanation.record.counterfactuals import Change
from proce.explanation.words.cells import ChangedCell, plain_value
from proce.explanation.words.instructions import consequence
from proce.explanation.words.values import class_words
from proce.methods import ProCE
from proce.methods.calls.options import Options
from proce.methods.fitting.fitted import FittedParts
from proce.methods.what_if import WhatIf
from proce.schema import Feature
from proce.schema.round_trip import ReadFrame
from proce.server.explainer_api.errors import RequestError
from proce.server.explainer_api.handlers.role_view import RoleView
from proce.server.explainer_api.handlers.values import cell, frame_of

_BEYOND = (
    "what would follow from these values is beyond anything that the explainer knows. Check the"
    " numbers and their units."
)


def context_of(fitted: FittedParts) -> Context:
    """Return what the explanations of an explainer share, but for the options of a call."""
    graph = None if fitted.scm is None else fitted.scm.graph
    return Context(
        fitted.codec,
        fitted.classifier.classes,
        (),
        edges=() if graph is None else graph.edges,
        origin=None if graph is None else str(graph.origin),
        class_labels=fitted.class_labels,
    )


def try_changes(
    explainer: ProCE, role: RoleView, row: Array, changes: Mapping[str, Any], target: int | None
) -> dict[str, Any]:
    """Return the decision on a row before and after some changes, and all that follows."""
    fitted, codec = explainer.fitted_, explainer.fitted_.codec
    wanted = {}
    for name, value in changes.items():
        field = f"changes.{name}"
        feature = role.feature(name, field)
        raw = cell(role, feature, value, field)
        if value is None:
            raise RequestError(field, "a value that is missing cannot be set; give one.")
        wanted[name] = plain_value(feature, raw)
    frame = frame_of(codec, row[None])
    read = ReadFrame.of(codec, frame)
    before = role.attempt("row", lambda: predict_read_frame(fitted.classifier, read))[0]
    if target is None:
        target = _other(fitted, before)
    first = _decision(fitted, before, target)
    if not wanted:
        return {
            "before": first,
            "after": first,
            "row": role.values(row[None])[0],
            "consequences": [],
            "changes": [],
            "broken": [],
            "notes": [],
        }
    outcome = _outcome(explainer, role, frame, wanted)
    after = codec.raw_of_frame(outcome.frame)[0]
    chances = np.array([outcome.probabilities[label] for label in fitted.classifier.classes])
    follow = [name for name in outcome.consequences if name in role.codec.schema]
    return {
        "before": first,
        "after": _decision(fitted, chances, target),
        "row": role.values(after[None])[0],
        "consequences": [_consequence(fitted, role, name, row, after) for name in follow],
        "changes": [_pair(role, codec.schema[name], row, after) for name in wanted],
        "broken": role.redaction.rules(outcome.broken),
        "notes": role.redaction.rules(outcome.notes),
    }


def _outcome(
    explainer: ProCE, role: RoleView, frame: pd.DataFrame, wanted: Mapping[str, Any]
) -> WhatIf:
    """Return what follows, or say that it is beyond anything that was seen."""

    def tried() -> WhatIf:
        try:
            return explainer.what_if(frame, wanted)
        except (GraphError, SchemaError):  # of a value that follows
            raise RequestError("changes", _BEYOND) from None

    return role.attempt("changes", tried)


def _other(fitted: FittedParts, chances: Array) -> int:
    predicted = int(decide(chances, fitted.classifier.threshold))
    return 1 - predicted if len(fitted.classifier.classes) == 2 else predicted


def _decision(fitted: FittedParts, chances: Array, target: int) -> dict[str, Any]:
    classes, labels = fitted.classifier.classes, fitted.class_labels
    predicted = int(decide(chances, fitted.classifier.threshold))
    needed = Options().requirement(fitted.classifier, 0.0).probabilities(len(classes))[target]
    return {
        "prediction": classes[predicted],
        "label": class_words(classes[predicted], labels),
        "probability": float(chances[target]),
        "target": classes[target],
        "target_label": class_words(classes[target], labels),
        "probabilities": [
            {"value": label, "label": class_words(label, labels), "probability": float(chance)}
            for label, chance in zip(classes, chances.tolist(), strict=True)
        ],
        "needed": needed or None,  # of more than two classes the likeliest counts
    }


def _pair(role: RoleView, feature: Feature, row: Array, after: Array) -> dict[str, Any]:
    position = role.whole.schema.position(feature.name)
    before, now = row[position].item(), after[position].item()
    return {
        "feature": feature.name,
        "before": plain_value(feature, before),
        "after": plain_value(feature, now),
    }


def _consequence(
    fitted: FittedParts, role: RoleView, name: str, row: Array, after: Array
) -> dict[str, Any]:
    feature = role.whole.schema[name]
    position = role.whole.schema.position(name)
    values = (row[position].item(), after[position].item())
    moved = ChangedCell(position, feature, Change.CONSEQUENCE, *values, values[1], 0.0)
    return {
        **_pair(role, feature, row, after),
        "text": consequence(moved, context_of(fitted)),
    }
