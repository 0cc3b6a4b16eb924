"""When an instance has stopped improving.

How good a front is, is measured by one number: the mean over 16 fixed weights of the smallest
weighted Tchebycheff value ``max_k w_k (f_k - ideal_k) / range_k`` of its feasible candidates. The
front now and the front a window ago are measured with the same ideal and range, those of both
together, so that an ideal that moved cannot pass for progress or hide it.

Only an instance that was feasible a window ago can converge. Before that, a violation that stands
still proves nothing (a tree model is flat between its splits), and stopping early would turn a
late find into 'not found', which is the worst mistake; such an instance runs for all generations.
"""

import math
from collections import deque
from functools import cache
from typing import Self

import torch
from torch import Tensor

from proce.compiled import engine
from proce.search.survival import Population

N_WEIGHTS = 16
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)


class Convergence:
    """Watches the fronts of instances.

    Parameters
    ----------
    improvement
        The share below which an instance has converged.
    window
        How many checks ago the front is that the present one is compared with.
    """

    def __init__(self, improvement: float, window: int) -> None:
        self.improvement = improvement
        self._window = window
        self._fronts: deque[Tensor] = deque(maxlen=window)

    def check(self, population: Population) -> Tensor:
        """Return which instances ``(i,)`` have converged, and remember their fronts."""
        now = population.losses.where(population.front[..., None], torch.inf)  # (i, n, k)
        then = self._fronts[0] if len(self._fronts) == self._window else None
        self._fronts.append(now)
        if then is None:
            return torch.zeros(len(now), dtype=torch.bool, device=now.device)
        before, after = front_values(then, now)
        return torch.isfinite(before) & (before - after <= self.improvement * before)

    def take(self, instances: Tensor) -> Self:
        """Return the watch of some of the instances, given by position."""
        kept = type(self)(self.improvement, self._window)
        kept._fronts.extend(front[instances] for front in self._fronts)
        return kept


def front_values(then: Tensor, now: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean Tchebycheff values ``(i,)`` of two fronts ``(i, n, k)``.

    A candidate outside of a front has losses of +inf; an empty front has the value +inf.
    """
    if engine.use_kernels(now.device):
        return _front_values_compiled(then, now)
    both = torch.cat([then, now], dim=1)
    ideal = both.amin(1, keepdim=True)  # (i, 1, k)
    worst = both.masked_fill(torch.isinf(both), -torch.inf).amax(1, keepdim=True)
    span = (worst - ideal).clamp(min=torch.finfo(both.dtype).tiny)
    weights = tchebycheff_weights(both.shape[-1]).to(both)  # (w, k)
    before, after = (_mean_value(front, ideal, span, weights) for front in (then, now))
    return before, after


def _front_values_compiled(then: Tensor, now: Tensor) -> tuple[Tensor, Tensor]:
    from proce.search.kernels.convergence import front_values as kernel

    before, after = torch.empty(2, len(now), dtype=torch.float64).unbind()
    weights = tchebycheff_weights(now.shape[-1]).numpy()
    kernel(then.numpy(), now.numpy(), weights, before.numpy(), after.numpy())
    return before, after


def _mean_value(front: Tensor, ideal: Tensor, span: Tensor, weights: Tensor) -> Tensor:
    inside = torch.isfinite(front[..., :1])  # (i, n, 1)
    position = ((front - ideal) / span).where(inside, 0.0)
    values = [position[..., o, None] * weight for o, weight in enumerate(weights.T)]  # (i, n, w)
    best = torch.stack(values).amax(0).where(inside, torch.inf).amin(1)  # (i, w)
    # Column by column: the order in which `sum` adds depends on the size of the batch.
    return sum(best.unbind(-1), torch.zeros_like(best[:, 0])) / N_WEIGHTS


@cache
def tchebycheff_weights(k: int) -> Tensor:
    """Return 16 weights ``(w, k)`` that sum to 1: the corners first, then points spread inside."""
    host = torch.device("cpu")  # the weights are kept, wherever the first search runs
    corners = torch.eye(k, dtype=torch.float64, device=host)[:N_WEIGHTS]
    n_inside = N_WEIGHTS - len(corners)
    inside = torch.tensor(
        [
            [-math.log(_halton(n, _PRIMES[o % len(_PRIMES)])) for o in range(k)]
            for n in range(1, n_inside + 1)
        ],
        dtype=torch.float64,
        device=host,
    ).reshape(n_inside, k)
    return torch.cat([corners, inside / inside.sum(-1, keepdim=True)])


def _halton(n: int, prime: int) -> float:
    value, share = 0.0, 1.0
    while n:
        share /= prime
        n, digit = divmod(n, prime)
        value += digit * share
    return value
