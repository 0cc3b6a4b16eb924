"""FACE (Poyiadzi et al. 2020, arXiv:1909.09369): the shortest path over dense training rows.

As in the paper's Algorithm 1, rows are linked to those near them, edges are weighted by the
density on them, and the shortest paths lead to rows of the target class that are confident and
dense enough.
"""

import math
from dataclasses import dataclass

import numpy as np

from proce.arrays import Array, cells_differ
from proce.compiled.copies import distinct
from proce.errors import SearchError
from proce.explanation.words.values import class_text
from proce.methods.calls.method import Progress, ProgressCallback
from proce.methods.published.collector import CounterfactualCollector
from proce.methods.published.face.graph import FaceSettings, points_of
from proce.methods.published.face.regions import PathRegion, PathRegions
from proce.methods.published.published import Published
from proce.methods.published.task import Candidates, CommonFit, Task

_MAX_ROWS_PER_CALL = 256  # candidates of a row that the model is asked about in one call, at most
_NO_REGION_NOTE = (
    "No training row has the values that must stay and the missing cells of this one, so there is"
    " nothing to walk over."
)


@dataclass(frozen=True, eq=False)
class _RowResult:
    """What was found for one row.

    Attributes
    ----------
    rows
        ``(c, f)``, the counterfactuals.
    steps
        The path to each counterfactual.
    note
        Why there are none, if there are none.
    unfinished
        Whether the time ran out.
    """

    rows: Array
    steps: tuple[Array, ...] = ()
    note: str | None = None
    unfinished: bool = False


class Face(Published[FaceSettings]):
    """FACE: the shortest path over dense training rows to one that has the target class.

    The counterfactual is a training row that the model is sure of, and ``Explanation.path()``
    leads there over rows that exist.
    """

    Settings = FaceSettings

    def _prepare(self, common: CommonFit, progress: ProgressCallback | None) -> PathRegions:
        settings: FaceSettings = self.settings_
        positions = distinct(common.rows)
        if len(positions) <= settings.n_neighbours:
            raise SearchError(
                f"the training frame has {len(positions)} different rows, and n_neighbours is"
                f" {settings.n_neighbours}; expected more rows than neighbours. Lower"
                " n_neighbours in FaceSettings, or fit on more rows."
            )
        regions = PathRegions.fit(common, positions, settings)
        if progress is not None:
            progress(Progress("fit", 1, 1))
        return regions

    def _find(self, task: Task) -> Candidates:
        results = []
        for position in range(len(task)):
            task.report(position + 1)
            results.append(self._find_paths(task, position))
        collector = CounterfactualCollector.empty(task)
        for position, result in enumerate(results):
            collector.fill(position, result.rows)
        return Candidates(
            collector.rows,
            collector.filled,
            np.array([result.unfinished for result in results]),
            tuple(result.steps for result in results),
            {position: result.note for position, result in enumerate(results) if result.note},
        )

    def _find_paths(self, task: Task, position: int) -> _RowResult:
        """Return the counterfactuals of one row and the paths to them."""
        settings: FaceSettings = self.settings_
        regions: PathRegions = self.prepared_
        factual, target = task.factual[position], int(task.target[position])
        nothing = np.zeros((0, len(factual)), dtype=factual.dtype)
        if task.over:
            return _RowResult(nothing, unfinished=True)
        region = regions.around(factual)
        if region is None:
            return _RowResult(nothing, note=_NO_REGION_NOTE)
        allowed = task.allowed(region.rows[None], np.array([position]))[0]
        ends = region.confident(target, settings.confidence) & allowed
        if not bool(ends.any()):
            return _RowResult(nothing, note=_no_end_note(task, target, allowed, settings))
        point = points_of(regions.codec, factual[None])[0]
        linked, weights = region.link(point, allowed, settings.n_neighbours, regions.epsilon)
        paths = region.shortest_paths(linked, weights, allowed)
        order = np.argsort(paths.costs, axis=-1, kind="stable")
        order = order[(ends & np.isfinite(paths.costs))[order]]
        if not len(order):
            return _RowResult(nothing, note=_no_path_note(settings, regions.epsilon))
        kept, unfinished = self._confirm(task, position, region, order)
        steps = tuple(_without_factual(region.rows[paths.to(int(end))], factual) for end in kept)
        failed = not len(kept) and not unfinished
        note = _unconfirmed_note(task, position, len(order)) if failed else None
        return _RowResult(region.rows[kept], steps, note, unfinished)

    def _confirm(
        self, task: Task, position: int, region: PathRegion, order: Array
    ) -> tuple[Array, bool]:
        """Ask the model about the ends of paths from the shortest on.

        Returns the first n that are confirmed, and whether the time ran out before.
        """
        confirmed: list[Array] = []
        n_wanted, n_asked = task.n, 0
        only = np.array([position])
        while n_wanted and n_asked < len(order) and int(task.evaluations_left[position]) > 0:
            if task.over:
                return _concatenate(confirmed), True
            part = order[n_asked : n_asked + min(max(n_wanted, n_asked), _MAX_ROWS_PER_CALL)]
            reached, _ = task.reached(region.rows[part][None], only)
            confirmed.append(part[reached[0]][:n_wanted])
            n_wanted, n_asked = n_wanted - len(confirmed[-1]), n_asked + len(part)
        return _concatenate(confirmed), False


def _concatenate(parts: list[Array]) -> Array:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _without_factual(steps: Array, factual: Array) -> Array:
    """Leave out a first step that is the person, who may be among the training rows."""
    return steps if cells_differ(steps[0], factual).any() else steps[1:]


def _no_end_note(task: Task, target: int, allowed: Array, settings: FaceSettings) -> str:
    label = class_text(task.call.context, task.common.classifier.classes[target])
    return (
        f"Of the {int(allowed.sum()):,} training rows that may be reached, the model puts none that"
        f" is dense enough in {label} with a probability of at least {settings.confidence:g}; let"
        " more features move, or lower confidence in FaceSettings."
    )


def _no_path_note(settings: FaceSettings, epsilon: float) -> str:
    advice = f"n_neighbours above {settings.n_neighbours}"
    if math.isfinite(epsilon):
        advice += f", or epsilon above {epsilon:.3g}"
    return f"No path leads to a row of the target; more rows are linked with {advice}."


def _unconfirmed_note(task: Task, position: int, n_ends: int) -> str:
    if int(task.evaluations_left[position]) <= 0:
        return "The evaluations were used up before a row was confirmed; raise max_evaluations."
    return (
        f"A path leads to {n_ends} rows of the target, but none of them holds: each breaks a rule"
        " of reject_by, or the model no longer says the same of it."
    )
