"""What is recorded of a counterfactual beside its values, and how often it holds."""

from collections.abc import Callable, Sequence

import numpy as np

from proce.arrays import Array
from proce.causal import Ensemble
from proce.causal.graphs.features import unknown_causes
from proce.classifier import Classifier, kept_by
from proce.explanation import Counterfactuals, done_by_hand, has_moved
from proce.methods.fitting.fitted import FittedParts
from proce.methods.phases.ablation import ablate_actions
from proce.methods.phases.check import FrameRows, Solution
from proce.methods.phases.intervals import Sides
from proce.objective import CounterfactualProblem, EquationDoubt
from proce.objective.doubt import judge_draws


def annotate(
    problem: CounterfactualProblem,
    frame_rows: FrameRows,
    solution: Solution,
    lines: Array,
    fitted: FittedParts,
    is_over: Callable[[], bool] | None,
    models: Sequence[Classifier] = (),
) -> Counterfactuals:
    """Return some lines of a solution's shortlist with everything that is recorded of them."""
    shortlist = solution.shortlist
    owner = shortlist.owner[lines]
    part = problem.take(owner)  # an instance for each counterfactual
    positions = frame_rows.positions[owner]
    own = FrameRows(positions, frame_rows.raw[owner], frame_rows.layout)
    rows, changes = shortlist.rows[lines], shortlist.changes[lines]
    expected, probabilities = shortlist.expected[lines], solution.check.probabilities[lines]
    intervals = None
    if is_over is not None:
        sides = Sides.of(part, own, rows, changes, expected)
        intervals = sides.intervals(sides.reach(is_over))
    refits, confidence = measure_confidence(part, rows, changes)
    contributions, asked_by = ablate_actions(part, rows, changes, probabilities)
    return Counterfactuals.of(
        positions,
        rows,
        changes,
        probabilities,
        shortlist.losses[lines],
        expected=expected,
        contributions=contributions,
        intervals=intervals,
        asked_by=asked_by,
        support=count_supporting_graphs(part, rows, changes, fitted.ensemble),
        refits=refits,
        confidence=confidence,
        robustness=count_models_kept(part, rows, models),
    )


def measure_confidence(
    problem: CounterfactualProblem, rows: Array, changes: Array
) -> tuple[Array | None, Array | None]:
    """Return in how many refits the actions of rows ``(n, f)`` reach the decision, ``(n,)``.

    The second result is the chance that they do in the true equations, NaN where a missing cell
    hides what follows from them. Both are ``None`` where the problem does not doubt its equations.
    """
    doubts = [doubt for doubt in problem.doubts if isinstance(doubt, EquationDoubt)]
    if not doubts:
        return None, None
    realised = problem.realise_by_hand(rows[:, None], done_by_hand(changes)[:, None])
    odds = doubts[0].odds(problem, realised)[..., 0]
    unknown = _hides_what_follows(problem, changes)
    chance, n_held = judge_draws(odds)
    return n_held, np.where(unknown, np.nan, chance)


def _hides_what_follows(problem: CounterfactualProblem, changes: Array) -> Array:
    """Return flags ``(n,)`` where a missing cell leaves open what follows from the actions."""
    schema, missing = problem.codec.schema, problem.codec.missing(problem.query.factual)
    hides = np.zeros(len(changes), dtype=np.bool_)
    assert problem.scm is not None, "there are equations"
    edges = problem.scm.graph.edges
    by_hand, moved = done_by_hand(changes), has_moved(changes)
    for line in np.flatnonzero(missing.any(1)).tolist():
        names = (
            [schema.names[position] for position in np.flatnonzero(flags[line]).tolist()]
            for flags in (missing, moved, by_hand)
        )
        hides[line] = bool(unknown_causes(edges, schema, *names))
    return hides


def count_models_kept(
    problem: CounterfactualProblem, rows: Array, models: Sequence[Classifier]
) -> Array | None:
    """Return in how many other models rows ``(n, f)`` have their target, ``(n,)``."""
    if not models:
        return None
    return kept_by(
        models, lambda model: problem.ask(rows[:, None], model)[:, 0], problem.query.target
    ).sum(0)


def count_supporting_graphs(
    problem: CounterfactualProblem, rows: Array, changes: Array, ensemble: Ensemble | None
) -> Array | None:
    """Return in how many bootstrap graphs each of the rows ``(n, f)`` comes about, ``(n,)``."""
    if ensemble is None:
        return None
    query, by_hand = problem.query, problem.clock.with_others(done_by_hand(changes)[:, None])
    votes = ensemble.support(
        query.factual, rows[:, None], by_hand, seed=query.seed, keys=query.keys
    )
    return votes[:, 0]
