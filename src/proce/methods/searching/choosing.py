"""Which candidates of each row are worth showing, and in which order.

All functions take the candidates ``(…, p)`` of many rows at once. What a candidate lacks until it
is sure to work is infinite for one that does not count: that it is not feasible, or was dropped.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from proce.arrays import Array
from proce.methods.calls.options import Pick
from proce.methods.searching.chances import SLACK

DISTANCE_WEIGHT = 2.0  # how much more a more distant candidate must differ to be shown
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

    rows: Array
    by_hand: Array
    losses: Array
    missing: Array


@dataclass(frozen=True, eq=False)
class Choice:
    """How candidates are chosen.

    Attributes
    ----------
    pick
        What is recommended. ``closest``: the lowest distance. ``balanced``: the knee, nearest to
        the best of all three losses. ``typical``: the lowest prototype loss, or what takes its
        place, of those that are not too far beyond the closest. ``first``: the candidate that the
        search lists first (Algorithm 1, line 27).
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
    reach: Array
    is_sparse: bool = True
    is_typical: bool = False
    only_firm: bool = False


def choose(pool: Pool, choice: Choice) -> Array:
    """Return the positions ``(i, n)`` of the candidates to show, the recommended one first.

    The positions behind a row's last candidate are -1.
    """
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
    return order


def _array(column: Array) -> Any:
    return np.ascontiguousarray(column)


def find_fronts(rows: Array, losses: Array, is_feasible: Array) -> Array:
    """Return flags ``(i, p)`` for the feasible rows that no other dominates, each row once.

    Parameters
    ----------
    rows, losses
        ``(i, p, f)`` and ``(i, p, 3)``, the candidates and their losses.
    is_feasible
        ``(i, p)``, which of them count.
    """
    from proce.methods.searching.kernels import choosing as kernels

    flags = np.empty(is_feasible.shape, np.bool_)
    kernels.find_fronts(_array(rows), _array(losses), _array(is_feasible), flags)
    return flags
