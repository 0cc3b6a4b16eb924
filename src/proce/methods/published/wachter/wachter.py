"""Wachter et al. (2017, arXiv:1711.00399): gradient descent on prediction and distance.

The method minimises ``λ · loss(p(target)) + distance`` (Eq. 2 of the paper), where the distance is
L1 over the median absolute deviation of each feature. λ, the trade-off, is raised until the rounded
row has the target class, then brought back between the last that failed and the first that did not;
last, the way from the row to the result is shortened.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from proce.arguments import check_count, check_fields
from proce.arrays import Array, Flags, Floats, Ints
from proce.classifier import Classifier, DifferentiableClassifier, InputEncoding
from proce.errors import ModelInterfaceError, SearchError, did_you_mean
from proce.methods.calls.method import ProgressCallback
from proce.methods.calls.options import check_above
from proce.methods.published.published import Published
from proce.methods.published.task import Candidates, CommonFit, Task
from proce.methods.published.wachter.descent import Descent
from proce.methods.published.wachter.relaxation import FeasibleSet, RelaxedEncoding
from proce.schema import MixedDistance

Loss = Literal["squared", "cross_entropy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WachterSettings:
    """Settings of Wachter's method.

    Attributes
    ----------
    loss
        ``squared``, (1 - p)², as in the paper, or ``cross_entropy``, -log p, of the target's
        probability.
    n_steps
        How many steps Adam takes for each λ.
    step_size
        The size of the first step for each λ, on the unit range of the training rows; it falls
        to zero.
    growth
        What λ is multiplied by until the class flips, above 1.
    n_raises
        How often λ is raised, at most.
    n_refinements
        How often λ is then brought nearer to the least that is enough.
    n_halvings
        How often the straight way from the row to the result is halved in search of its end.
    """

    loss: Loss = "cross_entropy"
    n_steps: int = 40
    step_size: float = 0.05
    growth: float = 2.0
    n_raises: int = 15
    n_refinements: int = 5
    n_halvings: int = 8

    def __post_init__(self) -> None:
        check_fields(self, SearchError)
        if self.loss not in get_args(Loss):
            raise SearchError(
                f"loss is {self.loss!r}; expected 'squared' or 'cross_entropy'."
                + did_you_mean(self.loss, get_args(Loss))
            )
        check_count("n_steps", self.n_steps, SearchError)
        for name in ("n_raises", "n_refinements", "n_halvings"):
            check_count(name, getattr(self, name), SearchError, minimum=0)
        check_above("step_size", self.step_size, 0)
        check_above("growth", self.growth, 1)


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The space of the descent, and the distance in it."""

    relaxed: RelaxedEncoding
    distance: MixedDistance


class Wachter(Published[WachterSettings]):
    """Gradient descent from the row towards the target class, with λ raised until it flips.

    The model must have gradients: a ``torch.nn.Module``, or a network of
    ``proce.classifier.fit_network``. One counterfactual a row.
    """

    Settings = WachterSettings

    def _prepare(self, common: CommonFit, progress: ProgressCallback | None) -> _Prepared:
        encoding = _checked_encoding(common.classifier, common.rows[:1])
        relaxed = RelaxedEncoding.of(encoding, common.codec.schema)
        return _Prepared(relaxed, MixedDistance.by_deviation(common.codec, common.rows))

    def _find(self, task: Task) -> Candidates:
        settings, prepared = self.settings_, self.prepared_
        feasible = prepared.relaxed.feasible_set(task.genome)
        descent = Descent(task, prepared.distance, settings.loss)
        search = _TradeOffSearch.begin(task, feasible, descent)
        for number in range(settings.n_raises + settings.n_refinements + 1):
            positions = np.flatnonzero(search.open_rows(task, settings))
            if not len(positions) or task.over:
                break
            part = feasible.take(positions)
            points = descent.run(
                part,
                search.points[positions],
                search.trade_off[positions],
                positions,
                n_steps=settings.n_steps,
                step_size=settings.step_size,
            )
            rows = part.round_to_rows(points)
            distance = self._distance_if_reached(task, rows, positions)
            search.update(positions, points, rows, distance, settings)
            task.report(number + 1)
        self._shorten(task, feasible, search)
        unfinished = search.open_rows(task, settings) & task.over
        found = np.isfinite(search.best_distance)
        failed = np.flatnonzero(~found & ~unfinished).tolist()
        notes = {position: search.failure_note(position) for position in failed}
        return Candidates(search.best_rows[:, None], found[:, None], unfinished, notes=notes)

    def _shorten(self, task: Task, feasible: FeasibleSet, search: "_TradeOffSearch") -> None:
        """Look for the smallest share of the way to each result that has the target class."""
        positions = np.flatnonzero(np.isfinite(search.best_distance))
        part, end = feasible.take(positions), search.best_points[positions]
        too_short, enough = np.zeros(len(positions)), np.ones(len(positions))
        for _ in range(self.settings_.n_halvings):
            if not len(positions) or task.over:
                break
            share = (too_short + enough) / 2
            rows = part.round_to_rows(part.start + share[:, None] * (end - part.start))
            distance = self._distance_if_reached(task, rows, positions)
            search.keep_nearest(positions, rows, distance)
            reached = np.isfinite(distance)
            too_short = np.where(reached, too_short, share)
            enough = np.where(reached, share, enough)

    def _distance_if_reached(self, task: Task, rows: Floats, positions: Ints) -> Floats:
        """Ask the model about rows ``(a, f)``; return their distance, infinite if they fail."""
        reached = task.reached(rows[:, None], positions)[0].squeeze(1)
        distance = self.prepared_.distance(rows, task.factual[positions]).sum(-1)
        return np.where(reached, distance, np.inf)


