"""What a person does, what is held, and what merely follows.

A counterfactual row says where each feature ends, not how it got there. Going through the
features in causal order, and propagating the row on the way, tells the three apart.
"""

from dataclasses import dataclass

import numpy as np

from proce.arrays import MIN_DIFFERENCE, Array
from proce.causal.programs.program import TOLERANCE, Table
from proce.schema import Action, Codec, Continuous
from proce.schema.features.feature import MIN_CHANGE

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

    point: Array
    acted_on: Array
    held: Array
    consequence: Array
    expected: Array
    outside: Array

    @property
    def by_hand(self) -> Array:
        """What a person does, by acting or by holding; all else follows."""
        return self.acted_on | self.held

    @property
    def count(self) -> Array:
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

    still: Array
    step: Array
    origin: Array
    lowest: Array
    highest: Array
    can_act: Array
    rounding: Array

    @classmethod
    def of(cls, codec: Codec) -> "Tolerances":
        """Return the tolerances of the features of a codec."""
        number, (origin, step) = codec.is_number, codec.grid
        stepped = [isinstance(f, Continuous) and f.step is not None for f in codec.schema]
        rounded = number & ~np.array(stepped) & (codec.resolution > 0)
        step = np.where(number, step, 0.0)
        least = np.where((step > 0) & ~rounded, step, MIN_CHANGE)
        return cls(
            still=np.where(number, least / 2, 0.5) + MIN_DIFFERENCE,
            step=step,
            origin=np.where(rounded, origin, np.nan),
            lowest=codec.lowest,
            highest=codec.highest,
            can_act=np.array([f.can_be_acted_on or f.action is Action.WAITS for f in codec.schema]),
            rounding=_COMPUTING_ERROR * (1 + np.abs(codec.low) / codec.span),
        )

    def table(self, codec: Codec) -> Table:
        """Return the tolerances of a codec's features as kernels take them."""
        table = np.zeros(len(codec.schema), TOLERANCE)
        for name, values in vars(self).items():
            table[name] = values
        table["reach"] = codec.reach
        table["is_number"] = codec.is_number
        table["is_categorical"] = ~codec.is_ordered
        return table
