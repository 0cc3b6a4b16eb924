"""Which candidates of each row are worth showing, and in which order.

All functions take the candidates ``(…, p)`` of many rows at once. What a candidate lacks until it
is sure to work is infinite for one that does not count: that it is not feasible, or was dropped.
On the CPU a kernel does the same for one row after the other.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from proce.compiled.engine import use_kernels
from proce.losses import Loss
from proce.methods.calls.options import Pick
from proce.methods.searching.chances import SLACK, outdone, same_actions, surest
from proce.methods.searching.ranking import DISTANCE_WEIGHT, ranked
from proce.methods.searching.typical import not_too_far
from proce.search import non_dominated

_ALIKE = 0.05  # of the unit range: two ways that differ by less are one


@dataclass(frozen=True, eq=False)
class Pool:
    """The candidates of some rows.

    Attributes
    ----------
    rows
        ``(i, p, f)``, the candidates in the entries of the codec.
    by_hand
        ``(i, p, f)``, the features that each candidate acts on or holds.
    losses
        ``(i, p, 3)``; see :class:`proce.losses.Loss`.
    missing
        ``(i, p)``, what each lacks until it is sure to work, infinite for one that does not count.
    """

    rows: Tensor
    by_hand: Tensor
    losses: Tensor
    missing: Tensor


@dataclass(frozen=True, eq=False)
class Choice:
    """How candidates are chosen.

    Attributes
    ----------
    pick
        What is recommended; see :func:`~proce.methods.searching.ranking.ranked`.
    n
        How many candidates of a row are chosen, at most.
    within
        How many times as far as the closest a typical candidate may be.
    reach
        ``(f,)``, how far apart two entries of a feature can be.
    is_sparse
        Whether candidates that do more than another for nothing are left out.
    is_typical
        Whether it is a benefit to look like the target.
    only_firm
        Whether those that are less sure than the surest are left out.
    """

    pick: Pick
    n: int
    within: float
    reach: Tensor
    is_sparse: bool = True
    is_typical: bool = False
    only_firm: bool = False


def choose(pool: Pool, choice: Choice) -> Tensor:
    """Return the positions ``(i, n)`` of the candidates to show, the recommended one first.

    The positions behind a row's last candidate are -1.
    """
    if use_kernels(pool.missing.device):
        return _choose_compiled(pool, choice)
    losses, by_hand, missing = pool.losses, pool.by_hand, pool.missing
    missing = missing.where(first_of_each(pool.rows, missing.isfinite()), torch.inf)
    if choice.is_sparse:
        compared, preferred = [Loss.PREDICTION, Loss.DISTANCE], Loss.DISTANCE
        if choice.is_typical:
            near = not_too_far(losses[..., Loss.DISTANCE], missing, choice.within)
            missing = missing.where(near, torch.inf)
            compared, preferred = list(Loss), Loss.PROTOTYPE
        dropped = needless(losses[..., compared], by_hand, missing)
        missing = missing.masked_fill(dropped, torch.inf)
        size = pool.rows / choice.reach
        dropped = alike(size, by_hand, losses[..., preferred], missing)
        missing = missing.masked_fill(dropped, torch.inf)
    missing = missing.masked_fill(outdone(by_hand, missing), torch.inf)
    firm, among = surest(missing), missing.isfinite()
    if choice.only_firm:
        among = firm
    return ranked(losses, by_hand, choice.pick, choice.n, among, firm, choice.within)


def _choose_compiled(pool: Pool, choice: Choice) -> Tensor:
    from proce.methods.searching.kernels import choosing as kernels
    from proce.methods.searching.kernels import ranking

    codes = {
        "first": ranking.FIRST,
        "closest": ranking.CLOSEST,
        "balanced": ranking.BALANCED,
        "typical": ranking.TYPICAL,
    }
    n_rows, n_candidates = pool.missing.shape
    order = np.empty((n_rows, min(choice.n, n_candidates)), np.int64)
    kernels.choose(
        _array(pool.rows),
        _array(pool.by_hand),
        _array(pool.losses),
        _array(pool.missing),
        _array(choice.reach),
        choice.is_sparse,
        choice.is_typical,
        choice.only_firm,
        codes[choice.pick],
        choice.within,
        _ALIKE,
        SLACK,
        DISTANCE_WEIGHT,
        order,
    )
    return torch.from_numpy(order)


def _array(column: Tensor) -> Any:
    return column.contiguous().numpy()


def find_fronts(rows: Tensor, losses: Tensor, is_feasible: Tensor) -> Tensor:
    """Return flags ``(i, p)`` for the feasible rows that no other dominates, each row once.

    Parameters
    ----------
    rows, losses
        ``(i, p, f)`` and ``(i, p, 3)``, the candidates and their losses.
    is_feasible
        ``(i, p)``, which of them count.
    """
    if use_kernels(rows.device):
        from proce.methods.searching.kernels import choosing as kernels

        flags = np.empty(is_feasible.shape, np.bool_)
        kernels.find_fronts(_array(rows), _array(losses), _array(is_feasible), flags)
        return torch.from_numpy(flags)
    among = first_of_each(rows, is_feasible)
    return among & non_dominated(losses.where(among[..., None], torch.inf))


def first_of_each(rows: Tensor, among: Tensor) -> Tensor:
    """Return those of the flags ``(…, p)`` whose row ``(…, p, f)`` no earlier one has."""
    same = among[..., :, None] & among[..., None, :]
    for cells in rows.nan_to_num(nan=-9.0).round(decimals=9).unbind(-1):
        same &= cells[..., :, None] == cells[..., None, :]
    return among & ~same.tril(diagonal=-1).any(-1)


def needless(losses: Tensor, by_hand: Tensor, missing: Tensor) -> Tensor:
    """Return flags ``(…, p)`` for the candidates that do more than another one for no benefit.

    The other one acts on some of the same features only, is as good in every loss, and no less
    sure to work.

    Parameters
    ----------
    losses
        ``(…, p, k)``, the losses of the candidates that count.
    by_hand
        ``(…, p, f)``, the features that each candidate acts on or holds.
    missing
        ``(…, p)``, what each candidate lacks until it is sure to work.
    """
    acts = by_hand.float()
    shared, count = acts @ acts.mT, acts.sum(-1)  # (…, p, p), of which the last is the other one
    worse = (shared == count[..., None, :]) & (count[..., None, :] < count[..., :, None])
    worse &= missing[..., None, :] <= missing[..., :, None]
    for loss in losses.unbind(-1):
        worse &= loss[..., None, :] <= loss[..., :, None]
    return (worse & missing.isfinite()[..., None, :]).any(-1)


def alike(size: Tensor, by_hand: Tensor, cost: Tensor, missing: Tensor) -> Tensor:
    """Return flags ``(…, p)`` for the candidates that are no other way than a better one.

    The better one acts on the same features, ends at nearly the same values, and is as sure.

    Parameters
    ----------
    size
        ``(…, p, f)``, the candidates on the unit range; another level is a whole unit away.
    by_hand
        ``(…, p, f)``, the features that each candidate acts on or holds.
    cost, missing
        ``(…, p)``, what is lower for the better one, and what each lacks until it is sure to work.
    """
    below = cost[..., None, :] < cost[..., :, None]  # the last is the other one
    equal = cost[..., None, :] == cost[..., :, None]
    found = same_actions(by_hand) & (below | equal.tril(diagonal=-1))
    found &= missing[..., None, :] <= missing[..., :, None]
    for cells, acts in zip(size.unbind(-1), by_hand.unbind(-1), strict=True):
        apart = (cells[..., None, :] - cells[..., :, None]).abs()
        found &= ~((apart > _ALIKE) & acts[..., None])  # what is missing is not apart
    return (found & missing.isfinite()[..., None, :]).any(-1)
