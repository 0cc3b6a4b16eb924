"""What the pick ``typical`` looks for: rows that look like their target."""

from dataclasses import dataclass

import numpy as np

from proce.arrays import Array, blocks
from proce.methods.calls.options import Options
from proce.methods.fitting.fitted import FittedParts
from proce.objective import Likeness

NO_LOOKS = (
    "What a typical row of the target looks like could not be learned: the training rows were not"
    " saved, or hardly any of them has the class. The row nearest to the prototype of the target"
    " was picked instead."
)
TYPICAL = (
    "A typical way was asked for: it may ask for more than the decision needs, so that the row"
    " looks more like others with this decision."
)


def wants_typical(fitted: FittedParts, options: Options) -> bool:
    """Whether a search is for rows that look like their target.

    As the paper prints it, the pick is made among what a search for the prototype finds.
    """
    return options.pick == "typical" and fitted.settings.sparse and fitted.mode != "paper"


@dataclass(frozen=True, eq=False)
class TypicalRows:
    """The rows of a call that are searched for what looks like their target."""

    positions: Array  # where these rows stand in the call
    # how much candidates look like their target; None where there are no such rows
    likeness: Likeness | None = None
    is_asked_for: bool = False  # whether the call asks for typical ways

    @classmethod
    def none(cls) -> "TypicalRows":
        """Return that no row is searched so."""
        return cls(np.zeros(0, dtype=np.int64))

    def has(self, rows: Array) -> Array:
        """Return which of the rows at some positions are searched so, ``(i,)``."""
        return np.isin(rows, self.positions)

    def chunks(self, rows: Array, size: int) -> list[Array]:
        """Return rows in chunks of at most a size, in each of which all are searched alike."""
        is_typical = self.has(rows)
        parts = rows[is_typical], rows[~is_typical]
        return [chunk for part in parts for chunk in blocks(part, size)]

    def likeness_of(self, chunk: Array) -> Likeness | None:
        """Return how candidates of a chunk are measured; ``None`` where it is searched as usual."""
        return self.likeness if bool(self.has(chunk).all()) else None


def learn_looks(
    fitted: FittedParts, options: Options, rows: Array, target: Array, own: Array
) -> TypicalRows:
    """Learn what classes look like, where somebody asks for it, and return the rows it serves.

    A row is served where its target and its own class have enough training rows, whatever the
    other rows of the call are.

    Shapes: target, own ``(i,)``.
    """
    served, likeness = np.zeros(len(rows), dtype=np.bool_), None
    pairs = sorted({*zip(target.tolist(), own.tolist(), strict=True)})
    is_asked_for = wants_typical(fitted, options)
    for pair in pairs if is_asked_for else ():
        known = fitted.likeness_of({*pair})
        if known is not None:
            likeness = known
            served |= (target == pair[0]) & (own == pair[1])
    return TypicalRows(rows[served], likeness, is_asked_for)


def typical_notes(typical: TypicalRows, rows: Array, found: Array) -> list[tuple[Array, str]]:
    """Return what readers should know where a typical way is asked for, each for some rows."""
    if not typical.is_asked_for:
        return []
    return [(rows[~typical.has(rows)], NO_LOOKS), (found[typical.has(found)], TYPICAL)]
