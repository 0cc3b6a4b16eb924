"""Search some rows, choose what to show, and check it on the model itself."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from proce.causal import Actions, Ensemble
from proce.explanation import Change, Front
from proce.explanation.selection import non_dominated, ranked
from proce.methods.fitted import BoundRule, Fitted
from proce.methods.options import Options
from proce.objective import (
    Counterfactuals,
    Query,
    Requirement,
    gene_map,
    genome_of,
    initial_population,
    limits_of,
)
from proce.search import SearchProgress, SearchResult, nsga2

_LOOKED_AT = 24  # candidates of a row that are tried under the refits


@dataclass(frozen=True, eq=False)
class Chosen:
    """Candidates of one row that are worth a last check, the recommended one first.

    Attributes
    ----------
    rows, changes, losses
        ``(n, f)``, ``(n, f)`` and ``(n, 3)``.
    front
        The whole Pareto set.
    miss
        ``(f,)``, the candidate that came nearest, feasible or not.
    """

    rows: Tensor
    changes: Tensor
    losses: Tensor
    front: Front
    miss: Tensor


def problem_of(
    fitted: Fitted, options: Options, query: Query, rules: tuple[BoundRule, ...], margin: float
) -> Counterfactuals:
    """Return the search problem of a query under the options of a call."""
    limits = limits_of(fitted.codec, query.factual, options.vary, options.ranges)
    return Counterfactuals(
        codec=fitted.codec,
        classifier=fitted.classifier,
        autoencoder=fitted.autoencoder,
        distance=fitted.distance,
        scm=fitted.scm,
        query=query,
        limits=limits,
        mode=fitted.mode,
        layout=gene_map(fitted.codec, fitted.scm, fitted.mode),
        requirement=Requirement(fitted.classifier.threshold, margin, options.min_probability),
        rules=(*fitted.rules, *rules),
        effort=options.efforts(fitted.codec),
        max_changes=options.max_changes,
        causal_weight=fitted.settings.causal_weight,
    )


def search(
    problem: Counterfactuals,
    fitted: Fitted,
    options: Options,
    budget_seconds: float | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
) -> SearchResult:
    """Run NSGA-II on a problem."""
    settings = fitted.settings
    genome = genome_of(problem.codec, problem.query, problem.limits, problem.layout)
    initial = initial_population(
        genome,
        problem.query,
        fitted.rows,
        problem.layout,
        settings.population_size,
        fitted.seed,
        settings.start,
    )
    return nsga2(
        problem,
        genome,
        initial,
        settings,
        seed=fitted.seed,
        keys=problem.query.keys,
        archive_by=2,
        max_evaluations=options.max_evaluations,
        budget_seconds=budget_seconds,
        progress=progress,
    )


def choose(
    problem: Counterfactuals,
    found: SearchResult,
    options: Options,
    refits: Ensemble | None,
    spare: int = 4,
) -> list[Chosen]:
    """Choose for each row what to show, and some more in case a candidate fails the last check."""
    genes = torch.cat([found.archive.genes[:, None], found.population.genes], dim=1)
    told = problem.realise(genes)
    scored = problem.score(told)
    feasible = (scored.violation <= 0) & scored.losses.isfinite().all(-1)
    feasible &= told.count > 0
    kinds = change_kinds(told)
    by_hand = told.acted_on | told.held
    chosen = []
    goods = [_distinct(point, fine) for point, fine in zip(told.point, feasible, strict=True)]
    firm = firmness(problem, told, scored.losses[..., 2], goods, refits)
    for at, everything in enumerate(goods):
        good = everything[firm[at, everything].isfinite()]
        losses, rows = scored.losses[at, good], told.point[at, good]
        best_kept = firm[at, good] <= firm[at, good].min() if len(good) else good.bool()
        order = ranked(losses, by_hand[at, good], options.pick, options.n + spare, best_kept)
        every = scored.losses[at, everything]
        best = non_dominated(every)
        front = Front(told.point[at, everything][best], every[best])
        near = told.point[at, 1:][int(scored.violation[at, 1:].argmin())]
        chosen.append(Chosen(rows[order], kinds[at, good][order], losses[order], front, near))
    return chosen


def firmness(
    problem: Counterfactuals,
    told: Actions,
    distance: Tensor,
    goods: list[Tensor],
    refits: Ensemble | None,
) -> Tensor:
    """Return what the actions of each candidate ``(i, c)`` lack in the worst refit.

    Zero where they reach the target in all of them; infinite where they do in fewer than half,
    which is no advice. Looked at for some feasible candidates of each row, from the closest to
    the farthest; infinite for the others.
    """
    lacking = torch.full_like(distance, torch.inf)
    if refits is None or not any(len(good) for good in goods):
        return torch.zeros_like(distance)
    n_looked = min(_LOOKED_AT, max(len(good) for good in goods))
    looked = torch.stack([_spread(good, distance[at], n_looked) for at, good in enumerate(goods)])
    instances = torch.arange(len(goods))[:, None]
    rows, by_hand = told.point[instances, looked], (told.acted_on | told.held)[instances, looked]
    query, enough = problem.query, replace(problem.requirement, margin=0.0)
    worst, held = torch.zeros_like(rows[..., 0]), torch.zeros_like(rows[..., 0])
    for reached in refits.outcomes(query.factual, rows, by_hand):
        chances = problem.classifier.predict_proba(reached.flatten(0, 1))
        short = enough.shortfall(chances.reshape(*rows.shape[:-1], -1), query.target)
        worst = torch.maximum(worst, short)
        held += short <= 0
    lacking[instances, looked] = worst.where(held >= len(refits.members) / 2, torch.inf)
    return lacking


def _spread(good: Tensor, distance: Tensor, count: int) -> Tensor:
    """Return ``count`` of the good positions: half the closest, the others spread over the rest."""
    if not len(good):
        return torch.zeros(count, dtype=torch.long)
    order = good[distance[good].argsort(stable=True)]
    near = torch.arange(count // 2)
    far = torch.linspace(count // 2, max(len(good) - 1, count // 2), count - count // 2)
    return order[torch.cat([near, far.round().long()]).clamp(max=len(good) - 1)]


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
