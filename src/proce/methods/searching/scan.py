"""A bounded look at all ways of one action, and at the promising ones of two and three.

A search keeps many losses in balance and may miss the plainest answer. Here every feature is tried
alone at some values. The single actions that help most without being enough are then combined
with a second action, and the best pairs with a third. Where three are not enough, one action after
the other is added to the best. What comes of one, two and three actions does not depend on how many
a call allows, so that a call without a limit knows every way that a call with ``max_changes`` 1, 2
or 3 finds.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from proce.compiled.arrays import as_array
from proce.compiled.engine import use_kernels
from proce.methods.searching.polishing import nearest_allowed
from proce.methods.searching.trials import Trials, try_out
from proce.objective import CounterfactualProblem
from proce.schema import Categorical, Codec
from proce.streams import mix

MAX_SCANNED = 3  # actions of a scanned candidate
_SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 1.0)  # of the way from the row to a bound
_FEW_SHARES = (1 / 4, 1.0)  # where there are many features, and beside other actions
_MANY_FEATURES = 40
_MAX_LEVELS = 12  # of a feature that are tried
_N_KEPT = (6, 4, 4)  # feasible candidates of one action, of two and of three
_N_BASES = (6, 4)  # candidates that get a second action, and a third
_N_BESIDE = (12, 8)  # features that are tried as the second action, and as the third
_N_WALKED = 12  # further actions, one by one, of rows for which three are not enough
_WALK_SHARES = (1 / 2, 1.0)
_N_WALK_BASES = 3
_N_WALK_FEATURES = 16


@dataclass(frozen=True, eq=False)
class _Moves:
    """Single actions, as columns ``(m,)``: a share of the way to a bound, or a level.

    Attributes
    ----------
    position
        The feature that is moved.
    share
        How far towards the upper bound, or the lower one where it is negative; NaN for a level.
    level
        The level that is set; 0 for numbers.
    """

    position: Tensor
    share: Tensor
    level: Tensor

    @classmethod
    @lru_cache(maxsize=128)
    def of(cls, codec: Codec, positions: tuple[int, ...], shares: tuple[float, ...]) -> "_Moves":
        """Return the moves of some features."""
        columns: list[tuple[int, float, float]] = []
        for position in positions:
            feature = codec.schema.features[position]
            if isinstance(feature, Categorical):
                levels = range(min(len(feature.levels), _MAX_LEVELS))
                columns += [(position, torch.nan, float(level)) for level in levels]
            else:
                columns += [(position, sign * share, 0.0) for share in shares for sign in (1, -1)]
                columns.append((position, 0.0, 0.0))  # a hold, where causes would move it
        table = torch.tensor(columns, dtype=torch.float64).reshape(-1, 3)
        return cls(table[:, 0].long(), table[:, 1], table[:, 2])

    def values(self, problem: CounterfactualProblem) -> Tensor:
        """Return the values ``(i, m)`` that the moves set in the rows of a problem."""
        limits, own = problem.limits, problem.query.factual[:, self.position]
        lower = limits.action_lower[:, self.position]
        upper = limits.action_upper[:, self.position]
        bound = torch.where(self.share > 0, upper, lower)
        number = own + self.share.abs() * (bound - own)
        return torch.where(self.share.isnan(), self.level, number)


def scanned_alike(problem: CounterfactualProblem) -> list[Tensor]:
    """Return the positions of rows in parts, for each of which as many groups are scanned.

    A row in which few features can move has fewer, in a batch as well as alone.
    """
    n_movable = problem.limits.movable.sum(1).clamp(max=MAX_SCANNED + 1)
    parts = [torch.nonzero(n_movable == n).flatten() for n in range(MAX_SCANNED + 2)]
    return list(filter(len, parts))


def scan(problem: CounterfactualProblem, max_actions: int | None = None) -> list[Trials]:
    """Return candidates of one action, of two and of three, a group of each, then longer ones.

    Parameters
    ----------
    problem
        The search problem.
    max_actions
        How many actions a candidate may have at most, or ``None``; a lower number leaves out whole
        groups and changes nothing in the others.
    """
    positions = tuple(torch.nonzero(problem.limits.movable.any(0)).flatten().tolist())
    if not positions:
        return []
    many = sum(f.can_be_acted_on for f in problem.codec.schema) > _MANY_FEATURES
    moves = _Moves.of(problem.codec, positions, _FEW_SHARES if many else _SHARES)
    base = problem.query.factual[:, None]
    start = try_out(problem, base, torch.zeros_like(base, dtype=torch.bool))
    everything = torch.arange(len(problem.codec.schema)).expand(len(base), -1)
    values, moved, can_move = _moves_of(problem, moves, everything)
    tried = _beside(problem, start, values, moved, can_move)
    worth = _worth(tried, start).where(can_move, -torch.inf)
    groups = [_kept(tried, _N_KEPT[0])]
    few = _Moves.of(problem.codec, positions, _FEW_SHARES if many else _SHARES[1::2])
    order = _best_features(worth, moved, len(problem.codec.schema))
    n_movable = int(problem.limits.movable.sum(1).max())
    longest = n_movable if max_actions is None else min(max_actions, n_movable)
    for n_actions in range(2, min(longest, MAX_SCANNED) + 1):
        bases = _bases(tried, start, _N_BASES[n_actions - 2])
        features = order[:, : _N_BESIDE[n_actions - 2]]
        tried = _beside(problem, bases, *_moves_of(problem, few, features))
        groups.append(_kept(tried, _N_KEPT[n_actions - 1]))
    if longest > MAX_SCANNED:
        groups.append(_walk(problem, start, tried, order, positions, groups))
    return groups


def _walk(
    problem: CounterfactualProblem,
    start: Trials,
    tried: Trials,
    order: Tensor,
    positions: tuple[int, ...],
    groups: list[Trials],
) -> Trials:
    """Add one action after the other for the rows that no group has a feasible candidate of.

    Parameters
    ----------
    problem, start
        The problem, and its rows as they are.
    tried
        The candidates with most actions so far.
    order
        ``(i, f)``, the features of each row from the most worthy on.
    positions
        The features that can be moved.
    groups
        The candidates that are kept so far.
    """
    found = torch.stack([group.is_feasible.any(1) for group in groups]).any(0)
    walked = groups[-1].take_range(0, 1)
    moves = _Moves.of(problem.codec, positions, _WALK_SHARES)
    open_rows = torch.nonzero(~found).flatten()
    part, tried, begun = (
        problem.take(open_rows),
        tried.take_rows(open_rows),
        start.take_rows(open_rows),
    )
    order = order[open_rows]
    for _ in range(_N_WALKED):
        if not len(open_rows):
            break
        bases = _bases(tried, begun, _N_WALK_BASES)
        tried = _beside(part, bases, *_moves_of(part, moves, order[:, :_N_WALK_FEATURES]))
        best = tried.nearest(1)
        walked = walked.with_rows(open_rows, best)
        left = torch.nonzero(~best.is_feasible[:, 0]).flatten()
        open_rows, order = open_rows[left], order[left]
        part, tried, begun = part.take(left), tried.take_rows(left), begun.take_rows(left)
    return walked


def _beside(
    problem: CounterfactualProblem, bases: Trials, values: Tensor, moved: Tensor, can_move: Tensor
) -> Trials:
    """Try every base ``(i, b)`` with each move besides, as ``(i, b * m)``.

    Where a row has fewer moves than others, a base stands alone in their place and does nothing by
    hand: it is no candidate, and no base.

    Parameters
    ----------
    problem, bases
        The problem, and the candidates that are moved on.
    values, moved, can_move
        ``(i, m)``: what the moves set, which features they move, and whether a row has the move.
    """
    if use_kernels(values.device):
        rows, by_hand = _beside_compiled(bases, values, moved, can_move)
        return _tried(problem, rows, by_hand, can_move)
    (n_rows, n_bases, n_features), n_moves = bases.rows.shape, values.shape[1]
    shape = n_rows, n_bases, n_moves, n_features
    where = moved[:, None, :, None].expand(n_rows, n_bases, n_moves, 1)
    rows = bases.rows[:, :, None].expand(shape)
    moves = can_move[:, None, :, None].expand_as(where)
    values = torch.where(moves, values[:, None, :, None], rows.gather(-1, where))
    rows = rows.scatter(-1, where, values).flatten(1, 2)
    by_hand = bases.by_hand[:, :, None].expand(shape)
    acts = by_hand.gather(-1, where) | moves
    by_hand = by_hand.scatter(-1, where, acts).flatten(1, 2)
    return _tried(problem, rows, by_hand, can_move)


def _tried(
    problem: CounterfactualProblem, rows: Tensor, by_hand: Tensor, can_move: Tensor
) -> Trials:
    """Try rows ``(i, b * m, f)``; without its move ``(i, m)`` a row does nothing by hand."""
    tried = try_out(problem, nearest_allowed(problem, rows, by_hand), by_hand)
    moves = can_move.repeat(1, rows.shape[1] // can_move.shape[1])
    return replace(tried, by_hand=tried.by_hand & moves[..., None])


def _beside_compiled(
    bases: Trials, values: Tensor, moved: Tensor, can_move: Tensor
) -> tuple[Tensor, Tensor]:
    from proce.methods.searching.kernels.variants import move_beside

    (n_rows, n_bases, n_features), n_moves = bases.rows.shape, values.shape[1]
    shape = n_rows, n_bases * n_moves, n_features
    rows, by_hand = np.empty(shape), np.empty(shape, np.bool_)
    move_beside(
        as_array(bases.rows),
        as_array(bases.by_hand),
        as_array(values),
        as_array(moved),
        as_array(can_move),
        rows,
        by_hand,
    )
    return torch.from_numpy(rows), torch.from_numpy(by_hand)


def _moves_of(
    problem: CounterfactualProblem, moves: _Moves, features: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return what :func:`_beside` takes, for the moves of each row's own features ``(i, k)``.

    Those that a row has come first, so that it has the same whatever the other rows have.
    """
    chosen = torch.zeros_like(problem.limits.movable).scatter(1, features, True)
    mine = (chosen & problem.limits.movable)[:, moves.position]  # (i, all moves)
    n_moves = int(mine.sum(-1).max())
    order = mine.byte().argsort(dim=-1, descending=True, stable=True)[:, :n_moves]
    return moves.values(problem).gather(1, order), moves.position[order], mine.gather(1, order)


