"""Pose the search problem of some rows, and search it."""

from collections.abc import Callable

from torch import Tensor

from proce.methods.calls.options import Options
from proce.methods.explaining.failing_row import NamesFailingRow
from proce.methods.fitting.fitted import BoundRule, Fitted
from proce.objective import (
    CounterfactualProblem,
    Query,
    Requirement,
    gene_map_of,
    genome_of,
    initial_population,
    limits_of,
)
from proce.search import SearchProgress, SearchResult, nsga2


def problem_of(
    fitted: Fitted, options: Options, query: Query, rules: tuple[BoundRule, ...], margin: float
) -> CounterfactualProblem:
    """Return the search problem of a query under the options of a call."""
    limits = limits_of(fitted.codec, query.factual, options.vary, options.ranges)
    return CounterfactualProblem(
        codec=fitted.codec,
        classifier=fitted.classifier,
        autoencoder=fitted.autoencoder,
        distance=fitted.distance,
        scm=fitted.scm,
        query=query,
        limits=limits,
        mode=fitted.mode,
        gene_map=gene_map_of(fitted.codec, fitted.scm, fitted.mode),
        requirement=Requirement(fitted.classifier.threshold, margin, options.min_probability),
        rules=(*fitted.rules, *rules),
        effort=options.efforts(fitted.codec),
        max_changes=options.max_changes,
        causal_weight=fitted.settings.causal_weight,
        effect_weight=fitted.settings.effect_weight,
    )


def search(
    problem: CounterfactualProblem,
    rows: Tensor,
    fitted: Fitted,
    options: Options,
    budget_seconds: float | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
) -> SearchResult:
    """Run NSGA-II on a problem; ``rows (i,)`` are the positions that errors name."""
    settings = fitted.settings
    genome = genome_of(problem.codec, problem.query.factual, problem.limits, problem.gene_map)
    without_rows = fitted.left_out is not None
    initial = initial_population(
        genome,
        problem.query,
        fitted.codec.reach[None] if without_rows else fitted.rows,
        problem.gene_map,
        settings.population_size,
        fitted.seed,
        "gaussian" if without_rows else settings.start,
    )
    return nsga2(
        NamesFailingRow(problem, rows),
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
