"""From the rows that a search found to those worth showing.

A front holds rows that change more than they must, because they are likelier or more typical for
it. A person is shown what remains when every change that can go has gone, as long as it holds
however the equations might be fitted.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from proce.causal import Actions, Ensemble
from proce.explanation import Change, Front
from proce.methods.calls.options import Options
from proce.methods.explaining.ranking import ranked
from proce.objective import CounterfactualProblem, askable
from proce.search import SearchResult, non_dominated

_SHORTLIST = 16  # candidates of a row that are looked at closely
_MOST = 0.8  # of the refits must be reached, or it is no advice
_ROUNDS = 3  # of taking back one change each
_TYPICAL = 2.0  # times as far as the closest may a typical row be
_SPARE = 4  # candidates beyond those asked for, in case some fail the last check


@dataclass(frozen=True, eq=False)
class Chosen:
    """Candidates of one row that are worth a last check, the recommended one first.

    Attributes
    ----------
    rows, changes, losses
        ``(n, f)``, ``(n, f)`` and ``(n, 3)``.
    expected
        ``(n, f)``, where each feature would be if it were neither acted on nor held.
    front
        The whole Pareto set.
    miss
        ``(f,)``, the candidate that came nearest, feasible or not.
    """

    rows: Tensor
    changes: Tensor
    losses: Tensor
    expected: Tensor
    front: Front
    miss: Tensor


def choose(
    problem: CounterfactualProblem, found: SearchResult, options: Options, refits: Ensemble | None
) -> list[Chosen]:
    """Choose for each row what to show, and some more in case a candidate fails the last check."""
    pool = shortlist(found)
    if options.pick in ("closest", "balanced"):
        pool = torch.cat([pool, pruned(problem, pool)], dim=1)
    told = problem.realise(pool)
    scored = problem.score(told)
    feasible = (scored.violation <= 0) & scored.losses.isfinite().all(-1) & (told.count > 0)
    lacking = firmness(problem, told, refits)
    feasible &= lacking.isfinite()
    kinds, by_hand = change_kinds(told), told.acted_on | told.held
    everyone = problem.realise(found.population.genes).point
    within = _TYPICAL if problem.mode == "hard" else _TYPICAL**2  # other distances are squared
    chosen = []
    for at in range(len(pool)):
        good = _distinct(told.point[at], feasible[at])
        if options.pick in ("closest", "balanced"):
            good = good[~needless(scored.losses[at, good], by_hand[at, good], lacking[at, good])]
        losses, lacks = scored.losses[at, good], lacking[at, good]
        firm = lacks <= lacks.min() if len(good) else feasible[at, good]
        hands, most = by_hand[at, good], options.n + _SPARE
        order = good[ranked(losses, hands, options.pick, most, firm, within)]
        rows, changes = told.point[at, order], kinds[at, order]
        front = _front(everyone[at], found, at)
        losses, expected = scored.losses[at, order], told.expected[at, order]
        chosen.append(Chosen(rows, changes, losses, expected, front, everyone[at, 0]))
    return chosen


def shortlist(found: SearchResult) -> Tensor:
    """Return genes ``(i, s, g)``: the closest feasible one, then others from near to far.

    Where fewer are feasible they repeat; where none is, what stands there is not feasible.
    """
    population = found.population
    distance = population.losses[..., 2].where(population.violation <= 0, torch.inf)
    order = distance.argsort(dim=1, stable=True)
    n_feasible = distance.isfinite().sum(1).clamp(min=1)
    size = min(_SHORTLIST, order.shape[1]) - 1
    near = torch.arange(size // 2).expand(len(order), -1)
    steps = torch.linspace(0, 1, size - size // 2)
    far = (size // 2 + steps * (n_feasible - 1 - size // 2).clamp(min=0)[:, None]).round().long()
    places = torch.minimum(torch.cat([near, far], dim=1), n_feasible[:, None] - 1)
    kept = order.gather(1, places)
    instances = torch.arange(len(order))[:, None]
    return torch.cat([found.archive.genes[:, None], population.genes[instances, kept]], dim=1)


def pruned(problem: CounterfactualProblem, genes: Tensor) -> Tensor:
    """Take changes back one by one, as long as a candidate stays feasible and gets closer."""
    home, switch_of = _home(problem), problem.gene_map.switch_of
    movable = torch.nonzero(problem.limits.movable.any(0)).flatten().tolist()
    if not movable:
        return genes
    best = _distance(problem, genes)
    for _ in range(_ROUNDS):
        variants = genes[:, :, None].repeat(1, 1, len(movable), 1)  # (i, s, m, g)
        for at, gene in enumerate(movable):
            variants[:, :, at, gene] = home[:, None, gene]
            if gene in switch_of:
                variants[:, :, at, switch_of[gene]] = 0.0
        values = _distance(problem, variants.flatten(1, 2)).reshape(variants.shape[:-1])
        closest, which = values.min(-1)
        better = closest < best - 1e-9
        if not bool(better.any()):
            break
        winner = which[..., None, None].expand(-1, -1, 1, genes.shape[-1])
        genes = torch.where(better[..., None], variants.gather(2, winner).squeeze(2), genes)
        best = torch.where(better, closest, best)
    return genes


def firmness(problem: CounterfactualProblem, told: Actions, refits: Ensemble | None) -> Tensor:
    """Return what the actions of each candidate ``(i, c)`` lack in the worst refit.

    Zero where they reach the target in all of them; infinite where they do in too few of them to
    call it advice.
    """
    worst = torch.zeros_like(told.point[..., 0])
    if refits is None:
        return worst
    held = torch.zeros_like(worst)
    for short in shortfalls(problem, told.point, told.acted_on | told.held, refits):
        worst = torch.maximum(worst, short)
        held += short <= 0
    return worst.where(held >= _MOST * len(refits.members), torch.inf)


def shortfalls(
    problem: CounterfactualProblem, rows: Tensor, by_hand: Tensor, refits: Ensemble
) -> Iterator[Tensor]:
    """Yield for each refit what the actions in rows ``(i, c, f)`` lack to the decision."""
    query, enough = problem.query, replace(problem.requirement, margin=0.0)
    for reached in refits.outcomes(query.factual, rows, by_hand, seed=query.seed, keys=query.keys):
        chances = problem.classifier.predict_proba(askable(reached).flatten(0, 1))
        yield enough.shortfall(chances.reshape(*rows.shape[:-1], -1), query.target)


def needless(losses: Tensor, by_hand: Tensor, lacking: Tensor) -> Tensor:
    """Return flags ``(p,)``: rows that do all that another does and more, for nothing.

    The other acts on some of the same features only, is no farther, no less likely and as firm.

    Parameters
    ----------
    losses
        ``(p, 3)``: prediction, prototype, distance.
    by_hand
        ``(p, f)``, what each acts on or holds.
    lacking
        ``(p,)``, what each lacks in the worst refit.
    """
    fewer = (by_hand[None] <= by_hand[:, None]).all(-1) & (by_hand[None] != by_hand[:, None]).any(
        -1
    )
    as_good = (losses[None] <= losses[:, None])[..., [0, 2]].all(-1)
    as_firm = lacking[None] <= lacking[:, None]
    return (fewer & as_good & as_firm).any(1)


def change_kinds(told: Actions) -> Tensor:
    """Return a ``Change`` for each cell of realised rows, ``(i, c, f)``."""
    kinds = torch.zeros_like(told.point, dtype=torch.int8)
    for change, flags in (
        (Change.ACTION, told.acted_on),
        (Change.HOLD, told.held),
        (Change.CONSEQUENCE, told.consequence),
    ):
        kinds[flags] = int(change)
    return kinds


def _home(problem: CounterfactualProblem) -> Tensor:
    """Return where each feature's gene is when nothing is done: the row, inside its limits."""
    limits, factual = problem.limits, problem.query.factual
    return torch.minimum(torch.maximum(factual, limits.lower), limits.upper)


def _distance(problem: CounterfactualProblem, genes: Tensor) -> Tensor:
    """Return the final distance ``(i, c)``, infinite where a candidate is not feasible."""
    everyone = torch.arange(len(genes))
    evaluation = problem(genes, everyone)
    return evaluation.losses[..., 2].where(evaluation.violation <= 0, torch.inf)


def _front(rows: Tensor, found: SearchResult, at: int) -> Front:
    feasible = _distinct(rows, found.population.violation[at] <= 0)
    losses = found.population.losses[at, feasible]
    best = non_dominated(losses)
    return Front(rows[feasible][best], losses[best])


def _distinct(rows: Tensor, feasible: Tensor) -> Tensor:
    """Return the positions of feasible rows ``(p, f)``, each row once, in their order."""
    positions = torch.nonzero(feasible).flatten()
    if len(positions) < 2:
        return positions
    rounded = rows[positions].nan_to_num(nan=-9.0).round(decimals=9)
    _, which = torch.unique(rounded, dim=0, return_inverse=True)
    first = torch.full((int(which.max()) + 1,), len(positions)).scatter_reduce(
        0, which, torch.arange(len(positions)), "amin"
    )
    return positions[first.sort().values]