@dataclass(eq=False)
class _TradeOffSearch:
    """The search for the smallest λ of each row that is enough, and the nearest row so far."""

    trade_off: Floats  # (i,), the λ of the next descent
    # failed, enough: (i,), the largest λ that failed, 0 before the first, and the smallest that was
    # enough, infinite before the first
    failed: Floats
    enough: Floats
    # (i, w), where the next descent starts: where the last descent that was enough ended, or the
    # last of all where none was
    points: Floats
    n_tries: Floats  # (i,), how often λ was raised before the class flipped, then how often refined
    done: Flags  # (i,), whether no further λ is tried
    # best_rows, best_distance, best_points: (i, f), (i,) and (i, w), the nearest row that reached
    # the class, its distance, infinite before the first, and the point that it was rounded from
    best_rows: Floats
    best_distance: Floats
    best_points: Floats

    @classmethod
    def begin(cls, task: Task, feasible: FeasibleSet, descent: Descent) -> "_TradeOffSearch":
        """Return a search whose first λ is the smallest at which any feature moves at all."""
        trade_off = descent.smallest_trade_off(feasible)
        return cls(
            trade_off,
            np.zeros_like(trade_off),
            np.full_like(trade_off, np.inf),
            feasible.start.copy(),
            np.zeros_like(trade_off),
            ~np.isfinite(trade_off),
            task.genome.anchor.copy(),
            np.full_like(trade_off, np.inf),
            feasible.start.copy(),
        )

    def open_rows(self, task: Task, settings: WachterSettings) -> Flags:
        """Return which rows are not done and can pay for another descent, ``(i,)``."""
        return ~self.done & (task.evaluations_left > settings.n_steps)

    def update(
        self,
        positions: Ints,
        points: Floats,
        rows: Floats,
        distance: Floats,
        settings: WachterSettings,
    ) -> None:
        """Take in how the descents of some rows ended, and choose their next λ.

        Shapes: positions ``(a,)``, points ``(a, w)``, rows ``(a, f)``, distance ``(a,)``.
        """
        reached, trade_off = np.isfinite(distance), self.trade_off[positions]
        better = self.keep_nearest(positions, rows, distance)
        self.best_points[positions[better]] = points[better]
        flipped_before = np.isfinite(self.enough[positions])
        self.failed[positions[~reached]] = trade_off[~reached]
        self.enough[positions[reached]] = trade_off[reached]
        flipped = reached | flipped_before
        moves_start = reached | ~flipped_before
        self.points[positions[moves_start]] = points[moves_start]
        n_tries = np.where(flipped & ~flipped_before, 0.0, self.n_tries[positions] + 1)
        self.n_tries[positions] = n_tries
        max_tries = np.where(flipped, settings.n_refinements, settings.n_raises + 1)
        self.done[positions] = n_tries >= max_tries
        failed, enough = self.failed[positions], self.enough[positions]
        between = np.where(failed > 0, np.sqrt(failed * enough), enough / settings.growth)
        self.trade_off[positions] = np.where(flipped, between, trade_off * settings.growth)

    def keep_nearest(self, positions: Ints, rows: Floats, distance: Floats) -> Flags:
        """Keep rows that are nearer than the nearest before; return which they are, ``(a,)``."""
        better = distance < self.best_distance[positions]
        self.best_distance[positions[better]] = distance[better]
        self.best_rows[positions[better]] = rows[better]
        return better

    def failure_note(self, position: int) -> str:
        """Return why a row has no counterfactual."""
        if not np.isfinite(self.trade_off[position]):
            return (
                "The model's answer does not change with any feature that may move, so there is"
                " no gradient to follow."
            )
        if not bool(self.done[position]):
            return "max_evaluations was reached before the class flipped."
        return f"The class did not flip up to λ = {float(self.failed[position]):.3g}."


def _checked_encoding(classifier: Classifier, rows: Array) -> InputEncoding:
    """Return the encoding of a model with gradients; refuse a model without."""
    if not isinstance(classifier, DifferentiableClassifier):
        raise ModelInterfaceError(
            "Wachter follows the model's gradient, and this model has none; expected a"
            " torch.nn.Module or what proce.classifier.fit_network returns. Use GrowingSpheres or"
            " Nearest for other models."
        )
    encoding = getattr(classifier, "encoding", None)
    if not isinstance(encoding, InputEncoding):
        raise ModelInterfaceError(
            "Wachter moves the input of the network, and a function that makes the input from a"
            " frame cannot be undone; expected encoding='one_hot' or 'label'. Train the network on"
            " proce.classifier.one_hot(codec)(codec.encode(frame)), or use GrowingSpheres."
        )
    try:
        classifier.gradient(rows, 0)
    except RuntimeError as error:
        raise ModelInterfaceError(
            f"Wachter follows the model's gradient, and asking for it failed: {error}. Return the"
            " output of the network without detach() or no_grad, or use GrowingSpheres."
        ) from error
    return encoding
