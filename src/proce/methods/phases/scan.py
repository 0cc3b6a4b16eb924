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

from proce.arrays import Array, Flags, Floats, Ints, expand, scatter
from proce.compiled.copies import first_of_each
from proce.compiled.kernel import kernel
from proce.methods.phases.candidates import CandidateBatch, evaluate
from proce.objective import CounterfactualProblem
from proce.schema import Categorical, Codec

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
    """Single actions, as columns ``(m,)``: a share of the way to a bound, or a level."""

    position: Array  # the feature that is moved
    # how far towards the upper bound, or the lower one where it is negative; NaN for a level
    share: Array
    level: Array  # the level that is set; 0 for numbers

    @classmethod
    @lru_cache(maxsize=128)
    def of(cls, codec: Codec, positions: tuple[int, ...], shares: tuple[float, ...]) -> "_Moves":
        """Return the moves of some features."""
        columns: list[tuple[int, float, float]] = []
        for position in positions:
            feature = codec.schema.features[position]
            if isinstance(feature, Categorical):
                levels = range(min(len(feature.levels), _MAX_LEVELS))
                columns += [(position, np.nan, float(level)) for level in levels]
            else:
                columns += [(position, sign * share, 0.0) for share in shares for sign in (1, -1)]
                columns.append((position, 0.0, 0.0))  # a hold, where causes would move it
        table = np.array(columns, dtype=np.float64).reshape(-1, 3)
        return cls(table[:, 0].astype(np.int64), table[:, 1], table[:, 2])

    def values(self, problem: CounterfactualProblem) -> Array:
        """Return the values ``(i, m)`` that the moves set in the rows of a problem."""
        limits, own = problem.limits, problem.batch.factual[:, self.position]
        lower = limits.action_lower[:, self.position]
        upper = limits.action_upper[:, self.position]
        bound = np.where(self.share > 0, upper, lower)
        number = own + np.abs(self.share) * (bound - own)
        return np.where(np.isnan(self.share), self.level, number)


def scanned_alike(problem: CounterfactualProblem) -> list[Array]:
    """Return the positions of rows in parts, for each of which as many groups are scanned.

    A row in which few features can move has fewer, in a batch as well as alone.
    """
    n_movable = np.minimum(problem.limits.movable.sum(1), MAX_SCANNED + 1)
    parts = [np.flatnonzero(n_movable == n) for n in range(MAX_SCANNED + 2)]
    return list(filter(len, parts))


def scan(problem: CounterfactualProblem, max_actions: int | None = None) -> list[CandidateBatch]:
    """Return candidates of one action, of two and of three, a group of each, then longer ones."""
    positions = tuple(np.flatnonzero(problem.limits.movable.any(0)).tolist())
    if not positions:
        return []
    many = sum(f.can_be_acted_on for f in problem.codec.schema) > _MANY_FEATURES
    moves = _Moves.of(problem.codec, positions, _FEW_SHARES if many else _SHARES)
    base = problem.batch.factual[:, None]
    start = evaluate(problem, base, np.zeros_like(base, dtype=np.bool_))
    everything = expand(np.arange(len(problem.codec.schema)), len(base), -1)
    values, moved, can_move = _moves_of(problem, moves, everything)
    tried = _beside(problem, start, values, moved, can_move)
    worth = np.where(can_move, _worth(tried, start), -np.inf)
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
    start: CandidateBatch,
    tried: CandidateBatch,
    order: Array,
    positions: tuple[int, ...],
    groups: list[CandidateBatch],
) -> CandidateBatch:
    """Add one action after the other for the rows that no group has a feasible candidate of.

    Shapes: order ``(i, f)``.
    """
    found = np.stack([group.is_feasible.any(1) for group in groups]).any(0)
    walked = groups[-1].take_range(0, 1)
    moves = _Moves.of(problem.codec, positions, _WALK_SHARES)
    open_rows = np.flatnonzero(~found)
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
        left = np.flatnonzero(~best.is_feasible[:, 0])
        open_rows, order = open_rows[left], order[left]
        part, tried, begun = part.take(left), tried.take_rows(left), begun.take_rows(left)
    return walked


