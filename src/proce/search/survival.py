"""Who lives on: fill by rank, cut the front that does not fit by crowding.

Two implementations choose the same survivors to the last: numba on the CPU, PyTorch on other
devices and where numba is missing. Ties fall by position, so neither has a choice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from proce.search.crowding import Crowding, crowding_distance
from proce.search.kernels import engine
from proce.search.pareto import pareto_rank
from proce.streams import folded

_BLOCK = 32  # instances whose pool and orders fit into the cache together


@dataclass(frozen=True, eq=False)
class Candidates:
    """Genes with what the problem says of them.

    Attributes
    ----------
    genes
        ``(i, c, g)``.
    losses
        ``(i, c, k)``, cleaned.
    violation
        ``(i, c)``, cleaned.
    """

    genes: Tensor
    losses: Tensor
    violation: Tensor


@dataclass(frozen=True, eq=False)
class Population(Candidates):
    """The candidates that live, sorted by rank and falling crowding.

    Of two positions the smaller is the better candidate. Copies of the same genes have losses
    and a violation of +inf, all but one.

    Attributes
    ----------
    rank
        ``(i, c)``, 0 for the first front.
    """

    rank: Tensor

    @property
    def front(self) -> Tensor:
        """Which candidates ``(i, c)`` are feasible and not dominated."""
        return (self.rank == 0) & (self.violation <= 0)

    def take(self, instances: Tensor) -> Self:
        """Return the populations of some of the instances, given by position."""
        tensors = (self.genes, self.losses, self.violation, self.rank)
        return type(self)(*(tensor[instances] for tensor in tensors))


def survive(groups: Sequence[Candidates], size: int, crowding: Crowding) -> Population:
    """Return the best ``size`` candidates of all groups, or all where there are fewer.

    A later copy of the same genes gets losses and a violation of +inf, so that it lives only
    where nothing else is left; refilling its place would cost an evaluation.
    """
    size = min(size, sum(group.violation.shape[1] for group in groups))
    if engine.use_kernels(groups[0].genes.device):
        return _survive_compiled(groups, size, crowding)
    genes, losses, violation = (
        torch.cat(parts, dim=1) for parts in zip(*map(_tensors, groups), strict=True)
    )
    return _survive(genes, losses, violation, size, crowding)


def _tensors(candidates: Candidates) -> tuple[Tensor, Tensor, Tensor]:
    return candidates.genes, candidates.losses, candidates.violation


def _survive(
    genes: Tensor, losses: Tensor, violation: Tensor, size: int, crowding: Crowding
) -> Population:
    copy = _is_copy(genes)
    losses = losses.masked_fill(copy[..., None], torch.inf)
    violation = violation.masked_fill(copy, torch.inf)
    rank = pareto_rank(losses, violation)
    distance = crowding_distance(losses, rank, crowding)
    order = distance.argsort(dim=-1, descending=True, stable=True)
    order = order.gather(-1, rank.gather(-1, order).argsort(dim=-1, stable=True))
    chosen = order[:, :size]  # (i, n)
    wide = chosen[..., None]
    return Population(
        genes.gather(1, wide.expand(-1, -1, genes.shape[-1])),
        losses.gather(1, wide.expand(-1, -1, losses.shape[-1])),
        violation.gather(1, chosen),
        rank.gather(1, chosen),
    )


def _is_copy(genes: Tensor) -> Tensor:
    """Say which candidates ``(i, m)`` have the genes, by their hash, of an earlier one."""
    codes, order = folded(genes).sort(dim=-1, stable=True)
    copy = torch.zeros_like(codes, dtype=torch.bool)
    copy[:, 1:] = codes[:, 1:] == codes[:, :-1]
    return torch.empty_like(copy).scatter_(-1, order, copy)


def _survive_compiled(groups: Sequence[Candidates], size: int, crowding: Crowding) -> Population:
    i, _, g = groups[0].genes.shape
    k = groups[0].losses.shape[2]
    arrays = [[tensor.numpy() for tensor in _tensors(group)] for group in groups]
    survivors = (np.empty((i, size, g)), np.empty((i, size, k)), np.empty((i, size)))
    rank = np.empty((i, size), np.int64)
    for start in range(0, i, _BLOCK):
        block = slice(start, start + _BLOCK)
        pool = [
            np.concatenate([part[block] for part in parts], axis=1)
            for parts in zip(*arrays, strict=True)
        ]
        _choose_compiled(pool, crowding, [each[block] for each in (*survivors, rank)])
    return Population(*map(torch.from_numpy, (*survivors, rank)))


def _choose_compiled(pool: list[Any], crowding: Crowding, survivors: list[Any]) -> None:
    """Write the survivors of a pool; the pool is written too, where it holds copies."""
    from proce.search.kernels import crowding as crowding_kernel
    from proce.search.kernels import pareto, survival

    genes, losses, violation = pool
    (i, m, k), size = losses.shape, survivors[0].shape[1]
    order, below = np.empty((i, k, m), np.int64), np.empty((i, k, m), np.int64)
    rank, distance = np.empty((i, m), np.int64), np.empty((i, m))
    survival.break_duplicates(genes.view(np.uint64), losses, violation)
    pareto.objective_orders(losses.view(np.int64), order, below)
    pareto.rank_feasible(violation, order, below, size, rank)
    pareto.rank_infeasible(violation, violation.view(np.int64), size, rank)
    if crowding == "deb":
        crowding_kernel.deb_crowding(losses, order, rank, distance)
    else:
        crowding_kernel.nearest_crowding(losses, rank, distance)
    falling = distance.view(np.int64)
    survival.choose(genes, losses, violation, rank, falling, *survivors)
