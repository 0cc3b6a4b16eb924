"""Points on the sides of told values, at which it is tried whether advice still holds."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from proce.arrays import Flags, Ints

N_SPREAD = 32  # points over the whole side, and again over what was found
MAX_COUNT = 2**40  # of grid points on a side


@dataclass(frozen=True, eq=False)
class SpreadPoints:
    """Points that are tried on some sides, and what is learned from them.

    Attributes
    ----------
    side, start
        ``(a,)``, the sides, and the points from after which they are tried.
    points
        ``(a, p)``, the points of each side, which repeat on a short one.
    is_first
        ``(a, p)``, whether a point is the first of equal ones, and not known yet.
    """

    side: Ints
    start: Ints
    points: Ints
    is_first: Flags

    @classmethod
    def spread(cls, some: Flags, start: Ints, end: Ints, n_points: int = N_SPREAD) -> Self:
        """Spread points from after ``start (s,)`` up to ``end (s,)`` on some of the sides."""
        side = np.nonzero(some)[0]
        first, width = start[side, None], (end - start)[side, None]
        share = np.arange(1, n_points + 1, dtype=np.float32) / np.float32(n_points)
        steps = np.ceil(width.astype(np.float32) * share).astype(np.int64)
        points = first + np.minimum(steps, width)
        return cls(side, start[side], points, np.diff(points, axis=1, prepend=first) > 0)

    def rest(self, some: Flags, failed: Ints) -> "SpreadPoints":
        """Return all points below the first that fails, but for these, on some of the sides.

        Parameters
        ----------
        some
            ``(s,)``, which sides; these points begin at the told value there.
        failed
            ``(s,)``, the first point of each side that is known not to hold.
        """
        own = np.nonzero(some[self.side])[0]
        side = self.side[own]
        end = failed[side, None]
        points = np.arange(1, end.max(initial=1)) + np.zeros_like(end)
        is_new = points < end
        line, place = np.nonzero(self.points[own] < end)
        is_new[line, self.points[own[line], place] - 1] = False
        return SpreadPoints(side, self.start[own], points, is_new)

    @property
    def asked(self) -> tuple[Ints, Ints]:
        """The sides and the points that are asked about, each once."""
        return self.side[np.nonzero(self.is_first)[0]], self.points[self.is_first]

    def learned(self, holds: Flags, last: Ints, failed: Ints) -> tuple[Ints, Ints]:
        """Return the last point that holds and the first that does not, on all sides ``(s,)``.

        Parameters
        ----------
        holds
            Which of the points that were asked about hold.
        last, failed
            ``(s,)``, what was known before.
        """
        all_hold = np.ones_like(self.is_first)
        all_hold[self.is_first] = holds
        last, failed = last.copy(), failed.copy()
        first = np.where(all_hold, MAX_COUNT + 1, self.points).min(1, initial=MAX_COUNT + 1)
        failed[self.side] = np.minimum(failed[self.side], first)
        end = failed[self.side, None]
        reached = np.where(self.points < end, self.points, self.start[:, None])
        reached = np.maximum(reached.max(1, initial=0), self.start)
        known = last[self.side]
        last[self.side] = np.where(known < end[:, 0], np.maximum(known, reached), reached)
        return last, failed
