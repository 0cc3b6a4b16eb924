"""How far each number that is acted on may be from the value told, for the advice still to hold.

Each side of the told value is tried at points on the feature's own grid: first at points spread up
to where the search ends, then between the last point that held and the first that did not, and at
last once more at points spread over what was found. The rest stays as advised: the other actions
and holds, and what follows from all of them. A point holds where the row that comes about passes
the last check, without the margin: the model's decision, the rules and the limits.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from proce.explanation import Change, done_by_hand
from proce.explanation.record.counterfactuals import OPEN_ABOVE, OPEN_BELOW, Intervals
from proce.methods.searching.shortlist import change_kinds
from proce.methods.searching.solve import FrameRows, check_candidates
from proce.objective import CounterfactualProblem
from proce.schema import Codec, Continuous
from proce.schema.features.feature import MIN_CHANGE

_N_SPREAD = 32  # points over the whole side, and again over what was found
_N_EVERY = 128  # on a grid of no more points every one of them is tried
_N_NARROWING = 7  # points between the last that held and the first that did not
_NARROWING_ROUNDS = 5
_CONFIRMING_ROUNDS = 3
_MAX_COUNT = 2**40  # of grid points on a side
_BLOCK_ROWS = 20_000  # the model is asked about at most so many rows at once
_ROUNDING = 1e-6  # of a grid point


def find_intervals(
    problem: CounterfactualProblem,
    frame_rows: FrameRows,
    rows: Tensor,
    changes: Tensor,
    expected: Tensor,
    is_over: Callable[[], bool],
) -> Intervals:
    """Return where the numbers that are acted on may end.

    Parameters
    ----------
    problem
        The search problem, with an instance for each counterfactual.
    frame_rows
        The rows that the counterfactuals started from, one for each, as the caller has them.
    rows, changes, expected
        ``(n, f)``: the counterfactuals, what became of each cell, and where each feature would be
        by itself.
    is_over
        Says whether the time is up; what was not tried to its end by then is not known.
    """
    sides = _Sides.of(problem, frame_rows, rows, changes, expected)
    low, high = torch.full_like(rows, torch.nan), torch.full_like(rows, torch.nan)
    open_ends = torch.zeros_like(changes)
    if len(sides) and not is_over():
        reached = sides.reach(is_over)
        ends = sides.values(torch.arange(len(sides)), reached.clamp(min=0))
        is_open = sides.far & (reached == sides.n_points)
        known = reached >= 0
        known &= known[sides.twin]
        for upward, column, flag in ((False, low, OPEN_BELOW), (True, high, OPEN_ABOVE)):
            own = known & (sides.upward == upward)
            cells = sides.line[own], sides.position[own]
            column[cells] = ends[own]
            open_ends[cells] += (is_open[own] * flag).to(open_ends.dtype)
    return Intervals(low, high, open_ends)


@dataclass(frozen=True, eq=False)
class _Sides:
    """The sides of all numeric actions, as columns ``(s,)``: first all lower, then all upper ones.

    Attributes
    ----------
    problem, frame_rows, rows, by_hand
        The problem, the rows in the caller's frame, the counterfactuals, and what is done by hand
        in them.
    line, position
        The counterfactual and the feature that each side belongs to.
    upward
        Whether a side leads to larger values.
    far
        Whether a side leads away from where the feature would be by itself.
    start, grid
        The told value and the width of the feature's grid, in raw units.
    n_points
        How many points of the grid there are up to the end of the side.
    """

    problem: CounterfactualProblem
    frame_rows: FrameRows
    rows: Tensor
    by_hand: Tensor
    line: Tensor
    position: Tensor
    upward: Tensor
    far: Tensor
    start: Tensor
    grid: Tensor
    n_points: Tensor

    @classmethod
    def of(
        cls,
        problem: CounterfactualProblem,
        frame_rows: FrameRows,
        rows: Tensor,
        changes: Tensor,
        expected: Tensor,
    ) -> "_Sides":
        codec = problem.codec
        is_number = torch.tensor([isinstance(feature, Continuous) for feature in codec.schema])
        acted_on = (changes == Change.ACTION) & is_number & expected.isfinite()
        line, position = torch.nonzero(acted_on, as_tuple=True)
        told, by_itself = rows[line, position], expected[line, position]
        grid = _grid(codec)[position]
        limits = problem.limits
        sides = []
        for upward, ends in ((False, limits.action_lower), (True, limits.action_upper)):
            sign = 1 if upward else -1
            far = (told > by_itself) == upward
            unit = grid / codec.span[position]
            n_far = (sign * (ends[line, position] - told) / unit + _ROUNDING).floor()
            # At the value that the feature has by itself nothing is done any more.
            n_near = (sign * (by_itself - told) / unit - _ROUNDING).ceil() - 1
            count = torch.where(far, n_far, torch.minimum(n_near, n_far))
            sides.append((torch.full_like(far, upward), far, count.clamp(0, _MAX_COUNT).long()))
        start = torch.empty_like(told)
        for feature in sorted(set(position.tolist())):
            own = position == feature
            start[own] = codec.raw_numbers(feature, told[own])
        columns = [torch.cat(pair) for pair in zip(*sides, strict=True)]
        twice = [torch.cat([column, column]) for column in (line, position, start, grid)]
        decision = replace(problem, requirement=problem.requirement.without_margin())
        return cls(
            decision,
            frame_rows,
            rows,
            done_by_hand(changes),
            line=twice[0],
            position=twice[1],
            upward=columns[0],
            far=columns[1],
            start=twice[2],
            grid=twice[3],
            n_points=columns[2],
        )

    def __len__(self) -> int:
        return len(self.line)

    @property
    def twin(self) -> Tensor:
        """The other side of the same action, ``(s,)``."""
        return torch.arange(len(self)).roll(len(self) // 2)

    def reach(self, is_over: Callable[[], bool]) -> Tensor:
        """Return the last point ``(s,)`` up to which each side holds; -1 where not known."""
        everyone = torch.arange(len(self))
        held = self.holds(everyone, torch.zeros_like(everyone))
        last = torch.zeros_like(everyone)
        failed = self.n_points + 1  # the first point known not to hold
        last, failed = self._try(held, last, failed, self.n_points, torch.zeros_like(last))
        for _ in range(_NARROWING_ROUNDS):
            open_gap = held & (failed <= self.n_points) & (failed - last > 1)
            if is_over() or not bool(open_gap.any()):
                break
            last, failed = self._try(open_gap, last, failed, failed - 1, last, _N_NARROWING)
        unsure = held & (failed <= self.n_points) & (last > 1)
        for _ in range(_CONFIRMING_ROUNDS):
            if is_over() or not bool(unsure.any()):
                break
            before = failed
            last, failed = self._try(unsure, last, failed, last, torch.zeros_like(last))
            unsure = unsure & (failed < before) & (last > 1)
        few = held & (last > _N_SPREAD) & (last <= _N_EVERY)
        if not is_over() and bool(few.any()):
            last, failed = self._try(few, last, failed, last, torch.zeros_like(last), _N_EVERY)
        if is_over():
            return torch.full_like(last, -1)
        return last.where(held, -1)

    def _try(
        self,
        some: Tensor,
        last: Tensor,
        failed: Tensor,
        end: Tensor,
        start: Tensor,
        n_points: int = _N_SPREAD,
    ) -> tuple[Tensor, Tensor]:
        """Try points spread from after ``start (s,)`` up to ``end (s,)`` on some of the sides.

        Returns the last point that holds and the first that does not, as far as is known now; all
        points that were tried up to the last one hold.
        """
        side = torch.nonzero(some & (end > start)).flatten()
        share = torch.arange(1, n_points + 1) / n_points
        width = (end - start)[side, None]
        points = start[side, None] + (width * share).ceil().long().clamp(max=width)  # (a, p)
        first_of_equal = points.diff(dim=1, prepend=start[side, None]) > 0
        asked_side, asked_point = torch.nonzero(first_of_equal, as_tuple=True)
        holds = torch.ones_like(first_of_equal)
        holds[asked_side, asked_point] = self.holds(
            side[asked_side], points[asked_side, asked_point]
        )
        first = points.where(~holds, _MAX_COUNT + 1).amin(1)
        failed = failed.index_put((side,), torch.minimum(failed[side], first))
        reached = points.where(points < failed[side, None], start[side, None]).amax(1)
        kept = torch.where(last[side] < failed[side], torch.maximum(last[side], reached), reached)
        return last.index_put((side,), kept), failed

    def holds(self, side: Tensor, point: Tensor) -> Tensor:
        """Return whether the advice holds at a point of each of these sides, ``(a,)``."""
        blocks = zip(torch.split(side, _BLOCK_ROWS), torch.split(point, _BLOCK_ROWS), strict=True)
        parts = [self._holds(own, points) for own, points in blocks]
        return torch.cat([torch.zeros(0, dtype=torch.bool), *parts])

    def _holds(self, side: Tensor, point: Tensor) -> Tensor:
        line = self.line[side]
        rows = self.rows[line]
        moved = point > 0
        rows[moved, self.position[side][moved]] = self._entries(side, point)[moved]
        part = self.problem.take(line)
        realised = part.realise_by_hand(rows[:, None], self.by_hand[line][:, None])
        shown, kinds = realised.point[:, 0], change_kinds(realised)[:, 0]
        passed = check_candidates(self.problem, self.frame_rows, line, shown, kinds).passed
        at = torch.arange(len(side)), self.position[side]
        passed &= (kinds[at] == Change.ACTION) & (shown[at] == rows[at])
        # The told value must lead to the told row, or nothing is known of its neighbours.
        as_told = ((shown == rows) | (shown.isnan() & rows.isnan())).all(-1)
        return passed & (moved | as_told)

    def values(self, side: Tensor, point: Tensor) -> Tensor:
        """Return points of these sides in raw units, as they would be shown, ``(a,)``."""
        entries = self._entries(side, point)
        values = torch.empty_like(entries)
        for feature in sorted(set(self.position[side].tolist())):
            own = self.position[side] == feature
            values[own] = self.problem.codec.raw_numbers(feature, entries[own])
        return torch.where(point > 0, values, self.start[side])

    def _entries(self, side: Tensor, point: Tensor) -> Tensor:
        """Return points of these sides on the unit range, ``(a,)``."""
        codec, position = self.problem.codec, self.position[side]
        sign = torch.where(self.upward[side], 1.0, -1.0)
        raw = self.start[side] + sign * point * self.grid[side]
        return (raw - codec.low[position]) / codec.span[position]


def _grid(codec: Codec) -> Tensor:
    """Return the width of each feature's grid in raw units, ``(f,)``."""
    return torch.where(codec.resolution > 0, codec.resolution, MIN_CHANGE * codec.span)
