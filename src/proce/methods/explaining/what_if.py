"""What would follow from a change that a person has in mind."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import torch
from torch import Tensor

from proce.classifier import ask_frame, decide
from proce.errors import SchemaError
from proce.methods.calls.rules import broken_rules
from proce.methods.fitting.fitted import FittedParts
from proce.schema import Action, Feature, Layout, Level
from proce.streams import row_keys


@dataclass(frozen=True, eq=False)
class WhatIf:
    """What follows from some changes of a row.

    Attributes
    ----------
    frame
        The row as it would be, in the layout of the frame that was given.
    consequences
        For each feature that follows, its values before and after, in raw units.
    before, after
        The decision without and with the changes.
    probabilities
        The probability of each class with the changes.
    broken
        The rules that the changed row breaks.
    notes
        What the reader should know, such as features that nobody can act on.
    """

    frame: Any
    consequences: Mapping[str, tuple[Any, Any]]
    before: Level
    after: Level
    probabilities: Mapping[Level, float]
    broken: tuple[str, ...]
    notes: tuple[str, ...] = ()


def what_if(fitted: FittedParts, row: Any, changes: Mapping[str, Any]) -> WhatIf:
    """Set features of one row, let the rest follow, and ask the model and the rules again."""
    codec, classifier = fitted.codec, fitted.classifier
    factual, raw = codec.encode(row).contiguous(), codec.raw_of_frame(row)
    if len(factual) != 1:
        raise SchemaError(f"what_if takes one row; the frame has {len(factual)}.")
    acted_on = torch.zeros(len(codec.schema), dtype=torch.bool)
    acted_on[[codec.schema.position(name) for name in changes]] = True
    rows = _propagated(fitted, factual, changes, acted_on)
    frame = codec.rebuild(rows, Layout.of(row), factual, raw)
    shown = codec.encode(frame)
    chances = ask_frame(classifier, frame, codec)[0]
    before, after = (
        int(decide(answer, classifier.threshold))
        for answer in (ask_frame(classifier, row, codec)[0], chances)
    )
    moved = (shown != factual)[0] & ~acted_on & ~codec.missing(factual)[0]
    return WhatIf(
        frame,
        {
            codec.schema.names[position]: _pair(row, frame, codec.schema.features[position])
            for position in torch.nonzero(moved).flatten().tolist()
        },
        classifier.classes[before],
        classifier.classes[after],
        dict(zip(classifier.classes, chances.tolist(), strict=True)),
        broken_rules(fitted.rules, factual[0], shown[0]),
        tuple(
            f"{name} is {codec.schema[name].action.value}: nobody can act on it."
            for name in changes
            if not codec.schema[name].action.is_possible
        ),
    )


def _propagated(
    fitted: FittedParts, factual: Tensor, changes: Mapping[str, Any], acted_on: Tensor
) -> Tensor:
    """Return the row ``(1, f)`` with its changes and all that follows from them."""
    codec = fitted.codec
    rows = factual.clone()
    for name, value in changes.items():
        rows[0, codec.schema.position(name)] = float(codec.encode_value(name, value))
    if fitted.scm is None:
        return rows
    bound = [name for name in changes if not codec.schema[name].can_be_acted_on]
    schema = codec.schema.edit(bound, action=Action.FREE, protected=False)
    scm = replace(fitted.scm, codec=replace(codec, schema=schema))
    residual = scm.abduct(factual, seed=fitted.seed, keys=row_keys(factual))
    propagated = scm.propagate(rows, residual, acted_on)[:, None]
    realised = scm.actions(factual, propagated, residual, acted_on.expand_as(propagated))
    return torch.where(acted_on, rows, realised.point[:, 0])


def _pair(before: Any, after: Any, feature: Feature) -> tuple[Any, Any]:
    first, second = (
        nw.from_native(frame, eager_only=True)[feature.columns[0]].to_list()[0]
        for frame in (before, after)
    )
    return first, second
