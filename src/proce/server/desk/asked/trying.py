"""What if: a row with some values set by hand, what follows, and what the model then says."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from proce.arrays import Array
from proce.classifier import decide, predict_read_frame
from proce.errors import GraphError, SchemaError
from proce.explanation.record.outcome import Change
from proce.explanation.words.cells import ChangedCell, plain_value
from proce.explanation.words.instructions import consequence
from proce.explanation.words.values import class_words
from proce.methods import ProCE
from proce.methods.calls.options import Options
from proce.methods.explaining.what_if import WhatIf
from proce.methods.fitting.fitted import FittedParts
from proce.schema import Feature
from proce.schema.shown import ReadFrame
from proce.server.desk.asked.contexts import context_of
from proce.server.desk.asked.sight import Sight
from proce.server.desk.asked.telling import told
from proce.server.desk.asked.values import cell, frame_of
from proce.server.desk.errors import RequestError

_BEYOND = (
    "what would follow from these values is beyond anything that the explainer knows. Check the"
    " numbers and their units."
)


def try_changes(
    explainer: ProCE, sight: Sight, row: Array, changes: Mapping[str, Any], target: int | None
) -> dict[str, Any]:
    """Return the decision on a row before and after some changes, and all that follows.

    Parameters
    ----------
    explainer
        The explainer, with the graph that is asked about.
    sight
        What the person who asks can see.
    row
        ``(f,)``, the row in raw units and level codes.
    changes
        The new values by feature.
    target
        The class whose probability is told, as a position; ``None`` for the other class of two, or
        of more classes that which is decided now.
    """
    fitted, codec = explainer.fitted_, explainer.fitted_.codec
    wanted = {}
    for name, value in changes.items():
        field = f"changes.{name}"
        feature = sight.feature(name, field)
        raw = cell(sight, feature, value, field)
        if value is None:
            raise RequestError(field, "a value that is missing cannot be set; give one.")
        wanted[name] = plain_value(feature, raw)
    frame = frame_of(codec, row[None])
    read = ReadFrame.of(codec, frame)
    before = told("row", sight, lambda: predict_read_frame(fitted.classifier, read))[0]
    if target is None:
        target = _other(fitted, before)
    first = _decision(fitted, before, target)
    if not wanted:
        return {
            "before": first,
            "after": first,
            "row": sight.values(row[None])[0],
            "consequences": [],
            "changes": [],
            "broken": [],
            "notes": [],
        }
    outcome = _outcome(explainer, sight, frame, wanted)
    after = codec.raw_of_frame(outcome.frame)[0]
    chances = np.array([outcome.probabilities[label] for label in fitted.classifier.classes])
    follow = [name for name in outcome.consequences if name in sight.codec.schema]
    return {
        "before": first,
        "after": _decision(fitted, chances, target),
        "row": sight.values(after[None])[0],
        "consequences": [_consequence(fitted, sight, name, row, after) for name in follow],
        "changes": [_pair(sight, codec.schema[name], row, after) for name in wanted],
        "broken": sight.told(outcome.broken),
        "notes": sight.told(outcome.notes),
    }


def _outcome(
    explainer: ProCE, sight: Sight, frame: pd.DataFrame, wanted: Mapping[str, Any]
) -> WhatIf:
    """Return what follows, or say that it is beyond anything that was seen."""

    def tried() -> WhatIf:
        try:
            return explainer.what_if(frame, wanted)
        except (GraphError, SchemaError):  # of a value that follows
            raise RequestError("changes", _BEYOND) from None

    return told("changes", sight, tried)


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


def _pair(sight: Sight, feature: Feature, row: Array, after: Array) -> dict[str, Any]:
    position = sight.whole.schema.position(feature.name)
    before, now = row[position].item(), after[position].item()
    return {
        "feature": feature.name,
        "before": plain_value(feature, before),
        "after": plain_value(feature, now),
    }


def _consequence(
    fitted: FittedParts, sight: Sight, name: str, row: Array, after: Array
) -> dict[str, Any]:
    feature = sight.whole.schema[name]
    position = sight.whole.schema.position(name)
    values = (row[position].item(), after[position].item())
    moved = ChangedCell(position, feature, Change.CONSEQUENCE, *values, values[1], 0.0)
    return {
        **_pair(sight, feature, row, after),
        "text": consequence(moved, context_of(fitted)),
    }
