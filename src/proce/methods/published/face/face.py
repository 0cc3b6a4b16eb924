"""FACE: a path over training rows to one that has the target class (Poyiadzi et al. 2020)."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from proce.errors import SearchError
from proce.explanation.words.values import class_text
from proce.methods.calls.method import Progress, ProgressCallback
from proce.methods.published.face.graph import FaceSettings, placed
from proce.methods.published.face.regions import Region, Regions, distinct, regions_of
from proce.methods.published.published import Published
from proce.methods.published.task import Candidates, Learnt, Task

_ASKED_AT_ONCE = 256  # candidates of a row that the model is asked about in one call, at most
_ALONE = (
    "No training row has the values that must stay and the missing cells of this one, so there is"
    " nothing to walk over."
)


@dataclass(frozen=True, eq=False)
class _Found:
    """What one row gets: counterfactuals, the ways there, and a word where there are none."""

    rows: Tensor
    steps: tuple[Tensor, ...] = ()
    note: str | None = None
    unfinished: bool = False


class Face(Published[FaceSettings]):
    """FACE: the shortest path over dense training rows to one that has the target class.

    The counterfactual is a training row that the model is sure of, and ``Explanation.path()``
    leads there over rows that exist.
    """

    Settings = FaceSettings

    def _prepare(self, learnt: Learnt, progress: ProgressCallback | None) -> Regions:
        settings: FaceSettings = self.settings_
        rows = distinct(learnt.rows)
        if len(rows) <= settings.n_neighbours:
            raise SearchError(
                f"the training frame has {len(rows)} different rows, and n_neighbours is"
                f" {settings.n_neighbours}; expected more rows than neighbours. Lower"
                " n_neighbours in FaceSettings, or fit on more rows."
            )
        regions = regions_of(learnt, rows, settings)
        if progress is not None:
            progress(Progress("fit", 1, 1))
        return regions

    def _find(self, task: Task) -> Candidates:
        found = []
        for at in range(len(task)):
            task.tell(at + 1)
            found.append(self._of(task, at))
        rows = task.factual[:, None].expand(-1, task.n, -1).clone()
        flags = torch.zeros(len(task), task.n, dtype=torch.bool)
        for at, each in enumerate(found):
            rows[at, : len(each.rows)] = each.rows
            flags[at, : len(each.rows)] = True
        return Candidates(
            rows,
            flags,
            torch.tensor([each.unfinished for each in found]),
            tuple(each.steps for each in found),
            {at: each.note for at, each in enumerate(found) if each.note},
        )

    def _of(self, task: Task, at: int) -> _Found:
        """Return the counterfactuals of one row."""
        settings: FaceSettings = self.settings_
        regions: Regions = self.prepared_
        factual, target = task.factual[at], int(task.target[at])
        nothing = factual.new_zeros(0, len(factual))
        if task.over:
            return _Found(nothing, unfinished=True)
        region = regions.around(factual)
        if region is None:
            return _Found(nothing, note=_ALONE)
        allowed = task.allowed(region.rows[None], torch.tensor([at]))[0]
        ends = region.confident(target, settings.confidence) & allowed
        if not bool(ends.any()):
            return _Found(nothing, note=_no_end(task, target, allowed, settings))
        point = placed(regions.codec, factual[None])[0]
        near = region.near(point, allowed, settings.n_neighbours, regions.epsilon)
        paths = region.shortest(*near, allowed)
        order = paths.costs.argsort(stable=True)
        order = order[(ends & paths.costs.isfinite())[order]]
        if not len(order):
            return _Found(nothing, note=_no_path(settings, regions.epsilon))
        kept, unfinished = self._confirmed(task, at, region, order)
        steps = tuple(_changing(region.rows[paths.to(int(end))], factual) for end in kept)
        note = None if len(kept) or unfinished else _none_holds(task, at, len(order))
        return _Found(region.rows[kept], steps, note, unfinished)

    def _confirmed(self, task: Task, at: int, region: Region, order: Tensor) -> tuple[Tensor, bool]:
        """Ask about rows from the best on; return the first n that hold, and if time ran out."""
        kept: list[Tensor] = []
        missing, asked = task.n, 0
        among = torch.tensor([at])
        while missing and asked < len(order) and int(task.left[at]) > 0:
            if task.over:
                return _joined(kept), True
            part = order[asked : asked + min(max(missing, asked), _ASKED_AT_ONCE)]
            flags, _ = task.reached(region.rows[part][None], among)
            kept.append(part[flags[0]][:missing])
            missing, asked = missing - len(kept[-1]), asked + len(part)
        return _joined(kept), False


def _joined(parts: list[Tensor]) -> Tensor:
    return torch.cat(parts) if parts else torch.zeros(0, dtype=torch.long)


def _changing(steps: Tensor, factual: Tensor) -> Tensor:
    """Leave out a first step that is the person, who may be among the training rows."""
    same = (steps[0] == factual) | (steps[0].isnan() & factual.isnan())
    return steps[1:] if bool(same.all()) else steps


def _no_end(task: Task, target: int, allowed: Tensor, settings: FaceSettings) -> str:
    label = class_text(task.learnt.classifier.classes[target])
    return (
        f"Of the {int(allowed.sum()):,} training rows that may be reached, the model puts none that"
        f" is dense enough in {label} with a probability of at least {settings.confidence:g}; let"
        " more features move, or lower confidence in FaceSettings."
    )


def _no_path(settings: FaceSettings, epsilon: float) -> str:
    told = f"n_neighbours above {settings.n_neighbours}"
    if math.isfinite(epsilon):
        told += f", or epsilon above {epsilon:.3g}"
    return f"No path leads to a row of the target; more rows are linked with {told}."


def _none_holds(task: Task, at: int, n_ends: int) -> str:
    if int(task.left[at]) <= 0:
        return "The evaluations were used up before a row was confirmed; raise max_evaluations."
    return (
        f"A path leads to {n_ends} rows of the target, but none of them holds: each breaks a rule"
        " of reject_by, or the model no longer says the same of it."
    )
