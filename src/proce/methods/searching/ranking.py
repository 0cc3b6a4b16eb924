"""Which candidates are shown: the recommended one, then others that differ from it."""

import torch
from torch import Tensor

from proce.losses import Loss
from proce.methods.calls.options import Pick

DISTANCE_WEIGHT = 2.0  # how much more a more distant candidate must differ to be shown


def ranked(
    losses: Tensor,
    by_hand: Tensor,
    pick: Pick,
    n: int,
    among: Tensor,
    firm: Tensor | None = None,
    within: float = 2.0,
) -> Tensor:
    """Return the positions ``(i, n)`` of candidates to show, the recommended one of a row first.

    The others are chosen one by one. Each time it is the candidate that differs most from those
    already chosen, in the features that it acts on and in its losses, less what it costs more than
    the closest candidate. Behind the last candidate of a row the positions are -1; there are
    fewer than ``n`` where no row has so many candidates.

    Parameters
    ----------
    losses
        ``(i, p, 3)``, the losses of the candidates, in the order of the search.
    by_hand
        ``(i, p, f)``, the features that each candidate acts on or holds.
    pick
        ``closest``: the lowest distance. ``balanced``: the knee, nearest to the best of all three.
        ``typical``: the lowest prototype loss, or what takes its place, of those that are not too
        far beyond the closest.
        ``first``: the candidate that the search lists first (Algorithm 1, line 27).
    n
        How many candidates to show.
    among
        ``(i, p)``, the candidates that can be shown: valid, rule-abiding and distinct.
    firm
        ``(i, p)``, those of them to be preferred: all of them come before any other, unless
        ``first`` is picked.
    within
        For ``typical``, how many times the lowest distance a candidate's distance may be.
    """
    n = min(n, losses.shape[1])
    if firm is None or pick == "first":
        return _ranked(losses, by_hand, pick, n, among, within)
    groups = (among & firm, among & ~firm)
    orders = [_ranked(losses, by_hand, pick, n, group, within) for group in groups]
    order = torch.cat(orders, dim=1)
    return order.gather(1, (order < 0).byte().argsort(dim=1, stable=True)[:, :n])


def _ranked(
    losses: Tensor, by_hand: Tensor, pick: Pick, n: int, among: Tensor, within: float
) -> Tensor:
    """Return the positions ``(i, n)`` of a group of candidates, -1 behind the last of a row."""
    order = torch.full((len(losses), n), -1, device=losses.device)
    if not n:
        return order
    scaled, instances = _scaled(losses, among), torch.arange(len(losses), device=losses.device)
    difference = losses.new_full(among.shape, torch.inf)  # to those chosen
    is_open = among.clone()
    last = _recommended(losses, scaled, pick, among, within)
    for nth in range(n):
        order[:, nth] = last.where(is_open.any(1), -1)
        is_open[instances, last] = False
        actions_differ = _jaccard(by_hand, by_hand[instances, last][:, None])
        offset = scaled - scaled[instances, last][:, None]
        losses_differ = (_sum_of_squares(offset) / losses.shape[-1]).sqrt()
        difference = torch.minimum(difference, actions_differ + 0.5 * losses_differ)
        worth = difference - DISTANCE_WEIGHT * scaled[..., Loss.DISTANCE]
        last = worth.where(is_open, -torch.inf).argmax(1)
    return order


def _recommended(
    losses: Tensor, scaled: Tensor, pick: Pick, among: Tensor, within: float
) -> Tensor:
    distance = losses[..., Loss.DISTANCE].where(among, torch.inf)
    if pick == "first":
        return among.byte().argmax(1)
    if pick == "closest":
        return distance.argmin(1)
    if pick == "balanced":
        return _sum_of_squares(scaled).where(among, torch.inf).argmin(1)
    near = distance <= within * distance.amin(1, keepdim=True) + 1e-12
    return losses[..., Loss.PROTOTYPE].where(among & near, torch.inf).argmin(1)


def _scaled(losses: Tensor, among: Tensor) -> Tensor:
    """Return losses on the range that those of a group span; the best has 0."""
    low = losses.where(among[..., None], torch.inf).amin(1, keepdim=True)
    high = losses.where(among[..., None], -torch.inf).amax(1, keepdim=True)
    return (losses - low) / (high - low).clamp(min=1e-12)


def _sum_of_squares(offset: Tensor) -> Tensor:
    """Return the sum over the losses, from the first to the last as the kernel adds them."""
    total = torch.zeros_like(offset[..., 0])
    for part in offset.unbind(-1):
        total = total + part * part
    return total


def _jaccard(sets: Tensor, one: Tensor) -> Tensor:
    """Return how far each set ``(i, p, f)`` is from one ``(i, 1, f)``.

    It is 0 for the same set, and 1 where nothing is shared.
    """
    shared, together = (sets & one).sum(-1).double(), (sets | one).sum(-1)
    return 1 - shared / together.clamp(min=1)
