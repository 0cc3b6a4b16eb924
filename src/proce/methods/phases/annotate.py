"""What is recorded of a counterfactual beside its values, and how far those may be missed.

Each side of a told number is tried at points on the feature's own grid: first at points spread up
to where the search ends, together with the told values themselves. On a short side all points up to
the first that does not hold follow; on a long one points between the last that held and the first
that did not, and at last once more points spread over what was found. The rest stays as advised:
the other actions and holds, and what follows from all of them. A point holds where the row that
comes about passes the last check, without the margin: the model's decision, the rules and the
limits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from proce.arrays import Array, Flags, Floats, Ints, cells_differ, scatter, steps_within
from proce.causal import Ensemble
from proce.causal.graphs.features import unknown_causes
from proce.classifier import Classifier, kept_by
from proce.explanation import Change, Counterfactuals, done_by_hand, has_moved
from proce.explanation.record.counterfactuals import OPEN_ABOVE, OPEN_BELOW, Intervals
from proce.methods.fitting.fitted import FittedParts
from proce.methods.phases.check import FrameRows, Solution, check_candidates
from proce.methods.phases.prune import ablate_actions
from proce.methods.phases.shortlist import change_kinds
from proce.objective import CounterfactualProblem, EquationUncertainty
from proce.objective.uncertainty import judge_draws
from proce.schema import Codec
from proce.schema.codec import raw_cells, unit_numbers
from proce.schema.features.feature import MIN_CHANGE


def annotate(
    problem: CounterfactualProblem,
    frame_rows: FrameRows,
    solution: Solution,
    lines: Array,
    fitted: FittedParts,
    is_over: Callable[[], bool] | None,
    models: Sequence[Classifier] = (),
) -> Counterfactuals:
    """Return some lines of a solution's shortlist with everything that is recorded of them."""
    shortlist = solution.shortlist
    owner = shortlist.owner[lines]
    part = problem.take(owner)  # an instance for each counterfactual
    positions = frame_rows.positions[owner]
    own = FrameRows(positions, frame_rows.raw[owner], frame_rows.layout)
    rows, changes = shortlist.rows[lines], shortlist.changes[lines]
    expected, probabilities = shortlist.expected[lines], solution.check.probabilities[lines]
    intervals = None
    if is_over is not None:
        sides = Sides.of(part, own, rows, changes, expected)
        intervals = sides.intervals(sides.reach(is_over))
    refits, confidence = measure_confidence(part, rows, changes)
    contributions, asked_by = ablate_actions(part, rows, changes, probabilities)
    return Counterfactuals.of(
        positions,
        rows,
        changes,
        probabilities,
        shortlist.losses[lines],
        expected=expected,
        contributions=contributions,
        intervals=intervals,
        asked_by=asked_by,
        support=count_supporting_graphs(part, rows, changes, fitted.ensemble),
        refits=refits,
        confidence=confidence,
        robustness=count_models_kept(part, rows, models),
    )


def measure_confidence(
    problem: CounterfactualProblem, rows: Array, changes: Array
) -> tuple[Array | None, Array | None]:
    """Return in how many refits the actions of rows ``(n, f)`` reach the decision, ``(n,)``.

    The second result is the chance that they do in the true equations, NaN where a missing cell
    hides what follows from them. Both are ``None`` where the equations are not uncertain.
    """
    sets = [worlds for worlds in problem.uncertainty if isinstance(worlds, EquationUncertainty)]
    if not sets:
        return None, None
    realised = problem.realise_by_hand(rows[:, None], done_by_hand(changes)[:, None])
    odds = sets[0].odds(problem, realised)[..., 0]
    unknown = _hides_what_follows(problem, changes)
    chance, n_held = judge_draws(odds)
    return n_held, np.where(unknown, np.nan, chance)


def _hides_what_follows(problem: CounterfactualProblem, changes: Array) -> Array:
    """Return flags ``(n,)`` where a missing cell leaves open what follows from the actions."""
    schema, missing = problem.codec.schema, problem.codec.missing(problem.batch.factual)
    hides = np.zeros(len(changes), dtype=np.bool_)
    assert problem.scm is not None, "there are equations"
    edges = problem.scm.graph.edges
    by_hand, moved = done_by_hand(changes), has_moved(changes)
    for line in np.flatnonzero(missing.any(1)).tolist():
        names = (
            [schema.names[position] for position in np.flatnonzero(flags[line]).tolist()]
            for flags in (missing, moved, by_hand)
        )
        hides[line] = bool(unknown_causes(edges, schema, *names))
    return hides


def count_models_kept(
    problem: CounterfactualProblem, rows: Array, models: Sequence[Classifier]
) -> Array | None:
    """Return in how many other models rows ``(n, f)`` have their target, ``(n,)``."""
    if not models:
        return None
    return kept_by(
        models, lambda model: problem.ask(rows[:, None], model)[:, 0], problem.batch.target
    ).sum(0)