def _beside(
    problem: CounterfactualProblem,
    bases: CandidateBatch,
    values: Array,
    moved: Array,
    can_move: Array,
) -> CandidateBatch:
    """Try every base ``(i, b)`` with each move besides, as ``(i, b * m)``.

    Where a row has fewer moves than others, a base stands alone in their place and does nothing by
    hand: it is no candidate, and no base.

    Shapes: values, moved, can_move ``(i, m)``.
    """
    (n_rows, n_bases, n_features), n_moves = bases.rows.shape, values.shape[1]
    shape = n_rows, n_bases * n_moves, n_features
    rows, by_hand = np.empty(shape), np.empty(shape, np.bool_)
    move_beside(
        np.ascontiguousarray(bases.rows),
        np.ascontiguousarray(bases.by_hand),
        np.ascontiguousarray(values),
        np.ascontiguousarray(moved),
        np.ascontiguousarray(can_move),
        rows,
        by_hand,
    )
    tried = evaluate(problem, problem.genome.repair(rows, by_hand), by_hand)
    moves = np.tile(can_move, (1, rows.shape[1] // can_move.shape[1]))
    return replace(tried, by_hand=tried.by_hand & moves[..., None])


def _moves_of(
    problem: CounterfactualProblem, moves: _Moves, features: Array
) -> tuple[Array, Array, Array]:
    """Return what :func:`_beside` takes, for the moves of each row's own features ``(i, k)``.

    Those that a row has come first, so that it has the same whatever the other rows have.
    """
    chosen = scatter(np.zeros_like(problem.limits.movable), 1, features, True)
    mine = (chosen & problem.limits.movable)[:, moves.position]  # (i, all moves)
    n_moves = int(mine.sum(-1).max())
    order = np.argsort(~mine, axis=-1, kind="stable")[:, :n_moves]
    return (
        np.take_along_axis(moves.values(problem), order, 1),
        moves.position[order],
        np.take_along_axis(mine, order, 1),
    )


def _worth(tried: CandidateBatch, start: CandidateBatch) -> Array:
    """Return what candidates gain for their distance, ``(i, c)``."""
    with np.errstate(over="ignore"):  # equations can lead anywhere
        return _gain(tried, start) / np.maximum(tried.distance, 1e-6)


def _gain(tried: CandidateBatch, start: CandidateBatch) -> Array:
    return np.nan_to_num(start.violation - tried.violation, nan=-1.0)


def _best_features(worth: Array, position: Array, n_features: int) -> Array:
    """Return the features ``(i, f)`` from the one with the most worthy move to the least."""
    best = np.full((len(worth), n_features), -np.inf, dtype=worth.dtype)
    np.maximum.at(best, (np.arange(len(worth))[:, None], position), worth)
    return np.argsort(-best, axis=1, kind="stable")


def _kept(tried: CandidateBatch, n: int) -> CandidateBatch:
    """Return the closest feasible candidates, each with a set of actions of its own."""
    return tried.take(first_of_each_set(tried, tried.feasible_distance, n))


def _bases(tried: CandidateBatch, start: CandidateBatch, n: int) -> CandidateBatch:
    """Return candidates that are not feasible and gain most: for their distance, and in all."""
    is_open = ~tried.is_feasible & tried.by_hand.any(-1)
    lost = np.nan_to_num(tried.prediction, nan=np.inf)
    keys = (-_worth(tried, start), -_gain(tried, start), lost)
    sizes = [n - 2 * (n // 3), n // 3, n // 3]
    chosen = [
        first_of_each_set(tried, np.where(is_open, key, np.inf), size)
        for key, size in zip(keys, sizes, strict=True)
    ]
    return tried.take(np.concatenate(chosen, axis=1))


def first_of_each_set(tried: CandidateBatch, key: Array, n: int) -> Array:
    """Return the positions ``(i, n)`` with the lowest keys, at most one for each set of actions.

    Where there are fewer, the first of all is there again.
    """
    instances, order = np.arange(len(key))[:, None], np.argsort(key, axis=1, kind="stable")
    acts = tried.by_hand[instances, order].astype(np.float64)
    is_first = first_of_each(acts, key[instances, order] < np.inf)
    nth = np.argsort(~is_first, axis=1, kind="stable")[:, :n]
    return order[instances, np.where(is_first[instances, nth], nth, 0)]


@kernel
def move_beside(
    rows: Floats,  # (n, b, f)
    by_hand: Flags,  # (n, b, f)
    values: Floats,  # (n, m)
    moved: Ints,  # (n, m)
    can_move: Flags,  # (n, m)
    beside: Floats,  # (n, b * m, f); written
    acts: Flags,  # (n, b * m, f); written
) -> None:
    """Write every base of each instance with each of its moves besides, ``(n, b * m, f)``.

    A move puts a value into the feature ``moved``; where it cannot, the base stays as it is.
    """
    n_bases, n_moves, n_features = rows.shape[1], values.shape[1], rows.shape[2]
    for n in range(len(rows)):
        for b in range(n_bases):
            for m in range(n_moves):
                v = b * n_moves + m
                for f in range(n_features):
                    beside[n, v, f] = rows[n, b, f]
                    acts[n, v, f] = by_hand[n, b, f]
                if can_move[n, m]:
                    beside[n, v, moved[n, m]] = values[n, m]
                    acts[n, v, moved[n, m]] = True
