"""Which candidates survive: fronts by rank, the one that does not fit cut by crowding.

Three implementations choose the same survivors to the last: numba on the CPU, Triton on CUDA
devices, PyTorch elsewhere and where neither is installed. Ties are broken by position, so all
choose alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from proce.compiled import engine
from proce.compiled.gpu.engine import use_triton
from proce.search.crowding import Crowding, crowding_distance
from proce.search.pareto import pareto_rank
from proce.streams import hash_values

Floats = NDArray[np.float64]


_MAX_POOL, _MAX_LOSSES = 512, 3  # that the kernels of a CUDA device take


@dataclass(frozen=True, eq=False)
class Candidates:
    """Genes with their losses and their violation.

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
    """The surviving candidates, sorted by rank and falling crowding.

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
    """Return the best ``size`` candidates of one or two groups, or all where there are fewer.

    A later copy of the same genes gets losses and a violation of +inf, so that it survives only
    where nothing else is left; replacing it would cost an evaluation.
    """
    assert len(groups) in (1, 2)
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
    fits = losses.shape[1] <= _MAX_POOL and losses.shape[2] <= _MAX_LOSSES
    if crowding == "deb" and fits and use_triton(genes.device):
        from proce.search.gpu.survival import choose

        chosen, rank = choose(genes, losses, violation, size)  # copies are marked in place
    else:
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
    """Return which candidates ``(i, m)`` have the genes, by their hash, of an earlier one."""
    codes, order = hash_values(genes).sort(dim=-1, stable=True)
    copy = torch.zeros_like(codes, dtype=torch.bool)
    copy[:, 1:] = codes[:, 1:] == codes[:, :-1]
    return torch.empty_like(copy).scatter_(-1, order, copy)


def _survive_compiled(groups: Sequence[Candidates], size: int, crowding: Crowding) -> Population:
    from proce.search.kernels.survival import survive as kernel

    (i, _, g), k = groups[0].genes.shape, groups[0].losses.shape[2]
    first = _arrays(groups[0])
    second = _arrays(groups[1]) if len(groups) > 1 else _nobody(*first)
    survivors = np.empty((i, size, g)), np.empty((i, size, k)), np.empty((i, size))
    rank = np.empty((i, size), np.int64)
    kernel(*first, *second, crowding == "deb", *survivors, rank)
    return Population(*map(torch.from_numpy, (*survivors, rank)))


def _arrays(candidates: Candidates) -> tuple[Floats, Floats, Floats]:
    return candidates.genes.numpy(), candidates.losses.numpy(), candidates.violation.numpy()


def _nobody(genes: Floats, losses: Floats, violation: Floats) -> tuple[Floats, Floats, Floats]:
    return genes[:, :0].copy(), losses[:, :0].copy(), violation[:, :0].copy()
