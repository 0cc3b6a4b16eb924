"""What would follow from a change that a person has in mind."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from proce.classifier import decide
from proce.errors import SchemaError
from proce.methods.fitting.fitted import Fitted
from proce.schema import Action, Layout, Level


@dataclass(frozen=True, eq=False)
class WhatIf:
    """What follows from some changes of a row.

    Attributes
    ----------
    frame
        The row as it would be, in the layout of the one that came in.
    consequences
        By feature that follows: before and after, in raw units.
    before, after
        The decision, without and with the changes.
    probabilities
        By class, with the changes.
    broken
        Rules that the changed row breaks.
    notes
        What the reader should know.
    """

    frame: Any
    consequences: Mapping[str, tuple[Any, Any]]
    before: Level
    after: Level
    probabilities: Mapping[Level, float]
    broken: tuple[str, ...]
    notes: tuple[str, ...] = ()


def what_if(fitted: Fitted, row: Any, changes: Mapping[str, Any]) -> WhatIf:
    """Set features of one row, let the rest follow, and ask the model and the rules again."""
    codec, classifier = fitted.codec, fitted.classifier
    factual, raw = codec.encode(row).contiguous(), codec.raw_of_frame(row)
    if len(factual) != 1:
        raise SchemaError(f"what_if takes one row; the frame has {len(factual)}.")
    rows = factual.clone()
    acted_on = torch.zeros(len(codec.schema), dtype=torch.bool)
    notes = []
    freed = fitted
    for name, value in changes.items():
        position = codec.schema.position(name)
        rows[0, position] = float(codec.encode_value(name, value))
        acted_on[position] = True
        if codec.schema[name].action in (Action.FIXED, Action.INDIRECT):
            notes.append(f"{name} is {codec.schema[name].action.value}: nobody can act on it.")
            freed = freed.edited(name, action=Action.FREE)
    if freed.scm is not None:
        residual = freed.scm.abduct(factual, seed=fitted.seed, keys=fitted.keys(factual))
        followed = freed.scm.propagate(rows, residual, acted_on)[:, None]
        told = freed.scm.actions(factual, followed, residual, acted_on.expand_as(followed))
        rows = torch.where(acted_on, rows, told.point[:, 0])
    frame = codec.rebuild(rows, Layout.of(row), factual, raw)
    again = codec.encode(frame)
    chances = classifier.predict_proba(torch.cat([factual, again]))
    before, after = decide(chances, classifier.threshold).tolist()
    broken = [r.text for r, needs in fitted.rules if not bool(r.holds(factual, again, needs)[0])]
    moved = (again != factual)[0] & ~acted_on & ~codec.missing(factual)[0]
    return WhatIf(
        frame,
        {
            codec.schema.names[at]: _pair(row, frame, codec.schema.features[at].columns[0])
            for at in torch.nonzero(moved).flatten().tolist()
        },
        classifier.classes[before],
        classifier.classes[after],
        dict(zip(classifier.classes, chances[1].tolist(), strict=True)),
        tuple(broken),
        tuple(notes),
    )


def _pair(before: Any, after: Any, column: str) -> tuple[Any, Any]:
    import narwhals as nw

    first, second = (
        nw.from_native(each, eager_only=True)[column].to_list()[0] for each in (before, after)
    )
    return first, second
