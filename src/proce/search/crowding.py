"""How isolated a candidate is in its front.

``"deb"`` is the crowding distance of NSGA-II: for each objective the gap between the two
neighbours in that objective, on the range of the front, summed; the ends of a front are
infinitely isolated. ``"paper"`` is Eq. 12: the distance between the two candidates nearest to
it, all on the range of the front, so that no unit of an objective decides who is near;
infinite in fronts of one or two. Either way an objective without a range is left out.
"""

from typing import Literal

import torch
from torch import Tensor

Crowding = Literal["deb", "paper"]


def crowding_distance(losses: Tensor, rank: Tensor, crowding: Crowding) -> Tensor:
    """Return the crowding distance ``(i, m)`` of candidates within their fronts.

    Parameters
    ----------
    losses
        ``(i, m, k)``, cleaned.
    rank
        ``(i, m)``, which front each belongs to.
    crowding
        Which distance.
    """
    losses = losses.where(torch.isfinite(losses), 0.0)  # such a front has no range
    if crowding == "deb":
        return _deb_crowding(losses, rank)
    return _nearest_crowding(losses, rank)


def _deb_crowding(losses: Tensor, rank: Tensor) -> Tensor:
    total = torch.zeros_like(losses[..., 0])  # (i, m)
    for loss in losses.unbind(-1):
        order = loss.argsort(dim=-1, stable=True)
        order = order.gather(-1, rank.gather(-1, order).argsort(dim=-1, stable=True))
        front, half = rank.gather(-1, order), 0.5 * loss.gather(-1, order)
        begins = torch.ones_like(front, dtype=torch.bool)
        begins[:, 1:] = front[:, 1:] != front[:, :-1]
        ends = torch.ones_like(begins)
        ends[:, :-1] = begins[:, 1:]
        span = _half_range(loss, rank).gather(-1, order)
        box = half.roll(-1, -1) - half.roll(1, -1)
        side = torch.where(begins | ends, torch.inf, box / span)
        side = torch.where(span > 0, side, 0.0)
        total = total + torch.empty_like(side).scatter_(-1, order, side)
    return total


def _half_range(loss: Tensor, rank: Tensor) -> Tensor:
    """Return half the range ``(i, m)`` of a loss in each candidate's front.

    Halves, because a range can be twice the largest float.
    """
    low = torch.full_like(loss, torch.inf).scatter_reduce(-1, rank, loss, "amin")
    high = torch.full_like(loss, -torch.inf).scatter_reduce(-1, rank, loss, "amax")
    return 0.5 * high.gather(-1, rank) - 0.5 * low.gather(-1, rank)


def _nearest_crowding(losses: Tensor, rank: Tensor) -> Tensor:
    n_candidates = rank.shape[-1]
    if n_candidates < 3:
        return torch.full_like(losses[..., 0], torch.inf)
    places = []
    for loss in losses.unbind(-1):
        low = torch.full_like(loss, torch.inf).scatter_reduce(-1, rank, loss, "amin")
        span = _half_range(loss, rank)
        places.append(torch.where(span > 0, (0.5 * loss - 0.5 * low.gather(-1, rank)) / span, 0.0))
    gaps = torch.zeros(*rank.shape, n_candidates, dtype=losses.dtype, device=losses.device)
    for place in places:  # one after the other: the order of a sum decides its last bit
        gaps += (place[:, :, None] - place[:, None, :]).square()
    others = rank[:, :, None] == rank[:, None, :]
    others.diagonal(dim1=-2, dim2=-1).fill_(False)
    gaps = gaps.masked_fill(~others, torch.inf)  # (i, m, m)
    nearest = gaps.argsort(dim=-1, stable=True)
    a, b = nearest[..., 0], nearest[..., 1]
    between = torch.zeros_like(places[0])
    for place in places:
        between = between + (place.gather(-1, a) - place.gather(-1, b)).square()
    return torch.where(others.sum(-1) > 1, between.sqrt(), torch.inf)
