"""Draw candidates towards the person as far as they stay feasible.

The numbers that are acted on go back towards where they would be by themselves: all of them by the
same share, and each alone, where the others may make up for what it gives up.
"""

import torch
from torch import Tensor

from proce.methods.explaining.trials import Trials, try_out
from proce.objective import CounterfactualProblem, GeneMap, genome_of
from proce.schema import Categorical

_SWEEPS = 3
_MAX_TURNS = 4  # numbers of a candidate that are drawn in one by one
_MIN_GAIN = 1e-9
# Of their way, one number keeps the first share, and the others the second.
_ALONE = tuple((share, 1.0) for share in (0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97))
_TRADED = ((0.0, 1.2), (0.5, 1.1), (0.8, 1.05), (1.1, 0.8), (1.3, 0.5))
_ALIKE = tuple((share, share) for share in (0.5, 0.75, 0.9, 0.97))


def polish(problem: CounterfactualProblem, trials: Trials) -> Trials:
    """Return the candidates, each as near as it got; one that is not feasible stays as it is."""
    schema = problem.codec.schema
    is_number = torch.tensor([not isinstance(feature, Categorical) for feature in schema])
    best = trials
    for sweep in range(_SWEEPS):
        before = best.distance
        numbers = best.by_hand & is_number
        n_turns = min(_MAX_TURNS, int((numbers.sum(-1) * best.is_feasible).max()))
        order = numbers.byte().argsort(dim=-1, descending=True, stable=True)
        if n_turns > 1:
            best = _step(problem, best, numbers, None, _ALIKE)
        for turn in range(n_turns):
            pairs = _ALONE if sweep == _SWEEPS - 1 else (*_ALONE, *_TRADED)
            best = _step(problem, best, numbers, order[..., turn : turn + 1], pairs)
        if bool((best.distance >= before - _MIN_GAIN).all()):
            break
    return best


def _step(
    problem: CounterfactualProblem,
    best: Trials,
    numbers: Tensor,
    turn: Tensor | None,
    pairs: tuple[tuple[float, float], ...],
) -> Trials:
    """Return the candidates, or a variant of each that is nearer.

    Parameters
    ----------
    problem, best
        The problem, and the candidates ``(i, c)``.
    numbers
        ``(i, c, f)``, the numbers that are acted on.
    turn
        ``(i, c, 1)``, the number whose turn it is; ``None`` for all alike.
    pairs
        The shares that this number keeps of its way, and those that the others keep.
    """
    n_rows, n_candidates, n_features = best.rows.shape
    own, others = torch.tensor(pairs, dtype=torch.float64).unbind(-1)
    share = others[:, None].expand(n_rows, n_candidates, len(pairs), n_features)
    if turn is not None:
        where = turn[:, :, None].expand(-1, -1, len(pairs), 1)
        share = share.scatter(-1, where, own[:, None].expand(n_rows, n_candidates, -1, 1))
    home = best.expected[:, :, None]
    drawn = home + share * (best.rows[:, :, None] - home)
    rows = torch.where(numbers[:, :, None], drawn, best.rows[:, :, None]).flatten(1, 2)
    by_hand = best.by_hand[:, :, None].expand(-1, -1, len(pairs), -1).flatten(1, 2)
    variants = try_out(problem, nearest_allowed(problem, rows, by_hand), by_hand)
    distance = variants.feasible_distance.view(n_rows, n_candidates, -1)
    # A candidate must not get another chance because of the company that it is in.
    has_others = numbers.sum(-1) > 1
    together = torch.tensor([pair not in _ALONE for pair in pairs])
    distance = distance.where(has_others[..., None] | ~together, torch.inf)
    closest, which = distance.min(-1)
    better = best.is_feasible & (closest < best.distance - _MIN_GAIN)
    if turn is not None:
        better &= numbers.gather(-1, turn).squeeze(-1)
    positions = which + torch.arange(n_candidates) * len(pairs)
    return variants.take(positions).where(better, best)


def nearest_allowed(problem: CounterfactualProblem, rows: Tensor, by_hand: Tensor) -> Tensor:
    """Return rows ``(i, c, f)`` with what is done by hand moved onto values that it may take."""
    codec, query = problem.codec, problem.query
    genome = genome_of(codec, query.factual, problem.limits, GeneMap(len(codec.schema)))
    return torch.where(by_hand, genome.repair(rows), rows)
