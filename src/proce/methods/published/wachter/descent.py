"""Adam with a distance that has a kink: features that are not worth a move stay where they are."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from proce.adam import Adam
from proce.arrays import Flags, Floats, Ints
from proce.methods.published.task import Task
from proce.methods.published.wachter.relaxation import FeasibleSet
from proce.schema import MixedDistance

# The decay rates of Adam. A descent has a few dozen steps, in which what began to move must be able
# to return: longer memories than these leave it on the way.
_MEAN_DECAY, _SQUARE_DECAY = 0.5, 0.5
_LEAST_ROOT = 1e-12  # Adam divides by a root, which must not be zero


@dataclass(frozen=True, eq=False)
class Descent:
    """Descends on ``λ · loss(p(target)) + distance`` from the rows of a task.

    Every row has an optimiser of its own, so that a row goes the same way in any batch. Adam
    scales the gradient of each number by itself; the weights of one feature's levels share a
    scale, or each step would favour all levels alike.
    """

    task: Task  # the rows and their targets
    # numbers over their scale; a level costs the weight that it takes from the own level
    distance: MixedDistance
    loss: str  # squared or cross_entropy

    def run(
        self,
        feasible: FeasibleSet,
        points: Floats,
        trade_off: Floats,
        positions: Ints,
        *,
        n_steps: int,
        step_size: float,
    ) -> Floats:
        """Return where the descents of some rows end.

        Shapes: points ``(a, w)``, trade_off ``(a,)``, positions ``(a,)``.
        """
        zeros = np.zeros_like(points)
        adam = Adam(zeros, zeros.copy(), _MEAN_DECAY, _SQUARE_DECAY, _LEAST_ROOT)
        for step in range(n_steps):
            if self.task.over:
                break
            gradient = self._gradient(feasible, points, trade_off, positions)
            shared = _share_largest(feasible, np.square(gradient))
            move = adam.step(gradient, shared, step_size * (1 - step / n_steps))
            moved = feasible.project(points - feasible.relaxed.span * move)
            # A number that would pass its own value stops there: beyond it the distance grows.
            crossed = (points - feasible.start) * (moved - feasible.start) < 0
            points = np.where(crossed, feasible.start, moved)
        return points

    def smallest_trade_off(self, feasible: FeasibleSet) -> Floats:
        """Return the λ ``(i,)`` above which a feature begins to move; infinite where none can."""
        slope = self._loss_gradient(feasible.start, np.arange(len(self.task)))
        relaxed, start = feasible.relaxed, feasible.start
        has_room = np.where(slope < 0, feasible.upper - start, start - feasible.lower) > 0
        pull = np.abs(slope) / self._unit_cost(feasible) * (has_room & feasible.movable)
        number_pull = pull[:, relaxed.number_columns].max(1, initial=0.0)
        own = relaxed.weights_by_feature(slope * start, 0.0).sum(-1, keepdims=True)
        gain = own - relaxed.weights_by_feature(slope, 0.0)
        gain = np.where(_permitted_levels(feasible), gain, 0.0)
        level_pull = gain.max((1, 2), initial=0.0)
        with np.errstate(divide="ignore"):  # where nothing pulls, no λ is enough
            return 1 / np.maximum(number_pull, level_pull)

    def _gradient(
        self, feasible: FeasibleSet, points: Floats, trade_off: Floats, positions: Ints
    ) -> Floats:
        """Return the gradient ``(a, w)`` of loss and distance together.

        A number at the person's own value, where the distance has its kink, has a gradient only
        where the loss pulls harder than the distance.
        """
        slope = trade_off[:, None] * self._loss_gradient(points, positions) * feasible.movable
        unit_cost = self._unit_cost(feasible)
        offset = points - feasible.start
        at_kink = slope - np.minimum(np.maximum(slope, -unit_cost), unit_cost)
        numbers = np.where(offset == 0, at_kink, slope + np.sign(offset) * unit_cost)
        return _centre_weights(feasible, numbers, slope - feasible.start)

    def _loss_gradient(self, points: Floats, positions: Ints) -> Floats:
        """Return the gradient of the loss alone, which costs every row an evaluation."""
        from proce.methods.published.wachter.loss_gradient import loss_gradient

        network: Any = self.task.common.classifier
        slope = loss_gradient(network, points, self.task.target[positions], self.loss)
        self.task.pay(positions)
        return slope

    def _unit_cost(self, feasible: FeasibleSet) -> Floats:
        """Return what a unit of each column adds to the distance, ``(w,)``."""
        return 1 / self.distance.scale[feasible.relaxed.encoding.source]


def _permitted_levels(feasible: FeasibleSet) -> Flags:
    """Return which levels may have weight, by feature, ``(i, b, l)``."""
    return feasible.relaxed.weights_by_feature(feasible.upper * feasible.movable, 0.0) > 0


def _centre_weights(feasible: FeasibleSet, numbers: Floats, weights: Floats) -> Floats:
    """Return a gradient ``(a, w)`` of numbers, and of level weights less their mean.

    What the weights of a feature have in common cannot move them, because they sum to one.
    """
    permitted = _permitted_levels(feasible)
    blocks = feasible.relaxed.weights_by_feature(weights, 0.0) * permitted
    count = np.maximum(permitted.sum(-1, keepdims=True), 1)
    mean = blocks.sum(-1, keepdims=True) / count
    return feasible.relaxed.with_weights(numbers, (blocks - mean) * permitted)


def _share_largest(feasible: FeasibleSet, squares: Floats) -> Floats:
    """Return squares ``(a, w)`` in which the weights of one feature all have its largest."""
    blocks = feasible.relaxed.weights_by_feature(squares, 0.0)
    largest = np.broadcast_to(blocks.max(-1, initial=0.0, keepdims=True), blocks.shape)
    return feasible.relaxed.with_weights(squares, largest)