def count_supporting_graphs(
    problem: CounterfactualProblem, rows: Array, changes: Array, ensemble: Ensemble | None
) -> Array | None:
    """Return in how many bootstrap graphs each of the rows ``(n, f)`` comes about, ``(n,)``."""
    if ensemble is None:
        return None
    batch, by_hand = problem.batch, problem.clock.with_others(done_by_hand(changes)[:, None])
    votes = ensemble.support(
        batch.factual, rows[:, None], by_hand, seed=batch.seed, keys=batch.keys
    )
    return votes[:, 0]


N_SPREAD = 32  # points over the whole side, and again over what was found
MAX_COUNT = 2**40  # of grid points on a side
_N_EVERY = 128  # on a side of no more points every one of them is tried
_N_NARROWING = 7  # points between the last that held and the first that did not
_NARROWING_ROUNDS = 5
_CONFIRMING_ROUNDS = 3
_BLOCK_ROWS = 20_000  # the model is asked about at most so many rows at once
_TOLD = -1  # instead of a position: no cell is moved from the told value


@dataclass(frozen=True, eq=False)
class SpreadPoints:
    """Points that are tried on some sides, and what is learned from them."""

    # side, start: (a,), the sides, and the points from after which they are tried
    side: Ints
    start: Ints
    points: Ints  # (a, p), the points of each side, which repeat on a short one
    is_first: Flags  # (a, p), whether a point is the first of equal ones, and not known yet

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

        Shapes: some ``(s,)``, failed ``(s,)``.
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
        """Return the last point that holds and the first that does not, on all sides ``(s,)``."""
        if not self.is_first.any():
            return last, failed
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


