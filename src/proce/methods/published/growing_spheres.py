"""Growing Spheres (Laugel et al. 2017, arXiv:1712.08443): draw further out until the class flips.

Algorithm 1 of the paper draws candidates in a ball that shrinks and in shells that grow; its
Algorithm 2 puts features of the result back as they were. Distances are Euclidean on the unit
range of the training rows: ranks of an ordinal feature are numbers on it, and another level of a
categorical feature is 1 away.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from proce.arguments import check_count
from proce.arrays import Array, Flags, Floats, Ints, Words, blocks
from proce.compiled.elementary import power, value_above
from proce.compiled.kernel import kernel, part
from proce.compiled.streams import Purpose, RowStreams, lower_half, upper_half
from proce.errors import SearchError
from proce.methods.calls.method import ProgressCallback
from proce.methods.calls.options import check_above
from proce.methods.published.published import Published
from proce.methods.published.task import Candidates, CommonFit, Task
from proce.schema import Categorical, MixedDistance
from proce.search.genome import another_level

_HALF_STEP = 2.0**-33  # of a draw of 32 bits: the quantile of 0 would be infinite
_LEVEL_OFFSET = 0.5  # another level is 1 away, and a coordinate beyond this rounds onto it


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowingSpheresSettings:
    """Settings of Growing Spheres: how densely and how far candidates are drawn.

    Attributes
    ----------
    n_candidates
        How many candidates are drawn in each ball and shell.
    first_radius
        The radius of the first ball, on the unit range of the training rows. It is also the width
        of the shells, unless the ball holds a row of the target class and shrinks.
    max_rounds
        How many balls and shells are tried, at most.
    """

    n_candidates: int = 2000
    first_radius: float = 0.1
    max_rounds: int = 100

    def __post_init__(self) -> None:
        check_count("n_candidates", self.n_candidates, SearchError)
        check_count("max_rounds", self.max_rounds, SearchError)
        check_above("first_radius", self.first_radius, 0, "; 0.1 is a tenth of a feature's range")


class GrowingSpheres(Published[GrowingSpheresSettings]):
    """A ball that shrinks until the class is the same all over it, then shells around it.

    The nearest candidate of the target class is taken, and its features are put back one by
    one, the smallest move first, as long as the class holds. One counterfactual a row.
    """

    Settings = GrowingSpheresSettings
    cells_at_once: int = 2**21  # of drawn candidates; bounds memory and does not change results

    def _prepare(self, common: CommonFit, progress: ProgressCallback | None) -> None:
        """Learn nothing: the method needs the model alone."""

    def _find(self, task: Task) -> Candidates:
        spheres = _Spheres.around(task, float(self.settings_.first_radius))
        self._draw_until_reached(task, spheres)
        unfinished = np.zeros(len(task), dtype=np.bool_)
        if task.over:
            unfinished[spheres.open_rows(task)] = True
        found = np.isfinite(spheres.best_distance)
        rows = select_features(task, spheres.best_rows, np.flatnonzero(found))
        candidates = Candidates(rows[:, None], found[:, None], unfinished)
        candidates.note_failures(task, spheres.failure_note)
        return candidates

    def _draw_until_reached(self, task: Task, spheres: "_Spheres") -> None:
        """Draw candidates around each row until one has the target class (Algorithm 1)."""
        streams, count = task.streams, self.settings_.n_candidates
        rows_at_once = max(1, self.cells_at_once // (count * task.factual.shape[1]))
        for number in range(self.settings_.max_rounds):
            open_rows = spheres.open_rows(task)
            if not len(open_rows) or task.over:
                break
            for positions in blocks(open_rows, rows_at_once):
                drawn = spheres.draw(task, positions, streams.take(positions), number, count)
                candidates = task.repair(drawn, positions)
                reached, _ = task.reached(candidates, positions)
                spheres.update(task, positions, candidates, reached)
            task.report(number + 1)


@dataclass(eq=False)
class _Spheres:
    """The shell around each row, and the nearest candidate of the target class so far."""

    distance: MixedDistance  # the distance of each feature, on the unit range
    # inner, outer, width: (i,), the radii of the shell that is drawn from next, and how much it
    # grows
    inner: Floats
    outer: Floats
    width: Floats
    growing: Flags  # (i,), whether the ball of a row no longer shrinks
    done: Flags  # (i,), whether no more candidates are drawn for a row
    # best_rows, best_distance: (i, f) and (i,), the nearest candidate of the target class and its
    # distance, which is infinite before the first
    best_rows: Floats
    best_distance: Floats

    @classmethod
    def around(cls, task: Task, radius: float) -> "_Spheres":
        """Return balls of one radius around the rows of a task."""
        radii = np.full(len(task), radius)
        return cls(
            MixedDistance.gower(task.common.codec),
            np.zeros_like(radii),
            radii.copy(),
            radii.copy(),
            np.zeros(len(task), np.bool_),
            np.logical_not(task.genome.movable.any(-1)),
            task.genome.anchor.copy(),
            np.full_like(radii, np.inf),
        )

    def open_rows(self, task: Task) -> Ints:
        """Return the positions of the rows that are not done and have evaluations left."""
        return np.flatnonzero(~self.done & (task.evaluations_left > 0))

    def draw(
        self, task: Task, positions: Ints, streams: RowStreams, number: int, count: int
    ) -> Floats:
        """Draw candidates ``(a, count, f)`` uniformly in the shells of some rows."""
        centre = task.genome.anchor[positions]
        codec, (n_rows, n_features) = task.common.codec, centre.shape
        words = streams.bits(number, Purpose.SHELL, count * (n_features + 1))
        words = words.reshape(n_rows, count, n_features + 1)
        n_levels = [len(f.levels) if isinstance(f, Categorical) else 0 for f in codec.schema]
        rows = np.repeat(centre[:, None], count, axis=1)
        movable = task.genome.movable[positions]
        shells = Shells(movable, self.inner[positions], self.outer[positions])
        write_candidates(words, shells, np.array(n_levels), codec.reach, rows)
        return rows

    def update(self, task: Task, positions: Array, candidates: Array, reached: Array) -> None:
        """Keep the nearest candidate that reached the target; then shrink, grow, or end."""
        # A ball that holds the target class is halved. The first ball or shell that does not is
        # followed by the next shell around it, and the first shell that does ends the row.
        distance = self._distance_to(task, candidates, positions)
        distance = np.where(reached, distance, np.inf)
        place = distance.argmin(1)
        nearest = distance[np.arange(len(positions)), place]
        better = nearest < self.best_distance[positions]
        improved = positions[better]
        self.best_distance[improved] = nearest[better]
        self.best_rows[improved] = candidates[better, place[better]]
        hit = reached.any(1)
        anchor = task.genome.anchor[positions][:, None]
        nothing_nearer = nearest <= self._distance_to(task, anchor, positions)[:, 0]
        self.done[positions[hit & (self.growing[positions] | nothing_nearer)]] = True
        shrinking, beyond = positions[hit], positions[~hit]
        self.width[shrinking] /= 2
        self.outer[shrinking] = self.width[shrinking]
        self.growing[beyond] = True
        self.inner[beyond] = self.outer[beyond]
        self.outer[beyond] += self.width[beyond]

    def failure_note(self, position: int) -> str:
        """Return why nothing was found for a row that may move."""
        radius = float(self.inner[position])
        return (
            f"No candidate within {radius:.3g} of the row, on the unit range, has the target class."
        )

    def _distance_to(self, task: Task, rows: Array, positions: Array) -> Array:
        """Return how far candidates ``(a, c, f)`` are from their rows, ``(a, c)``."""
        return np.sqrt(np.square(self.distance(rows, task.factual[positions][:, None])).sum(-1))


def select_features(task: Task, rows: Array, positions: Array) -> Array:
    """Return rows ``(i, f)`` whose features are put back where the class holds (Algorithm 2)."""
    # Shapes: positions ``(a,)``.
    rows, start = rows.copy(), task.genome.anchor
    moves = MixedDistance.gower(task.common.codec)(rows, start)
    smallest_first = np.argsort(moves, axis=-1, kind="stable")
    for turn in range(rows.shape[1]):
        feature = smallest_first[:, turn]  # (i,)
        moved = np.take_along_axis(moves, feature[:, None], 1).squeeze(1) > 0
        tried = positions[moved[positions]]
        if not len(tried) or task.over:
            continue
        simpler = rows[tried]
        simpler[np.arange(len(tried)), feature[tried]] = start[tried, feature[tried]]
        holds = task.reached(simpler[:, None], tried)[0].squeeze(1)
        rows[tried[holds]] = simpler[holds]
    return rows


class Shells(NamedTuple):
    """The space between two spheres around each of some rows."""

    movable: Flags  # (a, d), which coordinates of a row may differ from 0; at least one
    # inner, outer: (a,), the radii of the spheres
    inner: Floats
    outer: Floats


def points_in_shells(draws: Floats, shells: Shells) -> Floats:
    """Return points ``(a, c, d)`` around the origin, uniform in the shell of each of some rows."""
    # ``draws (a, c, d + 1)`` are numbers between 0 and 1: one for each coordinate, excluding 0 and
    # 1, and then one for the radius.
    points = np.empty((*draws.shape[:2], draws.shape[2] - 1))
    _write_points(draws, shells, points)
    return points


@part
def radius_in_shell(inner: float, outer: float, n_dimensions: int, share: float) -> float:
    """Return the radius within which a share of the volume between two spheres lies."""
    # The share of a ball's volume within a radius is the radius's share, to the power of the number
    # of dimensions.
    hollow = power(inner / outer, float(n_dimensions))
    return outer * power(hollow + (1.0 - hollow) * share, 1.0 / n_dimensions)


@kernel
def _write_points(draws: Floats, shells: Shells, points: Floats) -> None:
    """Write points ``(a, c, d)`` as :func:`points_in_shells` returns them."""
    for row in range(len(points)):
        for place in range(points.shape[1]):
            _write_point(draws[row, place], shells, row, points[row, place])


@kernel
def write_candidates(
    words: Words, shells: Shells, n_levels: Ints, reach: Floats, rows: Floats
) -> None:
    """Move rows ``(a, c, f)``, all of a person alike, to points that are uniform in a shell.

    The upper halves of ``words (a, c, f + 1)`` draw the point. A feature with ``n_levels (f,)``
    whose coordinate is large takes another of them, by the lower half; one without moves by its
    coordinate times its ``reach (f,)``.
    """
    n_features = rows.shape[2]
    draws, offset = np.empty(n_features + 1), np.empty(n_features)
    for row in range(len(rows)):
        for place in range(rows.shape[1]):
            for feature in range(n_features):
                draws[feature] = upper_half(words[row, place, feature]) + _HALF_STEP
            draws[n_features] = upper_half(words[row, place, n_features])
            _write_point(draws, shells, row, offset)
            for feature in range(n_features):
                own, last = rows[row, place, feature], n_levels[feature] - 1.0
                if last < 0:
                    rows[row, place, feature] = own + offset[feature] * reach[feature]
                elif abs(offset[feature]) >= _LEVEL_OFFSET:
                    share = lower_half(words[row, place, feature])
                    rows[row, place, feature] = another_level(own, 0.0, last, share)


@part
def _write_point(draws: Floats, shells: Shells, row: int, point: Floats) -> None:
    """Write a point ``(d,)`` of the shell of a row, at 0 where it may not move."""
    squares, n_dimensions, last = 0.0, 0, len(point)
    for place in range(last):
        moves = shells.movable[row, place]
        point[place] = value_above(draws[place]) if moves else 0.0
        squares += point[place] * point[place]
        n_dimensions += moves
    radius = radius_in_shell(shells.inner[row], shells.outer[row], n_dimensions, draws[last])
    norm = math.sqrt(squares)
    for place in range(last):
        point[place] = point[place] / norm * radius
