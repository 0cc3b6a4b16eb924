"""Adam with a distance that has a kink: features that are not worth a move stay where they are."""

from dataclasses import dataclass
from functools import cached_property
from typing import cast

import torch
from torch import Tensor

from proce.classifier import DifferentiableClassifier
from proce.methods.published.task import Task
from proce.methods.published.wachter.relaxation import Region
from proce.objective import MixedDistance

# Of Adam. A descent has a few dozen steps, in which what began to move must be able to return:
# longer memories than these leave it on the way.
_MOMENTUM, _MEMORY, _TINY = 0.5, 0.5, 1e-12


@dataclass(frozen=True, eq=False)
class Descent:
    """Descends on ``λ · loss(p(target)) + distance`` from the rows of a task.

    Every row has an optimiser of its own, so that a row goes the same way in any batch. Adam
    scales the gradient of each number by itself; the weights of one feature's levels share a
    scale, or each step would favour all levels alike.

    Attributes
    ----------
    task
        The rows and their targets.
    distance
        Numbers over their scale; a level costs the weight that it takes from the own level.
    loss
        ``squared`` or ``cross_entropy``.
    """

    task: Task
    distance: MixedDistance
    loss: str

    def run(
        self,
        region: Region,
        points: Tensor,
        weight: Tensor,
        among: Tensor,
        *,
        n_steps: int,
        step_size: float,
    ) -> Tensor:
        """Return where points ``(a, w)`` of the rows at ``among`` end, with their λ ``(a,)``."""
        mean, square = torch.zeros_like(points), torch.zeros_like(points)
        for step in range(n_steps):
            if self.task.over:
                break
            gradient = self._gradient(region, points, weight, among)
            mean = _MOMENTUM * mean + (1 - _MOMENTUM) * gradient
            square = _MEMORY * square + (1 - _MEMORY) * _shared(region, gradient.square())
            rate = step_size * (1 - step / n_steps) / (1 - _MOMENTUM ** (step + 1))
            root = (square / (1 - _MEMORY ** (step + 1))).sqrt() + _TINY
            moved = region.project(points - rate * region.space.span * mean / root)
            # A number that would pass its own value stops there: beyond it the distance grows.
            crossed = (points - region.start) * (moved - region.start) < 0
            points = torch.where(crossed, region.start, moved)
        return points

    def least_weight(self, region: Region) -> Tensor:
        """Return the λ ``(i,)`` above which a feature begins to move; infinite where none can."""
        everyone = torch.arange(len(self.task))
        slope = self._slope(region.start, everyone)
        space, start = region.space, region.start
        room = torch.where(slope < 0, region.upper - start, start - region.lower) > 0
        pull = slope.abs() / self._tension(region) * (room & region.movable)
        numbers = pull[:, space.numbers].amax(1) if len(space.numbers) else slope.new_zeros(1)
        own = space.by_feature(slope * start, 0.0).sum(-1, keepdim=True)
        open_ = space.by_feature(region.upper * region.movable, 0.0) > 0
        levels = torch.where(open_, own - space.by_feature(slope, 0.0), 0.0)
        best = levels.flatten(1).amax(1) if levels.numel() else slope.new_zeros(1)
        return 1 / numbers.maximum(best).expand(len(slope))

    def _gradient(self, region: Region, points: Tensor, weight: Tensor, among: Tensor) -> Tensor:
        """Return the steepest way up of loss and distance together, ``(a, w)``."""
        slope = weight[:, None] * self._slope(points, among) * region.movable
        tension = self._tension(region)
        offset = points - region.start
        held = slope - slope.maximum(-tension).minimum(tension)
        numbers = torch.where(offset == 0, held, slope + offset.sign() * tension)
        return _tangent(region, numbers, slope - region.start)

    def _slope(self, points: Tensor, among: Tensor) -> Tensor:
        """Return the gradient of the loss alone; every row pays an evaluation."""
        classifier = cast(DifferentiableClassifier, self.task.learnt.classifier)
        target = self.task.target[among]
        inputs = points.to(self._like, copy=True).requires_grad_()
        with torch.enable_grad():
            answer = classifier.probabilities(inputs)
            chance = answer.gather(1, target[:, None].to(answer.device)).squeeze(1)
            least = torch.finfo(chance.dtype).tiny
            losses = -chance.clamp(min=least).log() if self.loss != "squared" else (1 - chance) ** 2
        (slope,) = torch.autograd.grad(losses.sum(), inputs)  # rows do not interact
        self.task.pay(among)
        return slope.to(points)

    @cached_property
    def _like(self) -> Tensor:
        """An input of the network, for its dtype and its device."""
        classifier = cast(DifferentiableClassifier, self.task.learnt.classifier)
        return classifier.inputs(self.task.factual[:1])

    def _tension(self, region: Region) -> Tensor:
        """Return what a unit of each column's way costs, ``(w,)``."""
        return 1 / self.distance.scale[region.space.encoding.source]


def _tangent(region: Region, numbers: Tensor, weights: Tensor) -> Tensor:
    """Return a gradient of numbers, and of weights without what the weights have in common."""
    space = region.space
    open_ = space.by_feature(region.upper * region.movable, 0.0) > 0
    blocks = space.by_feature(weights, 0.0) * open_
    centre = blocks.sum(-1, keepdim=True) / open_.sum(-1, keepdim=True).clamp(min=1)
    return space.by_column((blocks - centre) * open_, numbers)


def _shared(region: Region, squares: Tensor) -> Tensor:
    """Return squares ``(a, w)`` in which the weights of one feature all have its largest."""
    blocks = region.space.by_feature(squares, 0.0)
    if not blocks.numel():
        return squares
    return region.space.by_column(blocks.amax(-1, keepdim=True).expand_as(blocks), squares)
