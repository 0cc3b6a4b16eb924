"""What a person does, what is held, and what merely follows.

A counterfactual row says where each feature ends, not how it got there. Going through the
features in causal order, and propagating the row on the way, tells the three apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from proce.causal.programs.program import TOLERANCE, Table
from proce.schema import Action, Categorical, Codec, Continuous
from proce.schema.features.feature import MIN_CHANGE

_ROUNDING = 1e-9
_COMPUTING_ERROR = 1e-12  # of the range


@dataclass(frozen=True)
class Actions:
    """What is done and what follows in rows ``(i, c, f)``; every field has their shape.

    Attributes
    ----------
    point
        The rows after propagation: actions as they were set, all else as it follows. This is
        what a person is shown.
    acted_on
        Set by the person to a new value.
    held
        Kept at the factual value against a cause that moved: an action too.
    consequence
        Moved by itself.
    expected
        Where each feature would be if it were neither acted on nor held.
    outside
        A consequence beyond both the training range and the factual value. Equations are not
        to be trusted there; the value is not clipped.
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
        How far a feature may be from its factual value, or from what its causes lead to, and count
        as being there: half a step, or half a thousandth of the unit range where there is no step.
        Levels must agree.
    step
        The step of numbers that have one, or what they are told to, else 0.
    origin
        For numbers without a step that are told to a resolution, where its grid begins; else NaN.
    lowest, highest
        The ends of the training rows.
    can_act
        Whether the feature can be acted on or held at all, or set by time.
    rounding
        By how much an entry may be off that an equation computed, in raw units or not.
    """

    still: Tensor
    step: Tensor
    origin: Tensor
    lowest: Tensor
    highest: Tensor
    can_act: Tensor
    rounding: Tensor

    @classmethod
    def of(cls, codec: Codec) -> "Tolerances":
        """Return the tolerances of the features of a codec."""
        number = torch.tensor([isinstance(feature, Continuous) for feature in codec.schema])
        stepped = [isinstance(f, Continuous) and f.step is not None for f in codec.schema]
        rounded = number & ~torch.tensor(stepped) & (codec.resolution > 0)
        step = torch.where(number, codec.resolution / codec.span, 0.0)
        least = torch.where((step > 0) & ~rounded, step, MIN_CHANGE)
        return cls(
            still=torch.where(number, least / 2, 0.5) + _ROUNDING,
            step=step,
            origin=torch.where(rounded, -codec.low / codec.span, torch.nan),
            lowest=codec.lowest,
            highest=codec.highest,
            can_act=torch.tensor(
                [f.can_be_acted_on or f.action is Action.WAITS for f in codec.schema]
            ),
            rounding=_COMPUTING_ERROR * (1 + codec.low.abs() / codec.span).cpu(),
        )

    def table(self, codec: Codec) -> Table:
        """Return the tolerances of a codec's features as kernels take them."""
        table = np.zeros(len(codec.schema), TOLERANCE)
        for name, values in vars(self).items():
            table[name] = values.cpu().numpy()
        table["reach"] = codec.reach.cpu().numpy()
        table["is_number"] = [isinstance(feature, Continuous) for feature in codec.schema]
        table["is_categorical"] = [isinstance(feature, Categorical) for feature in codec.schema]
        return table

    def rounded(self, position: int, before: Tensor, drift: Tensor) -> Tensor:
        """Return where a feature that follows would be shown, from its value before and its drift.

        A number with a step moves by whole steps; one that is told to a resolution ends on its
        grid. What would not be shown counts as no drift.
        """
        step, origin = float(self.step[position]), float(self.origin[position])
        if not step:
            return torch.where(drift.abs() > float(self.still[position]), before + drift, before)
        if origin == origin:
            ended = origin + ((before + drift - origin) / step).round() * step
            return torch.where(drift.abs() > float(self.still[position]), ended, before)
        moved = (drift / step).round() * step
        return torch.where(moved.abs() > _ROUNDING, before + moved, before)

    def settle(self, position: int, value: Tensor, own: Tensor) -> Tensor:
        """Return what an equation computed for a feature, or what stands in the row.

        The latter where the two differ by no more than rounding; its gradient is then still that
        of the equation.
        """
        still = (value - own).abs() <= float(self.rounding[position]) * own.abs().clamp(min=1)
        return torch.where(still, own.detach() + (value - value.detach()), value)


class Propagating(Protocol):
    """What is needed of a structural causal model to tell actions from consequences."""

    @property
    def codec(self) -> Codec:
        """How rows and raw units correspond."""

    @property
    def tolerances(self) -> Tolerances:
        """Which differences count."""

    @property
    def effects(self) -> tuple[int, ...]:
        """The positions of the features that follow from others, causes before effects."""

    def outcome(
        self, position: int, columns: Sequence[Tensor], residual: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the value that its causes give a feature, and flags where they decide it."""


def separate(
    model: Propagating,
    factual: Tensor,
    rows: Tensor,
    residual: Tensor,
    acting: Tensor | None = None,
) -> Actions:
    """Tell actions, holds and consequences apart in rows ``(i, c, f)``; see `Actions`.

    A feature without causes is acted on where it changed by more than half a step. One with
    causes is acted on, or held, where it is more than half a step from what they lead to, as a
    person would see it; where it is nearer, it is set to that and follows, by whole steps. So a
    single step is an action, whether a feature has causes or not. Fixed and indirect features are
    never acted on or held, nor is a feature with causes where ``acting`` is false.
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
    for position in model.effects:
        before, wanted = own[..., position], rows[..., position]
        predicted, follows = model.outcome(position, columns, residual)
        drift = predicted - before
        ended = tolerances.rounded(position, before, drift)
        expected[..., position] = torch.where(follows, ended, before)
        chosen = (wanted - expected[..., position]).abs() > float(tolerances.still[position])
        chosen &= can_act[position] if acting is None else can_act[position] & acting[..., position]
        chosen = torch.where(follows, chosen, acted_on[..., position])
        acted_on[..., position] = chosen & moved[..., position]
        held[..., position] = chosen & ~moved[..., position]
        kept = torch.where(moved[..., position], wanted, before)
        point[..., position] = torch.where(chosen, kept, expected[..., position])
        went = follows & (expected[..., position] != before)  # a missing cell equals nothing
        consequence[..., position] = ~chosen & went
        if isinstance(model.codec.schema.features[position], Continuous):
            now = expected[..., position]
            low, high = float(tolerances.lowest[position]), float(tolerances.highest[position])
            beyond = (now < before.clamp(max=low)) | (now > before.clamp(min=high))
            outside[..., position] = consequence[..., position] & beyond
    return Actions(point, acted_on, held, consequence, expected, outside)


def propagate(model: Propagating, rows: Tensor, residual: Tensor, acted_on: Tensor) -> Tensor:
    """Return rows ``(…, f)`` in which every effect follows from its causes.

    See :meth:`proce.causal.StructuralCausalModel.propagate`. The residual broadcasts to the rows'
    columns, and the flags have the rows' shape.
    """
    columns = list(rows.unbind(-1))
    for position in model.effects:
        value, follows = model.outcome(position, columns, residual)
        value = model.tolerances.settle(position, value, columns[position])
        moves = follows & ~acted_on[..., position]
        columns[position] = torch.where(moves, value, columns[position])
    return torch.stack(columns, dim=-1)
