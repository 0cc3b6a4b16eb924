"""Growing Spheres (Laugel et al. 2017, arXiv:1712.08443): draw further out until the class flips.

Distances are Euclidean on the unit range of the training rows: ranks of an ordinal feature are
numbers on it, and another level of a categorical feature is 1 away.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from proce.methods.calls.method import ProgressCallback
from proce.methods.calls.options import check_above, check_count
from proce.methods.published.published import Published
from proce.methods.published.task import Candidates, Learnt, Task
from proce.objective import MixedDistance
from proce.schema import Categorical
from proce.streams import Purpose, RowStreams, halves

_CELLS = 2**21  # of candidates drawn at a time; bounds memory and does not change results
_NEVER_ZERO = 2.0**-33  # half of the last digit: the bell curve has no value at 0
_HALF_WAY = 0.5  # a level is 1 away, and a coordinate beyond this rounds onto another


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowingSpheresSettings:
    """How densely and how far is looked.

    Attributes
    ----------
    n_candidates
        Drawn in each ball and shell.
    first_radius
        Of the first ball, and the width of the shells unless it holds a row of the target class;
        on the unit range of the training rows.
    max_rounds
        Balls and shells, at most.
    """

    n_candidates: int = 2000
    first_radius: float = 0.1
    max_rounds: int = 100

    def __post_init__(self) -> None:
        check_count("n_candidates", self.n_candidates)
        check_count("max_rounds", self.max_rounds)
        check_above("first_radius", self.first_radius, 0, "; 0.1 is a tenth of a feature's range")


class GrowingSpheres(Published[GrowingSpheresSettings]):
    """A ball that shrinks until the class is the same all over it, then shells around it.

    The nearest candidate of the target class is taken, and its features are put back one by
    one, the smallest move first, as long as the class holds. One counterfactual a row.
    """

    Settings = GrowingSpheresSettings

    def _prepare(self, learnt: Learnt, progress: ProgressCallback | None) -> None:
        """Learn nothing: the method needs the model alone."""

    def _find(self, task: Task) -> Candidates:
        spheres = _Spheres.around(task, float(self.settings_.first_radius))
        streams, count = task.streams, self.settings_.n_candidates
        at_once = max(1, _CELLS // (count * task.factual.shape[1]))
        for number in range(self.settings_.max_rounds):
            open_rows = spheres.open_rows(task)
            if not len(open_rows) or task.over:
                break
            for among in torch.split(open_rows, at_once):
                drawn = spheres.candidates(task, among, streams.take(among), number, count)
                candidates = task.repair(drawn, among)
                reached, _ = task.reached(candidates, among)
                spheres.learn(task, among, candidates, reached)
            task.tell(number + 1)
        unfinished = torch.zeros(len(task), dtype=torch.bool)
        if task.over:
            unfinished[spheres.open_rows(task)] = True
        found = spheres.nearest.isfinite()
        rows = sparse(task, spheres.best, torch.nonzero(found).flatten())
        lacking = torch.nonzero(~found & ~unfinished).flatten().tolist()
        notes = {at: _why(task, at, float(spheres.inner[at])) for at in lacking}
        return Candidates(rows[:, None], found[:, None], unfinished, notes=notes)


@dataclass(eq=False)
class _Spheres:
    """The shell around each row, and the nearest candidate of the target class so far.

    Attributes
    ----------
    distance
        Of each feature, on the unit range.
    inner, outer, width
        ``(i,)``, the radii of the shell that is looked at next, and how much it grows.
    growing
        ``(i,)``, rows whose ball no longer shrinks.
    done
        ``(i,)``, rows that are not looked at any more.
    best, nearest
        ``(i, f)`` and ``(i,)``, the candidate and its distance; infinite before the first.
    """

    distance: MixedDistance
    inner: Tensor
    outer: Tensor
    width: Tensor
    growing: Tensor
    done: Tensor
    best: Tensor
    nearest: Tensor

    @classmethod
    def around(cls, task: Task, radius: float) -> "_Spheres":
        """Return balls of one radius around the rows of a task."""
        radii = task.factual.new_full((len(task),), radius)
        return cls(
            MixedDistance.gower(task.learnt.codec),
            torch.zeros_like(radii),
            radii.clone(),
            radii.clone(),
            torch.zeros_like(radii, dtype=torch.bool),
            ~task.genome.movable.any(-1),
            task.genome.anchor.clone(),
            torch.full_like(radii, torch.inf),
        )

    def open_rows(self, task: Task) -> Tensor:
        """Return the positions of the rows that are still looked at and can pay for it."""
        return torch.nonzero(~self.done & (task.left > 0)).flatten()

    def candidates(
        self, task: Task, among: Tensor, streams: RowStreams, number: int, count: int
    ) -> Tensor:
        """Draw candidates ``(a, count, f)`` uniformly in the shells of some rows."""
        centre, movable = task.genome.anchor[among], task.genome.movable[among]
        n_rows, n_features = centre.shape
        bits = streams.bits(number, Purpose.SHELL, count * (n_features + 1))
        bits = bits.reshape(n_rows, count, n_features + 1)
        first, second = halves(bits[..., :-1])
        direction = torch.special.ndtri(first + _NEVER_ZERO) * movable[:, None]
        direction /= direction.norm(dim=-1, keepdim=True)
        radius = in_shell(
            self.inner[among, None],
            self.outer[among, None],
            movable.sum(-1, keepdim=True),
            halves(bits[..., -1])[0],
        )
        offset = direction * radius[..., None]  # (a, count, f), on the unit range
        rows: Tensor = centre[:, None] + offset * task.learnt.codec.reach
        for at, feature in enumerate(task.learnt.codec.schema):
            if isinstance(feature, Categorical):
                own = centre[:, None, at]
                other = (second[..., at] * (len(feature.levels) - 1)).floor()
                other += other >= own
                rows[..., at] = torch.where(offset[..., at].abs() >= _HALF_WAY, other, own)
        return rows

    def learn(self, task: Task, among: Tensor, candidates: Tensor, reached: Tensor) -> None:
        """Keep the nearest that reached the target; shrink, begin to grow, grow, or end."""
        away = self._away(task, candidates, among)
        least, place = torch.where(reached, away, torch.inf).min(1)
        better = least < self.nearest[among]
        at = among[better]
        self.nearest[at] = least[better]
        self.best[at] = candidates[better, place[better]]
        some = reached.any(1)
        nothing_nearer = least <= self._away(task, task.genome.anchor[among][:, None], among)[:, 0]
        self.done[among[some & (self.growing[among] | nothing_nearer)]] = True
        shrinking, beyond = among[some], among[~some]
        self.width[shrinking] /= 2
        self.outer[shrinking] = self.width[shrinking]
        self.growing[beyond] = True
        self.inner[beyond] = self.outer[beyond]
        self.outer[beyond] += self.width[beyond]

    def _away(self, task: Task, rows: Tensor, among: Tensor) -> Tensor:
        """Return how far candidates ``(a, c, f)`` are from their rows, ``(a, c)``."""
        return self.distance(rows, task.factual[among][:, None]).square().sum(-1).sqrt()


def in_shell(inner: Tensor, outer: Tensor, n_dimensions: Tensor, uniform: Tensor) -> Tensor:
    """Return radii at which points are uniform in the volume between two spheres.

    The share of the volume within a radius is its power by the number of dimensions.
    """
    hollow = (inner / outer) ** n_dimensions
    radius: Tensor = outer * (hollow + (1 - hollow) * uniform) ** (1 / n_dimensions)
    return radius


def sparse(task: Task, rows: Tensor, among: Tensor) -> Tensor:
    """Return rows ``(i, f)`` with features put back as they were where the class holds.

    Parameters
    ----------
    task
        The task of the rows.
    rows
        One of the target class for each row at ``among``.
    among
        Positions ``(a,)``; the others stay as they are.
    """
    rows, start = rows.clone(), task.genome.anchor
    moves = MixedDistance.gower(task.learnt.codec)(rows, start)
    order = moves.argsort(dim=-1, stable=True)
    for turn in range(rows.shape[1]):
        feature = order[:, turn]  # (i,)
        moved = moves.gather(1, feature[:, None]).squeeze(1) > 0
        some = among[moved[among]]
        if not len(some) or task.over:
            continue
        simpler = rows[some]
        each = torch.arange(len(some))
        simpler[each, feature[some]] = start[some, feature[some]]
        holds = task.reached(simpler[:, None], some)[0].squeeze(1)
        rows[some[holds]] = simpler[holds]
    return rows


def _why(task: Task, at: int, radius: float) -> str:
    """Return why a row has no counterfactual."""
    if not bool(task.genome.movable[at].any()):
        return "No feature of this row may move."
    if task.left[at] <= 0:
        return "max_evaluations was reached before a candidate of the target class was drawn."
    return f"No candidate within {radius:.3g} of the row, on the unit range, has the target class."
