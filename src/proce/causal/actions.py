"""What a person does, what is held, and what merely follows.

A counterfactual row says where each feature ends, not how it got there. Walking the causal
order on a point that is propagated on the way tells the three apart.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from proce.schema import Action, Codec, Continuous

if TYPE_CHECKING:
    from proce.causal.scm import StructuralCausalModel

_ROUNDING = 1e-9
_STILL = 1e-3  # of the range: a smaller difference of a feature without a step is none


@dataclass(frozen=True)
class Actions:
    """Rows ``(i, c, f)`` told apart; every field has their shape.

    Attributes
    ----------
    point
        The rows as they come about when only the actions are taken: show this, not the rows.
    acted_on
        Set by the person to a new value.
    held
        Kept at the factual value against a cause that moved: an action too.
    consequence
        Moved by itself.
    expected
        Where each feature would be if it were neither acted on nor held.
    outside
        A consequence beyond both the training range and the factual value: equations are not
        to be trusted there, and nothing is clipped.
    """

    point: Tensor
    acted_on: Tensor
    held: Tensor
    consequence: Tensor
    expected: Tensor
    outside: Tensor

    @property
    def count(self) -> Tensor:
        """How many actions and holds each row takes, ``(i, c)``."""
        return (self.acted_on | self.held).sum(-1)


def steps(codec: Codec) -> Tensor:
    """Return the smallest difference ``(f,)`` of each feature that counts, in its own entries."""
    smallest = [
        (feature.step / span if feature.step else _STILL)
        if isinstance(feature, Continuous)
        else 1.0
        for feature, span in zip(codec.schema, codec.span.tolist(), strict=True)
    ]
    return torch.tensor(smallest, dtype=torch.float64)


def separate(
    model: "StructuralCausalModel",
    factual: Tensor,
    rows: Tensor,
    residual: Tensor,
    acting: Tensor | None = None,
) -> Actions:
    """Tell actions, holds and consequences apart in rows ``(i, c, f)``; see `Actions`.

    A feature without causes is acted on where it changed by half a step or more. One with
    causes is acted on, or held, where it is more than a step from what they lead to; what is
    nearer is set to that and follows, by whole steps. Fixed and indirect features are never
    acted on or held, nor is a feature with causes where ``acting`` is false.
    """
    schema = model.codec.schema
    step = steps(model.codec).to(rows)
    stepped = [isinstance(each, Continuous) and each.step is not None for each in schema]
    factual = factual[:, None].to(rows).broadcast_to(rows.shape)
    point, expected = list(factual.unbind(-1)), list(factual.unbind(-1))
    acted_on = torch.zeros_like(rows, dtype=torch.bool)
    held, consequence, outside = acted_on.clone(), acted_on.clone(), acted_on.clone()
    for at in model.walk:
        own, wanted, still = factual[..., at], rows[..., at], step[at] / 2
        would_be, follows = model.outcome(at, point, residual)
        drift = would_be - own
        if schema.features[at].kind == "continuous":
            whole = (drift / step[at]).round() * step[at]
            drift = torch.where(drift.abs() < _ROUNDING, 0.0, whole if stepped[at] else drift)
        expected[at] = torch.where(follows, own + drift, own)
        apart = (wanted - expected[at]).abs() > torch.where(follows, step[at], still) + _ROUNDING
        if schema.features[at].action in (Action.FIXED, Action.INDIRECT):
            apart = torch.zeros_like(apart)
        elif acting is not None:
            apart = apart & (acting[..., at] | ~follows)
        moved = (wanted - own).abs() > still + _ROUNDING
        acted_on[..., at], held[..., at] = apart & moved, apart & ~moved
        point[at] = torch.where(apart, torch.where(moved, wanted, own), expected[at])
        change = (point[at] - own).abs() > still + _ROUNDING
        consequence[..., at] = ~apart & change
        if isinstance(schema.features[at], Continuous):
            beyond = (point[at] < own.clamp(max=0)) | (point[at] > own.clamp(min=1))
            outside[..., at] = consequence[..., at] & beyond
    shown, free = torch.stack(point, dim=-1), torch.stack(expected, dim=-1)
    return Actions(shown, acted_on, held, consequence, free, outside)
