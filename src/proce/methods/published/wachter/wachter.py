"""Wachter et al. (2017, arXiv:1711.00399): gradient descent on prediction and distance.

Minimised is ``λ · loss(p(target)) + distance``, the distance being L1 over the median absolute
deviation of each feature. λ is raised until the rounded row has the target class, then brought
back between the last that failed and the first that did not; last, the way there is shortened.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from proce.classifier import Classifier, DifferentiableClassifier, InputEncoding
from proce.errors import ModelInterfaceError, SearchError, did_you_mean
from proce.methods.calls.method import ProgressCallback
from proce.methods.calls.options import check_above, check_count
from proce.methods.published.published import Published
from proce.methods.published.task import Candidates, Learnt, Task
from proce.methods.published.wachter.descent import Descent
from proce.methods.published.wachter.relaxation import Region, Relaxation
from proce.objective import MixedDistance

Loss = Literal["squared", "cross_entropy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WachterSettings:
    """How the descent goes.

    Attributes
    ----------
    loss
        ``squared``, (1 - p)², as in the paper, or ``cross_entropy``, -log p, of the target's
        probability.
    n_steps
        Of Adam for each λ.
    step_size
        Of the first step for each λ, on the unit range of the training rows; it falls to zero.
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
        if self.loss not in get_args(Loss):
            raise SearchError(
                f"loss is {self.loss!r}; expected 'squared' or 'cross_entropy'."
                + did_you_mean(self.loss, get_args(Loss))
            )
        check_count("n_steps", self.n_steps)
        for name in ("n_raises", "n_refinements", "n_halvings"):
            check_count(name, getattr(self, name), least=0)
        check_above("step_size", self.step_size, 0)
        check_above("growth", self.growth, 1)


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The space of the descent, and the distance in it."""

    space: Relaxation
    distance: MixedDistance


class Wachter(Published[WachterSettings]):
    """Gradient descent from the row towards the target class, with λ raised until it flips.

    The model must have gradients: a ``torch.nn.Module``, or a network of
    ``proce.classifier.fit_network``. One counterfactual a row.
    """

    Settings = WachterSettings

    def _prepare(self, learnt: Learnt, progress: ProgressCallback | None) -> _Prepared:
        encoding = _checked_encoding(learnt.classifier, learnt.rows[:1])
        space = Relaxation.of(encoding, learnt.codec.schema)
        return _Prepared(space, MixedDistance.by_deviation(learnt.codec, learnt.rows))

    def _find(self, task: Task) -> Candidates:
        settings, prepared = self.settings_, self.prepared_
        region = prepared.space.region(task.genome)
        descent = Descent(task, prepared.distance, settings.loss)
        search = _Search.begin(task, region, descent)
        for number in range(settings.n_raises + settings.n_refinements + 1):
            among = torch.nonzero(~search.done & (task.left > settings.n_steps)).flatten()
            if not len(among) or task.over:
                break
            part = region.take(among)
            points = descent.run(
                part,
                search.points[among],
                search.weight[among],
                among,
                n_steps=settings.n_steps,
                step_size=settings.step_size,
            )
            rows = part.rounded(points)
            reached = task.reached(rows[:, None], among)[0].squeeze(1)
            away = prepared.distance(rows, task.factual[among]).sum(-1)
            search.learn(among, points, rows, torch.where(reached, away, torch.inf), settings)
            task.tell(number + 1)
        self._pull_back(task, region, search)
        unfinished = ~search.done & (task.left > settings.n_steps) & task.over
        found = search.nearest.isfinite()
        lacking = torch.nonzero(~found & ~unfinished).flatten().tolist()
        notes = {at: search.why(at) for at in lacking}
        return Candidates(search.best[:, None], found[:, None], unfinished, notes=notes)

    def _pull_back(self, task: Task, region: Region, search: "_Search") -> None:
        """Look for the least share of the way to each result that has the target class."""
        among = torch.nonzero(search.nearest.isfinite()).flatten()
        part, end = region.take(among), search.ends[among]
        short, enough = end.new_zeros(len(among)), end.new_ones(len(among))
        for _ in range(self.settings_.n_halvings):
            if not len(among) or task.over:
                break
            share = (short + enough) / 2
            rows = part.rounded(part.start + share[:, None] * (end - part.start))
            reached = task.reached(rows[:, None], among)[0].squeeze(1)
            away = self.prepared_.distance(rows, task.factual[among]).sum(-1)
            search.keep(among, rows, torch.where(reached, away, torch.inf))
            short, enough = torch.where(reached, short, share), torch.where(reached, share, enough)


@dataclass(eq=False)
class _Search:
    """The λ of each row, between one that failed and one that did not; and what was found.

    Attributes
    ----------
    weight, failed, enough
        ``(i,)``, λ now, the largest that failed below the least that was enough, and the latter;
        0 and infinite before.
    points
        ``(i, w)``, where the next descent starts: where the last ended that was enough, or the
        last of all.
    tries
        ``(i,)``, how often λ was raised before the class flipped, then how often refined.
    done
        ``(i,)``.
    best, nearest, ends
        ``(i, f)``, ``(i,)`` and ``(i, w)``, the nearest row found, its distance, infinite
        before, and the point that it was rounded from.
    """

    weight: Tensor
    failed: Tensor
    enough: Tensor
    points: Tensor
    tries: Tensor
    done: Tensor
    best: Tensor
    nearest: Tensor
    ends: Tensor

    @classmethod
    def begin(cls, task: Task, region: Region, descent: Descent) -> "_Search":
        """Return a search whose λ is the least at which any feature moves at all."""
        weight = descent.least_weight(region)
        return cls(
            weight,
            torch.zeros_like(weight),
            torch.full_like(weight, torch.inf),
            region.start.clone(),
            torch.zeros_like(weight),
            ~weight.isfinite(),
            task.genome.anchor.clone(),
            torch.full_like(weight, torch.inf),
            region.start.clone(),
        )

    def learn(
        self, among: Tensor, points: Tensor, rows: Tensor, away: Tensor, settings: WachterSettings
    ) -> None:
        """Take in how the descents of some rows ended; ``away`` is infinite where they failed."""
        there, weight = away.isfinite(), self.weight[among]
        better = self.keep(among, rows, away)
        self.ends[among[better]] = points[better]
        before = self.enough[among].isfinite()
        self.failed[among[~there]] = weight[~there]
        self.enough[among[there]] = weight[there]
        flipped = there | before
        self.points[among[there | ~before]] = points[there | ~before]
        self.tries[among] = torch.where(flipped & ~before, 0.0, self.tries[among] + 1)
        most = torch.where(flipped, settings.n_refinements, settings.n_raises + 1)
        self.done[among] = self.tries[among] >= most
        failed, enough = self.failed[among], self.enough[among]
        between = torch.where(failed > 0, (failed * enough).sqrt(), enough / settings.growth)
        self.weight[among] = torch.where(flipped, between, weight * settings.growth)

    def keep(self, among: Tensor, rows: Tensor, away: Tensor) -> Tensor:
        """Keep rows that are nearer than what was found before; return which, ``(a,)``."""
        better = away < self.nearest[among]
        self.nearest[among[better]] = away[better]
        self.best[among[better]] = rows[better]
        return better

    def why(self, at: int) -> str:
        """Return why a row has no counterfactual."""
        if not bool(self.weight[at].isfinite()):
            return (
                "The model's answer does not change with any feature that may move, so there is"
                " no gradient to follow."
            )
        if not bool(self.done[at]):
            return "max_evaluations was reached before the class flipped."
        return f"The class did not flip up to λ = {float(self.failed[at]):.3g}."


def _checked_encoding(classifier: Classifier, rows: Tensor) -> InputEncoding:
    """Return the encoding of a model with gradients, or say what is missing."""
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
