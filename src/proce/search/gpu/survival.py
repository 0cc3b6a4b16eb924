"""Survival on a CUDA device: the choice of :mod:`proce.search.survival`, to the last candidate."""

import torch
import triton
from torch import Tensor

from proce.search.gpu.ranking import (
    N_BITS,
    break_copies_kernel,
    crowding_kernel,
    hash_kernel,
    order_kernel,
    place_kernel,
    position_kernel,
    rank_kernel,
)

_TILE = 32


def choose(genes: Tensor, losses: Tensor, violation: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Return the positions ``(i, size)`` of the survivors, and the ranks ``(i, m)``.

    Candidates beyond the fronts from which some survive have no rank, but a high number.

    Later copies of the same genes get losses and a violation of +inf, in place.

    Parameters
    ----------
    genes, losses, violation
        ``(i, m, g)``, ``(i, m, k)`` and ``(i, m)``, contiguous and in float64; at most 512
        candidates and three losses, whose positions stand side by side in 32 bits.
    size
        How many survive.
    """
    n_instances, n_candidates, n_genes = genes.shape
    n_losses = losses.shape[2]
    width = max(_TILE, triton.next_power_of_2(n_candidates))
    codes = torch.empty(genes.shape[:2], dtype=torch.int64, device=genes.device)
    ranks = torch.empty_like(codes)
    crowding = torch.empty_like(violation)
    chosen = torch.empty(n_instances, size, dtype=torch.int64, device=genes.device)
    grid = (n_instances,)
    hash_kernel[grid](
        genes, codes, n_candidates, n_genes, M=width, G=triton.next_power_of_2(n_genes)
    )
    break_copies_kernel[grid](
        codes, losses, violation, n_candidates, K=n_losses, M=width, num_warps=2
    )
    positions = torch.empty(
        n_instances, n_losses, n_candidates, dtype=torch.int32, device=genes.device
    )
    by_loss = (n_instances, n_losses)
    position_kernel[by_loss](losses, positions, n_candidates, K=n_losses, M=width, num_warps=2)
    spare = sum(1 << (N_BITS * (loss + 1) - 1) for loss in range(n_losses))
    sizes = {"K": n_losses, "M": width, "W": width // _TILE}
    rank_kernel[grid](positions, violation, ranks, n_candidates, size, SPARE=spare, **sizes)
    places = torch.empty_like(positions)
    ordered = torch.empty_like(places, dtype=losses.dtype)
    order_kernel[by_loss](
        losses, positions, ranks, places, ordered, n_candidates, K=n_losses, M=width, num_warps=2
    )
    crowding_kernel[grid](ranks, places, ordered, crowding, n_candidates, K=n_losses, M=width)
    place_kernel[grid](ranks, crowding, chosen, n_candidates, size, M=width)
    return chosen, ranks
