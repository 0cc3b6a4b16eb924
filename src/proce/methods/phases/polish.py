"""Draw candidates towards the person as far as they stay feasible.

The numbers that are acted on go back towards where they would be by themselves: all of them by the
same share, and each alone, where the others may make up for what it gives up. In each round all of
this is tried at once, and the closest is kept; the steps become finer from round to round.
"""

import numpy as np

from proce.arrays import Array, Flags, Floats, unit_gaps
from proce.compiled.kernel import kernel
from proce.methods.phases.candidates import CandidateBatch, adopt_closer, evaluate
from proce.methods.phases.prune import leave_out_each, leave_out_more
from proce.objective import CounterfactualProblem

_MAX_TURNS = 4  # numbers of a candidate that are drawn in one by one
_MIN_GAIN = 1e-9
_CONSOLIDATIONS = 4  # rounds in each of which actions are left out
_MAX_LEFT_OUT = 16  # actions of a candidate, the smallest of all, that are left out on trial
_FARTHER = (1.0, 1.03, 1.1, 1.3)  # how much farther the others go then


# What one number keeps of its way in a round, the others going as far as before.
_COARSE = (0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97)
_MIDDLE = (0.6, 0.8, 0.9, 0.95, 0.98, 0.99)
_FINE = (0.98, 0.99, 0.995, 0.998, 0.999)
# What one number keeps of its way, and what the others keep.
_TRADED = ((0.0, 1.2), (0.5, 1.1), (0.8, 1.05), (1.1, 0.8), (1.3, 0.5))
_FINELY_TRADED = ((0.9, 1.02), (0.97, 1.01), (1.02, 0.9), (1.01, 0.97))
_ALIKE = (0.5, 0.75, 0.9, 0.97, 0.99, 0.997)  # what all numbers keep of their way
_Pairs = tuple[tuple[float, float], ...]


def _pairs(shares: tuple[float, ...], traded: _Pairs = ()) -> _Pairs:
    return (*((share, 1.0) for share in shares), *traded)


_ROUNDS_ALONE = tuple(_pairs(shares) for shares in (_COARSE, _MIDDLE, _MIDDLE, _FINE, _FINE))
_ROUNDS = (
    *(_pairs(_COARSE, _TRADED),) * 3,
    *(_pairs(_MIDDLE, _FINELY_TRADED),) * 2,
    *(_pairs(_FINE),) * 2,
)


def polish(problem: CounterfactualProblem, trials: CandidateBatch) -> CandidateBatch:
    """Return the candidates, each as near as it got; one that is not feasible stays as it is."""
    best, owner = trials.flatten()
    n_moved = (best.by_hand[:, 0] & ~problem.codec.is_categorical).sum(-1)
    n_turns = np.minimum(np.where(best.is_feasible[:, 0], n_moved, 0), _MAX_TURNS)
    for n in range(1, int(n_turns.max()) + 1 if len(n_turns) else 0):
        same = np.flatnonzero(n_turns == n)
        if len(same):
            nearer = _polish_numbers(problem.take(owner[same]), best.take_rows(same), n)
            best = best.with_rows(same, nearer)
    return best.unflatten(len(trials.rows))


def _polish_numbers(
    problem: CounterfactualProblem, best: CandidateBatch, n_turns: int
) -> CandidateBatch:
    """Return feasible candidates ``(n, 1)``, of each of which ``n_turns`` numbers are drawn in.

    Candidates of another number of turns are polished apart, so that what is tried of a candidate
    does not depend on the others.
    """
    rounds = _ROUNDS if n_turns > 1 else _ROUNDS_ALONE
    everyone = active = np.arange(len(best.rows))
    for number, pairs in enumerate(rounds):
        if number and pairs is not rounds[number - 1]:
            active = everyone
        if not len(active):
            continue
        is_whole = len(active) == len(everyone)
        part, own = (best, problem) if is_whole else (best.take_rows(active), problem.take(active))
        alike = np.tile(_ALIKE if n_turns > 1 else (), (len(part.rows), 1))
        drawn = scale_changes(own, part, alike, n_turns, pairs)
        acts = np.broadcast_to(part.by_hand, drawn.shape)
        variants = evaluate(own, own.genome.repair(drawn, acts), acts)
        best, active = adopt_closer(best, active, variants, _MIN_GAIN)
    return best


