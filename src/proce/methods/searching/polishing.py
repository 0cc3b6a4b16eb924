"""Draw candidates towards the person as far as they stay feasible.

The numbers that are acted on go back towards where they would be by themselves: all of them by the
same share, and each alone, where the others may make up for what it gives up.
"""

import torch
from torch import Tensor

from proce.methods.searching.trials import Trials, try_out
from proce.objective import CounterfactualProblem, GeneMap, genome_of
from proce.schema import Categorical

_SWEEPS = 3
_MAX_TURNS = 4  # numbers of a candidate that are drawn in one by one
_MIN_GAIN = 1e-9
_CONSOLIDATIONS = 4  # rounds in each of which actions are left out
_MAX_LEFT_OUT = 16  # actions of a candidate, the smallest of all, that are left out on trial
_FARTHER = (1.0, 1.03, 1.1, 1.3)  # how much farther the others go then
# Of their way, one number keeps the first share, and the others the second.
_ALONE = tuple((share, 1.0) for share in (0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97))
_TRADED = ((0.0, 1.2), (0.5, 1.1), (0.8, 1.05), (1.1, 0.8), (1.3, 0.5))
_ALIKE = tuple((share, share) for share in (0.5, 0.75, 0.9, 0.97))


def polish(problem: CounterfactualProblem, trials: Trials) -> Trials:
    """Return the candidates, each as near as it got; one that is not feasible stays as it is."""
    best, owner = trials.each_alone()
    is_number = _is_number(problem)
    active = torch.nonzero(best.is_feasible[:, 0]).flatten()
    for sweep in range(_SWEEPS):
        before, moved = best.distance[:, 0], best.by_hand[:, 0] & is_number  # (n, f)
        order = moved.byte().argsort(dim=-1, descending=True, stable=True)
        n_moved = moved.sum(-1)
        several = active[n_moved[active] > 1]
        best = _draw(problem, best, owner, several, moved, None, _ALIKE)
        alone = active[n_moved[active] == 1]
        best = _draw(problem, best, owner, alone, moved, order[:, 0], _ALONE)
        pairs = _ALONE if sweep == _SWEEPS - 1 else (*_ALONE, *_TRADED)
        for turn in range(min(_MAX_TURNS, moved.shape[1])):
            several = several[n_moved[several] > turn]
            best = _draw(problem, best, owner, several, moved, order[:, turn], pairs)
        active = active[(best.distance[:, 0] < before - _MIN_GAIN)[active]]
        if not len(active):
            break
    return best.side_by_side(len(trials.rows))


def consolidate(problem: CounterfactualProblem, trials: Trials) -> Trials:
    """Return the candidates with fewer actions where the others can make up for what is left out.

    An action may be needed only because the others go no farther than they must. Each action is
    left out alone, and the smallest of them together, while the numbers that stay go a little
    farther, or not. What is feasible and closest is kept, as long as it is closer. Candidates of
    one or two actions are left to :func:`polish`.
    """
    best, owner = trials.each_alone()
    active = torch.nonzero(best.is_feasible[:, 0]).flatten()
    for _ in range(_CONSOLIDATIONS):
        active = active[best.by_hand[active, 0].sum(-1) > 2]
        if not len(active):
            break
        part = best.take_rows(active)
        variants = _left_out(problem.take(owner[active]), part)
        closest, which = variants.feasible_distance.min(-1)
        better = torch.nonzero(closest < part.distance[:, 0] - _MIN_GAIN).flatten()
        active = active[better]
        best = best.with_rows(active, variants.take(which[:, None]).take_rows(better))
    return best.side_by_side(len(trials.rows))


def _left_out(problem: CounterfactualProblem, trials: Trials) -> Trials:
    """Try what remains of candidates ``(n, 1)`` when actions are left out, as ``(n, v)``."""
    is_number, by_hand = _is_number(problem), trials.by_hand
    most = min(_MAX_LEFT_OUT, int(by_hand.sum(-1).max()))
    way = ((trials.rows - trials.expected) / problem.codec.reach).abs().nan_to_num(nan=0.0)
    size = torch.where(is_number, way, 1.0).masked_fill(~by_hand, torch.inf)
    order = size.argsort(dim=-1, stable=True)[..., :most]
    alone = torch.zeros(*order.shape, by_hand.shape[-1], dtype=torch.bool)
    alone = alone.scatter(-1, order[..., None], True)  # (n, 1, m, f)
    without = torch.cat([alone, alone.cumsum(2)[:, :, 1:].bool()], dim=2)
    factor = torch.tensor(_FARTHER, dtype=torch.float64)[:, None]
    home, rows = trials.expected[:, :, None, None], trials.rows[:, :, None, None]
    farther = torch.where(is_number, home + factor * (rows - home), rows)  # (n, 1, 1, v, f)
    by_hand = (by_hand[:, :, None] & ~without)[:, :, :, None].expand(-1, -1, -1, len(factor), -1)
    rows, by_hand = farther.expand(by_hand.shape).flatten(1, 3), by_hand.flatten(1, 3)
    return try_out(problem, nearest_allowed(problem, rows, by_hand), by_hand)


def _draw(
    problem: CounterfactualProblem,
    best: Trials,
    owner: Tensor,
    drawn: Tensor,
    moved: Tensor,
    turn: Tensor | None,
    pairs: tuple[tuple[float, float], ...],
) -> Trials:
    """Return the candidates ``(n, 1)``, some of them replaced by a variant that is nearer.

    Parameters
    ----------
    problem, best, owner
        The problem, the candidates, and the row of each.
    drawn
        The positions of the candidates that are drawn in.
    moved
        ``(n, f)``, the numbers that are acted on.
    turn
        ``(n,)``, the number whose turn it is; ``None`` for all alike.
    pairs
        The shares that this number keeps of its way, and those that the others keep.
    """
    if not len(drawn):
        return best
    part, n_features = best.take_rows(drawn), moved.shape[1]
    own, others = torch.tensor(pairs, dtype=torch.float64).unbind(-1)
    share = others[:, None].expand(len(drawn), len(pairs), n_features)
    if turn is not None:
        where = turn[drawn][:, None, None].expand(-1, len(pairs), 1)
        share = share.scatter(-1, where, own[:, None].expand(len(drawn), -1, 1))
    nearer = part.expected + share * (part.rows - part.expected)
    rows = torch.where(moved[drawn][:, None], nearer, part.rows)
    by_hand = part.by_hand.expand_as(rows)
    problem = problem.take(owner[drawn])
    variants = try_out(problem, nearest_allowed(problem, rows, by_hand), by_hand)
    closest, which = variants.feasible_distance.min(-1)
    better = torch.nonzero(closest < part.distance[:, 0] - _MIN_GAIN).flatten()
    return best.with_rows(drawn[better], variants.take(which[:, None]).take_rows(better))


def _is_number(problem: CounterfactualProblem) -> Tensor:
    """Return which features ``(f,)`` are numbers or ranks."""
    return torch.tensor([not isinstance(f, Categorical) for f in problem.codec.schema])


def nearest_allowed(problem: CounterfactualProblem, rows: Tensor, by_hand: Tensor) -> Tensor:
    """Return rows ``(i, c, f)`` with what is done by hand moved onto values that it may take."""
    codec, query = problem.codec, problem.query
    genome = genome_of(codec, query.factual, problem.limits, GeneMap(len(codec.schema)))
    return torch.where(by_hand, genome.repair(rows), rows)
