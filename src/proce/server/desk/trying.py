"""What if: a row with some values set by hand, what follows, and what the model then says."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from proce.classifier import ask_read_frame, decide
from proce.explanation.record.outcome import Change
from proce.explanation.words.cells import ChangedCell, plain_value
from proce.explanation.words.instructions import consequence
from proce.explanation.words.values import class_words
from proce.methods import ProCE
from proce.methods.calls.options import Options
from proce.methods.fitting.fitted import FittedParts
from proce.schema import Feature
from proce.schema.shown import ReadFrame
from proce.server.desk.contexts import context_of
from proce.server.desk.errors import RequestError
from proce.server.desk.sight import Sight
from proce.server.desk.values import cell, frame_of


def try_changes(
    explainer: ProCE, sight: Sight, row: Tensor, changes: Mapping[str, Any], target: int | None
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
    before = ask_read_frame(fitted.classifier, ReadFrame.of(codec, frame))[0]
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
    outcome = explainer.what_if(frame, wanted)
    after = codec.raw_of_frame(outcome.frame)[0]
    chances = torch.tensor([outcome.probabilities[label] for label in fitted.classifier.classes])
    follow = [name for name in outcome.consequences if name in sight.codec.schema]
    return {
        "before": first,
        "after": _decision(fitted, chances.double(), target),
        "row": sight.values(after[None])[0],
        "consequences": [_consequence(fitted, sight, name, row, after) for name in follow],
        "changes": [_pair(sight, codec.schema[name], row, after) for name in wanted],
        "broken": sight.told(outcome.broken),
        "notes": sight.told(outcome.notes),
    }


def _other(fitted: FittedParts, chances: Tensor) -> int:
    predicted = int(decide(chances, fitted.classifier.threshold))
    return 1 - predicted if len(fitted.classifier.classes) == 2 else predicted


def _decision(fitted: FittedParts, chances: Tensor, target: int) -> dict[str, Any]:
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
        "needed": needed,
    }


def _pair(sight: Sight, feature: Feature, row: Tensor, after: Tensor) -> dict[str, Any]:
    position = sight.whole.schema.position(feature.name)
    before, now = row[position].item(), after[position].item()
    return {
        "feature": feature.name,
        "before": plain_value(feature, before),
        "after": plain_value(feature, now),
    }


def _consequence(
    fitted: FittedParts, sight: Sight, name: str, row: Tensor, after: Tensor
) -> dict[str, Any]:
    feature = sight.whole.schema[name]
    position = sight.whole.schema.position(name)
    values = (row[position].item(), after[position].item())
    moved = ChangedCell(position, feature, Change.CONSEQUENCE, *values, values[1], 0.0)
    return {
        **_pair(sight, feature, row, after),
        "text": consequence(moved, context_of(fitted)),
    }