@dataclass(frozen=True, eq=False)
class Sides:
    """The sides of all numeric actions, as columns ``(s,)``: all lower ones first."""

    # problem, frame_rows, rows, by_hand: the problem, the rows in the caller's frame, the
    # counterfactuals, and what is done by hand in them
    problem: CounterfactualProblem
    frame_rows: FrameRows
    rows: Array
    by_hand: Array
    # line, position: the counterfactual and the feature that each side belongs to
    line: Ints
    position: Ints
    upward: Flags  # whether a side leads to larger values
    far: Flags  # whether a side leads away from where the feature would be by itself
    # start, grid: the told value and the width of the feature's grid, in raw units
    start: Floats
    grid: Floats
    n_points: Ints  # how many points of the grid there are up to the end of the side

    @classmethod
    def of(
        cls,
        problem: CounterfactualProblem,
        frame_rows: FrameRows,
        rows: Array,
        changes: Array,
        expected: Array,
    ) -> "Sides":
        codec = problem.codec
        acted_on = (changes == Change.ACTION) & codec.is_number & np.isfinite(expected)
        line, position = np.nonzero(acted_on)
        told, by_itself = rows[line, position], expected[line, position]
        grid = _grid(codec)[position]
        unit = grid / codec.span[position]
        limits, sides = problem.limits, []
        for sign, limit in ((-1, limits.action_lower), (1, limits.action_upper)):
            far = (told > by_itself) == (sign > 0)
            ends = sign * by_itself, sign * limit[line, position]
            n_home, n_far = steps_within(*ends, sign * told, unit)
            # At the value that the feature has by itself nothing is done any more.
            count = np.where(far, n_far, np.minimum(n_home - 1, n_far))
            sides.append((np.full_like(far, sign > 0), far, np.clip(count, 0, MAX_COUNT)))
        upward, far, n_points = (np.concatenate(pair) for pair in zip(*sides, strict=True))
        start = raw_cells(codec.raw_units[position], told)
        return cls(
            problem.with_requirement(problem.requirement.without_margin()),
            frame_rows,
            rows,
            done_by_hand(changes),
            np.tile(line, 2),
            np.tile(position, 2),
            upward,
            far,
            np.tile(start, 2),
            np.tile(grid, 2),
            n_points.astype(np.int64),
        )

    def __len__(self) -> int:
        return len(self.line)

    def reach(self, is_over: Callable[[], bool]) -> Ints:
        """Return the last point ``(s,)`` up to which each side holds; -1 where not known.

        All points that were tried up to the last one hold; what was not tried to its end when the
        time is up is not known.
        """
        nothing = np.zeros_like(self.n_points)
        if not len(self) or is_over():
            return nothing - 1
        last, failed = nothing, self.n_points + 1  # the first point known not to hold
        spread = SpreadPoints.spread(self.n_points > 0, nothing, self.n_points)
        lines, of_side = np.unique(self.line, return_inverse=True)
        told = lines, np.full_like(lines, _TOLD), np.zeros(len(lines))
        first = (np.concatenate(pair) for pair in zip(told, self._cells(spread), strict=True))
        holds, kinds = self._check(*first)
        held = holds[of_side] & (kinds[of_side, self.position] == Change.ACTION)
        last, failed = spread.learned(holds[len(lines) :], last, failed)
        is_short = self.n_points <= _N_EVERY
        if not is_over():
            rest = spread.rest(held & is_short, failed)
            holds, _ = self._check(*self._cells(rest))
            last, failed = rest.learned(holds, last, failed)
        held_far = held & ~is_short
        for _ in range(_NARROWING_ROUNDS):
            open_gap = held_far & (failed <= self.n_points) & (failed - last > 1)
            if is_over() or not open_gap.any():
                break
            narrow = SpreadPoints.spread(open_gap, last, failed - 1, _N_NARROWING)
            holds, _ = self._check(*self._cells(narrow))
            last, failed = narrow.learned(holds, last, failed)
        unsure = held_far & (failed <= self.n_points) & (last > 1)
        for _ in range(_CONFIRMING_ROUNDS):
            if is_over() or not unsure.any():
                break
            before = failed
            again = SpreadPoints.spread(unsure, nothing, last)
            holds, _ = self._check(*self._cells(again))
            last, failed = again.learned(holds, last, failed)
            unsure = unsure & (failed < before) & (last > 1)
        few = held_far & (last > N_SPREAD) & (last <= _N_EVERY)
        if not is_over() and few.any():
            every = SpreadPoints.spread(few, nothing, last, _N_EVERY)
            holds, _ = self._check(*self._cells(every))
            last, failed = every.learned(holds, last, failed)
        if is_over():
            return np.full_like(last, -1)
        return np.where(held, last, -1)

    def _cells(self, points: SpreadPoints) -> tuple[Ints, Ints, Floats]:
        """Return the counterfactual, the feature and the entry of each point asked about."""
        side, point = points.asked
        return self.line[side], self.position[side], self._entries(side, point)

    def _check(self, line: Ints, position: Ints, entries: Floats) -> tuple[Flags, NDArray[np.int8]]:
        """Return whether advice holds with one cell at another value, and what became of all cells.

        Shapes: line ``(a,)``, position, entries ``(a,)``.
        """
        holds, kinds = [], []
        if not len(line):
            return np.zeros(0, np.bool_), np.zeros((0, self.rows.shape[1]), np.int8)
        for start in range(0, len(line), _BLOCK_ROWS):
            block = slice(start, start + _BLOCK_ROWS)
            lines, wanted, is_told = line[block], self.rows[line[block]], position[block] == _TOLD
            own = np.maximum(position[block], 0)[:, None]
            before = np.take_along_axis(wanted, own, 1)
            moved_to = np.where(is_told[:, None], before, entries[block, None])
            wanted = scatter(wanted, 1, own, moved_to)
            part = self.problem.take(lines)
            realised = part.realise_by_hand(wanted[:, None], self.by_hand[lines][:, None])
            point, changes = realised.point[:, 0], change_kinds(realised)[:, 0]
            check = check_candidates(self.problem, self.frame_rows, lines, point, changes)
            moved = (changes == Change.ACTION) & (point == wanted)
            # The told values must lead to the told row, or nothing is known of their neighbours.
            same = ~cells_differ(check.shown.told(), wanted)
            there = np.where(is_told, same.all(-1), np.take_along_axis(moved, own, 1)[:, 0])
            holds.append(check.passed & there)
            kinds.append(changes)
        return np.concatenate(holds), np.concatenate(kinds)

    def intervals(self, reached: Ints) -> Intervals:
        """Return where the numbers that are acted on may end, given the last point of each side."""
        low, high = np.full(self.rows.shape, np.nan), np.full(self.rows.shape, np.nan)
        open_ends = np.zeros(self.rows.shape, dtype=np.int8)
        ends = self.values(np.maximum(reached, 0))
        is_open = self.far & (reached == self.n_points)
        known = reached >= 0
        known &= np.roll(known, len(self) // 2)  # the other side of the same action
        for upward, column, flag in ((False, low, OPEN_BELOW), (True, high, OPEN_ABOVE)):
            own = known & (self.upward == upward)
            cells = self.line[own], self.position[own]
            column[cells] = ends[own]
            open_ends[cells] += (is_open[own] * flag).astype(np.int8)
        return Intervals(low, high, open_ends)

    def values(self, point: Ints) -> Floats:
        """Return a point of each side in raw units, as it would be shown, ``(s,)``."""
        entries = self._entries(np.arange(len(self)), point)
        values = raw_cells(self.problem.codec.raw_units[self.position], entries)
        return np.where(point > 0, values, self.start)

    def _entries(self, side: Ints, point: Ints) -> Floats:
        """Return points of these sides on the unit range, ``(a,)``."""
        codec, position = self.problem.codec, self.position[side]
        raw = self.start[side] + np.where(self.upward[side], 1.0, -1.0) * point * self.grid[side]
        entries: Floats = unit_numbers(codec, position, raw)
        return entries


def _grid(codec: Codec) -> Floats:
    """Return the width of each feature's grid in raw units, ``(f,)``."""
    grid: Floats = np.where(codec.resolution > 0, codec.resolution, MIN_CHANGE * codec.span)
    return grid
