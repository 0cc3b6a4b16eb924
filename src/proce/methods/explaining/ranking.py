"""Which of the rows found are shown: the recommended one, then others that differ from it."""

import torch
from torch import Tensor

from proce.losses import Loss
from proce.methods.calls.options import Pick

DISTANCE_WEIGHT = 2.0  # how much more a farther row must differ to be shown


def ranked(
    losses: Tensor,
    acted_on: Tensor,
    pick: Pick,
    n: int,
    firm: Tensor | None = None,
    within: float = 2.0,
) -> list[int]:
    """Return the positions of up to ``n`` rows to show, the recommended one first.

    The others are chosen one by one: each time the row that differs most from those already
    shown, in which features it acts on and in its losses, less what it costs more than the
    closest.

    Parameters
    ----------
    losses
        ``(p, 3)`` of valid, rule-abiding, distinct rows, in the order of the search.
    acted_on
        ``(p, f)``, what each acts on or holds.
    pick
        ``closest``: the lowest distance. ``balanced``: the knee, nearest to the best of all three.
        ``typical``: the lowest prototype loss among those not too far beyond the closest.
        ``first``: what the search lists first (Algorithm 1, line 27).
    n
        How many.
    firm
        ``(p,)``, rows to be preferred: all of them come before any other, unless ``first`` is
        picked.
    within
        For ``typical``, how many times the lowest distance a row's may be.
    """
    if not len(losses):
        return []
    if firm is not None and pick != "first" and not bool(firm.all()) and bool(firm.any()):
        first = torch.nonzero(firm).flatten()
        order = first[ranked(losses[first], acted_on[first], pick, n, within=within)].tolist()
        rest = torch.nonzero(~firm).flatten()
        more = rest[ranked(losses[rest], acted_on[rest], pick, n, within=within)].tolist()
        return (order + more)[:n]
    chosen = [_recommended(losses, pick, within)]
    scaled = _scaled(losses)
    extra = scaled[:, Loss.DISTANCE]
    least = torch.full((len(losses),), torch.inf, dtype=torch.float64)
    while len(chosen) < min(n, len(losses)):
        last = chosen[-1]
        different = _jaccard(acted_on, acted_on[last])
        apart = (scaled - scaled[last]).square().mean(-1).sqrt()
        least = torch.minimum(least, different + 0.5 * apart)
        worth = least - DISTANCE_WEIGHT * extra
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
    """Return losses on the range that they span, 0 for the best."""
    low, high = losses.min(0).values, losses.max(0).values
    return (losses - low) / (high - low).clamp(min=1e-12)


def _jaccard(sets: Tensor, one: Tensor) -> Tensor:
    """Return how far each set ``(p, f)`` is from one ``(f,)``: 0 the same, 1 nothing shared."""
    shared, together = (sets & one).sum(-1).double(), (sets | one).sum(-1)
    return 1 - shared / together.clamp(min=1)
