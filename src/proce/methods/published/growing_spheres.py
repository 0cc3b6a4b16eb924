"""Growing Spheres (Laugel et al. 2017, arXiv:1712.08443): draw further out until the class flips.

Algorithm 1 of the paper draws candidates in a ball that shrinks and in shells that grow; its
Algorithm 2 puts features of the result back as they were. Distances are Euclidean on the unit
range of the training rows: ranks of an ordinal feature are numbers on it, and another level of a
categorical feature is 1 away.
"""

from dataclasses import dataclass

import numpy as np

from proce.arguments import check_count
from proce.arrays import Array, Flags, Floats, Ints, blocks
from proce.compiled.streams import Purpose, RowStreams
from proce.errors import SearchError
from proce.methods.calls.method import ProgressCallback
from proce.methods.calls.options import check_above
from proce.methods.published.published import Published
from proce.methods.published.task import Candidates, CommonFit, Task
from proce.schema import Categorical, MixedDistance


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
        failed = np.flatnonzero(~found & ~unfinished).tolist()
        notes = {
            position: _failure_note(task, position, float(spheres.inner[position]))
            for position in failed
        }
        return Candidates(rows[:, None], found[:, None], unfinished, notes=notes)

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
        from proce.methods.published.shells import Shells, write_candidates

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
        """Keep the nearest candidate that reached the target; then shrink, grow, or end.

        A ball that holds the target class is halved. The first ball or shell that does not is
        followed by the next shell around it, and the first shell that does ends the row.
        """
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

    def _distance_to(self, task: Task, rows: Array, positions: Array) -> Array:
        """Return how far candidates ``(a, c, f)`` are from their rows, ``(a, c)``."""
        return np.sqrt(np.square(self.distance(rows, task.factual[positions][:, None])).sum(-1))


def select_features(task: Task, rows: Array, positions: Array) -> Array:
    """Return rows ``(i, f)`` whose features are put back where the class holds (Algorithm 2).

    Shapes: positions ``(a,)``.
    """
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


def _failure_note(task: Task, position: int, radius: float) -> str:
    """Return why a row has no counterfactual."""
    if not bool(task.genome.movable[position].any()):
        return "No feature of this row may move."
    if task.evaluations_left[position] <= 0:
        return "max_evaluations was reached before a candidate of the target class was drawn."
    return f"No candidate within {radius:.3g} of the row, on the unit range, has the target class."