def consolidate(problem: CounterfactualProblem, trials: CandidateBatch) -> CandidateBatch:
    """Return the candidates with fewer actions where the others can make up for what is left out.

    An action may be needed only because the others go no farther than they must. Each action is
    left out alone, and the smallest of them together, while the numbers that stay go a little
    farther, or not. What is feasible and closest is kept, as long as it is closer. Candidates of
    one or two actions are left to :func:`polish`.
    """
    best, owner = trials.flatten()
    active = np.flatnonzero(best.is_feasible[:, 0])
    for _ in range(_CONSOLIDATIONS):
        active = active[best.by_hand[active, 0].sum(-1) > 2]
        if not len(active):
            break
        variants = _without_actions(problem.take(owner[active]), best.take_rows(active))
        best, active = adopt_closer(best, active, variants, _MIN_GAIN)
    return best.unflatten(len(trials.rows))


def _without_actions(problem: CounterfactualProblem, trials: CandidateBatch) -> CandidateBatch:
    """Try what remains of candidates ``(n, 1)`` when actions are left out, as ``(n, v)``."""
    numbers, by_hand = ~problem.codec.is_categorical, trials.by_hand
    most = min(_MAX_LEFT_OUT, int(by_hand.sum(-1).max()))
    way = np.nan_to_num(unit_gaps(trials.rows, trials.expected, problem.codec.reach), nan=0.0)
    size = np.where(~by_hand, np.inf, np.where(numbers, way, 1.0))
    order = np.argsort(size[:, 0], axis=-1, kind="stable")[:, :most]
    acts = np.concatenate([leave_out_each(by_hand, order), leave_out_more(by_hand, order)], axis=1)
    farther = scale_changes(problem, trials, np.tile(_FARTHER, (len(order), 1)))
    rows = np.tile(farther, (1, acts.shape[1], 1))
    acts = np.repeat(acts, len(_FARTHER), axis=1)
    return evaluate(problem, problem.genome.repair(rows, acts), acts)


def scale_changes(
    problem: CounterfactualProblem,
    trials: CandidateBatch,
    shares: Array,
    n_turns: int = 0,
    pairs: _Pairs = ((1.0, 1.0),),
) -> Array:
    """Return candidates ``(n, 1)`` whose numbers go ``shares (n, a)`` of their way, ``(n, v)``."""
    shape = len(shares), n_turns * len(pairs) + shares.shape[1], trials.rows.shape[-1]
    drawn = np.empty(shape)
    write_scaled_changes(
        np.ascontiguousarray(trials.rows),
        np.ascontiguousarray(trials.by_hand & ~problem.codec.is_categorical),
        np.ascontiguousarray(trials.expected),
        np.array(pairs),
        np.require(shares, np.float64, ("C", "W")),  # of others there would be another version
        drawn,
    )
    return drawn


@kernel
def write_scaled_changes(
    rows: Floats,  # (n, 1, f)
    moves: Flags,  # (n, 1, f), which numbers are acted on
    expected: Floats,  # (n, 1, f)
    pairs: Floats,  # (p, 2), what the number whose turn it is keeps, and what the others do
    alike: Floats,  # (n, a)
    drawn: Floats,  # (n, turns * p + a, f); written
) -> None:
    """Write variants of candidates ``(n, 1, f)``: one number after the other nearer, or all alike.

    In each turn one of the numbers that move keeps the first share of each pair of its way from
    where it is expected by itself, the others the second; at last all keep each share ``alike``.
    """
    n_features, n_pairs = rows.shape[2], len(pairs)
    n_turns = (drawn.shape[1] - alike.shape[1]) // n_pairs
    for n in range(len(rows)):
        for v in range(drawn.shape[1]):
            turn, number = v // n_pairs, 0  # the numbers that are moved have their turns in order
            for f in range(n_features):
                value = rows[n, 0, f]
                if moves[n, 0, f]:
                    if turn >= n_turns:
                        share = alike[n, v - n_turns * n_pairs]
                    else:
                        share = pairs[v % n_pairs, 0 if number == turn else 1]
                    number += 1
                    home = expected[n, 0, f]
                    value = home + share * (value - home)
                drawn[n, v, f] = value
