"""Which candidates are shown: the recommended one, then others that differ from it."""

import torch
from torch import Tensor

from proce.losses import Loss
from proce.methods.calls.options import Pick

_DISTANCE_WEIGHT = 2.0  # how much more a more distant candidate must differ to be shown


def ranked(
    losses: Tensor,
    by_hand: Tensor,
    pick: Pick,
    n: int,
    firm: Tensor | None = None,
    within: float = 2.0,
) -> list[int]:
    """Return the positions of up to ``n`` candidates to show, the recommended one first.

    The others are chosen one by one. Each time it is the candidate that differs most from those
    already chosen, in the features that it acts on and in its losses, less what it costs more than
    the closest candidate.

    Parameters
    ----------
    losses
        ``(p, 3)``, the losses of valid, rule-abiding, distinct candidates, in the order of the
        search.
    by_hand
        ``(p, f)``, the features that each candidate acts on or holds.
    pick
        ``closest``: the lowest distance. ``balanced``: the knee, nearest to the best of all three.
        ``typical``: the lowest prototype loss, or what takes its place, of those that are not too
        far beyond the closest.
        ``first``: the candidate that the search lists first (Algorithm 1, line 27).
    n
        How many candidates to show.
    firm
        ``(p,)``, the candidates to be preferred: all of them come before any other, unless
        ``first`` is picked.
    within
        For ``typical``, how many times the lowest distance a candidate's distance may be.
    """
    if not len(losses):
        return []
    if firm is not None and pick != "first" and not bool(firm.all()) and bool(firm.any()):
        order: list[int] = []
        for group in (torch.nonzero(firm).flatten(), torch.nonzero(~firm).flatten()):
            own = ranked(losses[group], by_hand[group], pick, n, within=within)
            order += group[own].tolist()
        return order[:n]
    chosen = [_recommended(losses, pick, within)]
    scaled = _scaled(losses)
    extra_cost = scaled[:, Loss.DISTANCE]
    difference = torch.full((len(losses),), torch.inf, dtype=torch.float64)  # to those chosen
    while len(chosen) < min(n, len(losses)):
        last = chosen[-1]
        actions_differ = _jaccard(by_hand, by_hand[last])
        losses_differ = (scaled - scaled[last]).square().mean(-1).sqrt()
        difference = torch.minimum(difference, actions_differ + 0.5 * losses_differ)
        worth = difference - _DISTANCE_WEIGHT * extra_cost
        worth[chosen] = -torch.inf
        chosen.append(int(worth.argmax()))
    return chosen


def _recommended(losses: Tensor, pick: Pick, within: float) -> int:
    distance = losses[:, Loss.DISTANCE]
    if pick == "first":
        return 0
    if pick == "closest":
        return int(distance.argmin())
    if pick == "balanced":
        return int(_scaled(losses).square().sum(-1).argmin())
    near = distance <= within * distance.min() + 1e-12
    return int(losses[:, Loss.PROTOTYPE].where(near, torch.inf).argmin())


def _scaled(losses: Tensor) -> Tensor:
    """Return losses on the range that they span; the best has 0."""
    low, high = losses.min(0).values, losses.max(0).values
    return (losses - low) / (high - low).clamp(min=1e-12)


def _jaccard(sets: Tensor, one: Tensor) -> Tensor:
    """Return how far each set ``(p, f)`` is from one ``(f,)``: 0 the same, 1 nothing shared."""
    shared, together = (sets & one).sum(-1).double(), (sets | one).sum(-1)
    return 1 - shared / together.clamp(min=1)
