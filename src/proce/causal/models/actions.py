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
    from proce.causal.models.scm import StructuralCausalModel

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
    def by_hand(self) -> Tensor:
        """What a person does, by acting or by holding; all else follows."""
        return self.acted_on | self.held

    @property
    def count(self) -> Tensor:
        """How many actions and holds each row takes, ``(i, c)``."""
        return self.by_hand.sum(-1)


@dataclass(frozen=True, eq=False)
class Tolerances:
    """Which differences of a feature count, ``(f,)`` in its own entries.

    Attributes
    ----------
    still
        From the factual value: half a step, or a thousandth of the range without one.
    near
        From what its causes lead to: a whole step. Levels must agree.
    step
        The step of numbers that have one, else 0.
    can_act
        Whether the feature can be acted on or held at all.
    """

    still: Tensor
    near: Tensor
    step: Tensor
    can_act: Tensor

    @classmethod
    def of(cls, codec: Codec) -> "Tolerances":
        """Read them off a schema and its scale."""
        still, near, step, can_act = [], [], [], []
        for feature, span in zip(codec.schema, codec.span.tolist(), strict=True):
            number = isinstance(feature, Continuous)
            size = feature.step / span if isinstance(feature, Continuous) and feature.step else 0.0
            still.append((size / 2 or _STILL / 2 if number else 0.5) + _ROUNDING)
            near.append((size or _STILL if number else 0.5) + _ROUNDING)
            step.append(size)
            can_act.append(feature.action not in (Action.FIXED, Action.INDIRECT))
        wide = torch.float64
        return cls(
            torch.tensor(still, dtype=wide),
            torch.tensor(near, dtype=wide),
            torch.tensor(step, dtype=wide),
            torch.tensor(can_act),
        )


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
    tolerances = model.tolerances
    own = factual[:, None].to(rows)
    moved = (rows - own).abs() > tolerances.still.to(rows)
    can_act = tolerances.can_act.to(rows.device)
    acted_on = moved & can_act
    held, consequence = torch.zeros_like(acted_on), torch.zeros_like(acted_on)
    outside = torch.zeros_like(acted_on)
    point = torch.where(acted_on, rows, own)
    expected = own.expand_as(rows).clone()
    columns = point.unbind(-1)  # views: what is written into the point below is seen by effects
    for at in model.effects:
        before, wanted = own[..., at], rows[..., at]
        would_be, follows = model.outcome(at, columns, residual)
        drift = would_be - before
        step = float(tolerances.step[at])
        if step:
            drift = (drift / step).round() * step
        least = _ROUNDING if step else float(tolerances.still[at])  # less is not told: none
        drift = torch.where(follows & (drift.abs() > least), drift, 0.0)
        expected[..., at] = before + drift
        apart = (wanted - expected[..., at]).abs() > float(tolerances.near[at])
        apart &= can_act[at] if acting is None else can_act[at] & acting[..., at]
        apart = torch.where(follows, apart, acted_on[..., at])
        acted_on[..., at], held[..., at] = apart & moved[..., at], apart & ~moved[..., at]
        kept = torch.where(moved[..., at], wanted, before)
        point[..., at] = torch.where(apart, kept, expected[..., at])
        consequence[..., at] = ~apart & (drift != 0)
        if isinstance(model.codec.schema.features[at], Continuous):
            now = expected[..., at]
            beyond = (now < before.clamp(max=0)) | (now > before.clamp(min=1))
            outside[..., at] = consequence[..., at] & beyond
    return Actions(point, acted_on, held, consequence, expected, outside)