def _worth(tried: Trials, start: Trials) -> Tensor:
    """Return what candidates gain for their distance, ``(i, c)``."""
    gain = (start.violation - tried.violation).nan_to_num(nan=-1.0)
    return gain / tried.distance.clamp(min=1e-6)


def _best_features(worth: Tensor, position: Tensor, n_features: int) -> Tensor:
    """Return the features ``(i, f)`` from the one with the most worthy move to the least."""
    best = worth.new_full((len(worth), n_features), -torch.inf)
    best = best.scatter_reduce(1, position, worth, "amax")
    return best.argsort(dim=1, descending=True, stable=True)


def _kept(tried: Trials, n: int) -> Trials:
    """Return the closest feasible candidates, each with a set of actions of its own."""
    return tried.take(first_of_each_set(tried, tried.feasible_distance, n))


def _bases(tried: Trials, start: Trials, n: int) -> Trials:
    """Return candidates that are not feasible and gain most: for their distance, and in all."""
    is_open = ~tried.is_feasible & tried.by_hand.any(-1)
    gain = (start.violation - tried.violation).nan_to_num(nan=-1.0)
    lost = tried.prediction.nan_to_num(nan=torch.inf)
    keys = (-gain / tried.distance.clamp(min=1e-6), -gain, lost)
    sizes = [n - 2 * (n // 3), n // 3, n // 3]
    chosen = [
        first_of_each_set(tried, key.where(is_open, torch.inf), size)
        for key, size in zip(keys, sizes, strict=True)
    ]
    return tried.take(torch.cat(chosen, dim=1))


def first_of_each_set(tried: Trials, key: Tensor, n: int) -> Tensor:
    """Return the positions ``(i, n)`` with the lowest keys, at most one for each set of actions."""
    if use_kernels(key.device):
        from proce.methods.searching.kernels.leaving_out import first_of_each_set as fill

        positions = np.empty((len(key), n), np.int64)
        fill(as_array(key), as_array(tried.by_hand), positions)
        return torch.from_numpy(positions)
    weights = mix(torch.arange(1, tried.by_hand.shape[-1] + 1))
    named = (tried.by_hand * weights).sum(-1)  # another number for each set of features
    order = key.argsort(dim=1, stable=True)
    named, key = named.gather(1, order), key.gather(1, order)
    chosen = []
    for _ in range(n):
        first = key.argmin(dim=1, keepdim=True)  # sorted, so the first that is left
        chosen.append(order.gather(1, first))
        key = key.masked_fill(named == named.gather(1, first), torch.inf)
    return torch.cat(chosen, dim=1)
