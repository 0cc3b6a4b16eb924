"""Adam (Kingma and Ba 2015), in NumPy, whose roots are the same on every processor."""

import math
from dataclasses import dataclass

import numpy as np

from proce.arrays import Array


@dataclass(eq=False)
class Adam:
    """The memory of a descent: decaying means of its gradients and of their squares."""

    # mean, square: the means so far, of one shape; zeros before the first step
    mean: Array
    square: Array
    # mean_decay, square_decay: the share of each mean that is left after a step
    mean_decay: float = 0.9
    square_decay: float = 0.999
    least_root: float = 1e-8  # added to the root of the squares, which a step is divided by
    n_steps: int = 0  # how many steps were taken

    def step(self, gradient: Array, squares: Array, rate: float) -> Array:
        """Return how far to move against a gradient, whose squares may be shared by entries."""
        self.n_steps += 1
        self.mean += (1 - self.mean_decay) * (gradient - self.mean)
        self.square *= self.square_decay
        self.square += (1 - self.square_decay) * squares
        root = np.sqrt(self.square) / math.sqrt(1 - self.square_decay**self.n_steps)
        moved: Array = self.mean / (root + self.least_root)
        moved *= rate / (1 - self.mean_decay**self.n_steps)
        return moved
