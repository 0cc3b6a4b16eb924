"""Lead candidates that are close but not sure to work a little farther, until they are.

The search asks how near a way can be. Where the equations are uncertain, the nearest ways are
seldom sure to work, and the sure one that a search happens to hold may be far behind them. Each of
the nearest ways is therefore tried with its numbers farther from where they would be by themselves,
and a single level with the first few others. The closest that is sure to work is kept, where it is
closer than what is sure of the same actions already. All of this starts from the nearest ways,
which a call in which more may vary has as well as one in which less may.
"""

from dataclasses import replace

import numpy as np

from proce.arrays import Array, expand
from proce.compiled.copies import firsts_of
from proce.methods.phases.candidates import CandidateBatch, evaluate
from proce.methods.phases.polish import scale_changes
from proce.methods.phases.scan import first_of_each_set
from proce.objective import CounterfactualProblem
from proce.schema import Categorical

_N_LED = 4  # ways of a row that are led farther, each with a set of actions of its own
_FARTHER = (1.05, 1.12, 1.2, 1.32, 1.5, 1.75, 2.1, 2.7, 4.0)  # times as far
_N_BETWEEN = 4  # values that are tried between one that is sure and the one before it
_N_ROUNDS = 2  # in each of which they are closer


def robustify(
    problem: CounterfactualProblem, pool: CandidateBatch, feasible: Array, gap: Array
) -> CandidateBatch:
    """Return sure ways ``(i, k)`` that are closer than the sure ones of a pool; others infeasible.

    Shapes: feasible, gap ``(i, c)``.
    """
    distance = np.where(feasible, pool.distance, np.inf)
    same = firsts_of(pool.by_hand.astype(np.float64))
    of_each_set = np.full(distance.shape, np.inf)
    sure = np.where(gap <= 0, distance, np.inf)
    np.minimum.at(of_each_set, (np.arange(len(same))[:, None], same), sure)
    closest_sure = np.take_along_axis(of_each_set, same, 1)
    is_closer = distance < closest_sure
    rows = np.flatnonzero(is_closer.any(1))
    nothing = pool.take(np.zeros((len(pool.rows), _N_LED), dtype=np.int64)).infeasible()
    if not len(rows):
        return nothing
    near = pool.take_rows(rows)
    which = first_of_each_set(near, np.where(is_closer, distance, np.inf)[rows], _N_LED)
    limit = np.take_along_axis(closest_sure[rows], which, 1).ravel()
    all_near, owner = near.take(which).without_copies().flatten()
    led = np.flatnonzero(np.isfinite(all_near.violation[:, 0]))
    near, limit, part = all_near.take_rows(led), limit[led], problem.take(rows[owner[led]])
    # Each candidate's closest sure variant below its limit, an instance for each.
    factor = expand(np.array((1.0, *_FARTHER), dtype=np.float64), len(limit), -1)
    variants = _with_other_levels(part, near, scale_changes(part, near, factor[:, 1:]))
    best, nth = _closest_sure(part, near, variants, limit)
    instances = np.arange(len(limit))
    for _ in range(_N_ROUNDS):
        low, high = factor[instances, nth], factor[instances, nth + 1]
        steps = np.arange(_N_BETWEEN + 1, dtype=np.float64) / (_N_BETWEEN + 1)
        factor = low[:, None] + (high - low)[:, None] * steps
        limit = np.minimum(limit, best.feasible_distance[:, 0])
        closer, nth = _closest_sure(part, near, scale_changes(part, near, factor[:, 1:]), limit)
        best = closer.chosen_where(closer.is_feasible, best)
        factor = np.concatenate([factor, high[:, None]], axis=1)
        nth = np.where(closer.is_feasible[:, 0], nth, _N_BETWEEN)
    firm = all_near.infeasible().with_rows(led, best)
    return nothing.with_rows(rows, firm.unflatten(len(rows)))


def _with_other_levels(problem: CounterfactualProblem, near: CandidateBatch, rows: Array) -> Array:
    """Return rows ``(n, v, f)`` of candidates ``(n, 1)``, a level that stands alone by turns."""
    schema = problem.codec.schema
    n_levels = [len(f.levels) if isinstance(f, Categorical) else 1 for f in schema]
    level = np.arange(rows.shape[1])[:, None] % np.array(n_levels)
    acts = near.by_hand & problem.codec.is_categorical
    is_alone = acts & (near.by_hand.sum(-1, keepdims=True) == 1)
    return np.where(is_alone, level, rows)


def _closest_sure(
    problem: CounterfactualProblem, near: CandidateBatch, rows: Array, limit: Array
) -> tuple[CandidateBatch, Array]:
    """Return the closest sure one of variants ``(n, v, f)`` below a limit ``(n,)``, and which.

    Candidates without such a variant get one that is not feasible.
    """
    by_hand = np.broadcast_to(near.by_hand, rows.shape)
    allowed = problem.genome.repair(rows, by_hand)
    variants = evaluate(problem.without_uncertainty(), allowed, by_hand).without_copies()
    asked = variants.is_feasible & (variants.distance < limit[:, None])
    realised = problem.realise_by_hand(variants.rows, variants.by_hand)
    is_sure = problem.robustness_gap(realised, asked) <= 0
    sure = replace(variants, violation=np.where(~is_sure, np.inf, variants.violation))
    nth = sure.feasible_distance.argmin(1)
    return sure.take(nth[:, None]), nth
