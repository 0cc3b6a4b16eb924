"""The terms of a score, which kernels add up, agree with slow loops over candidates and features.

Those are the distance, how far candidates are beyond their limits, and what a probability lacks.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from proce.arrays import Array
from proce.causal import Actions, StructuralCausalModel
from proce.classifier import TrainedNetwork, decide, fit_network
from proce.losses import Loss
from proce.objective import CounterfactualProblem, Requirement, effect_predictors
from proce.objective.distance import DISTANCES, action_weights, causal_gap, printed_gap
from proce.schema import Rule
from proce.training_settings import TrainingSettings

from .conftest import GRAPH

STUDY, SKILL, PAY, DEGREE, CITY, CLUB = range(6)
MODES = ("hard", "soft", "paper", "off")
RULES = (
    "cf.skill >= x.skill - 1 or cf.city != x.city",
    "cf.pay / (cf.study - 2) < 4",
    'not (cf.club == "rowing" and cf.degree > x.degree)',
)
REQUIREMENTS = (
    Requirement(None, 0.1),
    Requirement(0.4, 0.15),
    Requirement(0.6, 0.0, min_probability=0.7),
    Requirement(None, 0.0, min_probability=0.55),
)


class ThreeClasses:
    """Says the second class by the pay, and splits the rest by study."""

    classes = ("no", "yes", "maybe")
    threshold = None

    def predict_proba(self, rows):
        pay, study = np.nan_to_num(rows[:, PAY]), np.nan_to_num(rows[:, STUDY], nan=0.3)
        return special.softmax(np.stack([study, 2 * pay, 1 - study], axis=-1), axis=-1)


def with_missing(rows: Array, seed: int) -> Array:
    empty = np.array([math.nan, math.nan, math.nan, -1.0, -1.0, -1.0])
    return np.where(np.random.default_rng(seed).random(rows.shape) < 0.1, empty, rows)


# What a gap of numbers costs, and another level, given how far apart their embeddings are.
SLOW_COSTS = {
    "absolute": (lambda gap: gap, lambda apart: 0.5 + 0.5 * apart),
    "squared": (lambda gap: gap**2, lambda apart: apart**2),
}


def slow_gap(distance, at: int, value: float, other: float, form: str) -> float:
    """How far apart two entries of a feature are; what is missing is the first level, or nowhere.

    Another level is from half to 1 away where the distance is not squared.
    """
    of_number, of_level = SLOW_COSTS[form]
    if at in distance.tables:
        here, there = max(int(value), 0), max(int(other), 0)
        return of_level(float(distance.tables[at][there, here])) if here != there else 0.0
    gap = abs(value - other) / distance.codec.reach[at]
    return 0.0 if math.isnan(gap) else float(of_number(gap))


def slow_distance(problem: CounterfactualProblem, told: Actions) -> Array:
    """The final distance (Eq. 9), ``(i, c)``, one cell after the other."""
    factual, effort = problem.batch.factual, problem.effort
    weights = np.broadcast_to(effort, factual.shape)
    if problem.mode == "hard":
        movable = problem.limits.movable
        weights = action_weights(effort, movable, problem.scm, problem.effect_weight)[:, 0]
    printed = soft = np.zeros_like(told.point)
    if problem.mode == "paper":
        printed = printed_gap(told.point, factual, problem.scm)
    if problem.mode == "soft":
        soft = causal_gap(told.point, factual, problem.batch.residual, problem.scm)
        soft = problem.causal_weight * SLOW_COSTS[problem.form][0](soft)
    total = np.zeros(told.point.shape[:2])
    for i, c, at in np.ndindex(told.point.shape):
        value, is_acting = told.point[i, c, at], told.by_hand[i, c, at]
        if problem.mode == "hard":
            other = told.expected[i, c, at]
            gap = slow_gap(problem.distance, at, value, other, "absolute") if is_acting else 0.0
        elif problem.mode == "paper" and at not in (STUDY, CITY):
            gap = 0.0  # an effect costs what the distance of its prediction is
        else:
            gap = slow_gap(problem.distance, at, value, factual[i, at], problem.form)
        charge = DISTANCES[problem.form].charge * is_acting
        total[i, c] += weights[i, at] * gap + charge + printed[i, c, at] + soft[i, c, at]
    return total


def slow_excess(problem: CounterfactualProblem, told: Actions) -> Array:
    """How far candidates ``(i, c)`` are beyond their limits, and how many changes are too many."""
    limits, factual, total = problem.limits, problem.batch.factual, np.zeros(told.point.shape[:2])
    for i, c, at in np.ndindex(told.point.shape):
        value, is_acting = told.point[i, c, at], told.by_hand[i, c, at]
        lowest, highest = limits.action_lower[i, at], limits.action_upper[i, at]
        low, high = lowest, highest
        if not is_acting:
            low, high = limits.consequence_lower[i, at], limits.consequence_upper[i, at]
        is_kept = value == factual[i, at] and limits.lower[i, at] <= value <= limits.upper[i, at]
        beyond = np.maximum(low - value, value - high) / problem.codec.reach[at]
        if beyond > 1e-9 and not (is_acting and is_kept):
            total[i, c] += beyond
    most = math.inf if problem.max_changes is None else problem.max_changes
    return total + np.maximum(told.count - most, 0)


def slow_shortfall(requirement: Requirement, chances: Array, target: Array) -> Array:
    """What probabilities ``(i, c, k)`` lack; what lies within rounding of enough is enough."""
    lacking = np.zeros(chances.shape[:2])
    for i, c in np.ndindex(lacking.shape):
        row, wanted = chances[i, c], target[i]
        others = np.delete(row, wanted)
        if requirement.threshold is None and len(row) == 2:
            missing = min(1.0, 0.5 + requirement.margin) - row[wanted]
        elif requirement.threshold is None:
            missing = others.max() + 2 * requirement.margin - row[wanted]
        elif wanted == 1:
            missing = min(1.0, requirement.threshold + requirement.margin) - row[1]
        else:
            missing = row[1] - max(0.0, requirement.threshold - requirement.margin)
        is_said = decide(row, requirement.threshold) == wanted
        missing = 0.0 if is_said and missing <= 1e-12 else np.maximum(missing, 1e-12)
        if requirement.min_probability is not None:
            missing = np.maximum(missing, requirement.min_probability - row[wanted])
        lacking[i, c] = missing
    return lacking


def check_score(problem: CounterfactualProblem, told: Actions) -> None:
    """Check the losses and the violation of candidates against those of the loops."""
    score, chances = problem.score(told), problem.ask(told.point)
    target, factual = problem.batch.target, problem.batch.factual
    own = np.take_along_axis(chances, target[:, None, None], -1)[..., 0]
    violation = slow_excess(problem, told)
    violation += slow_shortfall(problem.requirement, chances, target)
    for rule, equations in problem.rules:
        violation += rule.violation(factual, told.point, equations)
    assert np.array_equal(score.violation > 0, violation > 0)
    near = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(score.violation, violation, **near)
    np.testing.assert_allclose(score.losses[..., Loss.PREDICTION], -np.log(own), **near)
    distance = slow_distance(problem, told)
    np.testing.assert_allclose(score.losses[..., Loss.DISTANCE], distance, **near)
    np.testing.assert_allclose(problem.final_distance(told), distance, **near)
    np.testing.assert_allclose(problem.terms.measured(told)[1], slow_excess(problem, told), **near)
    typical = problem.typicality_loss(told.point)
    assert np.array_equal(score.losses[..., Loss.PROTOTYPE], typical)
    assert (problem.score(told, with_prototype=False).losses[..., Loss.PROTOTYPE] == 0).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", DISTANCES)
@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_scores_agree_with_loops(make_world, mode, form, requirement):
    world = make_world(study={"range": (1.0, 9.0)}, skill={"action": "increase"})
    factual = with_missing(world.random_rows(7), seed=1)
    follows = Rule.parse("study ~> skill", world.codec)
    problem = world.problem(
        factual,
        mode,
        rules=RULES,
        bound=[(follows, effect_predictors(follows, world.scm, None))],
        ranges={"pay": (1.0, 15.0)},
        effort=np.linspace(0.5, 2, 6),
        distance_form=form,
        requirement=requirement,
        max_changes=2,
        causal_weight=3.0,
        effect_weight=3.0,
    )
    rows = 1.2 * world.random_rows(7 * 30, seed=2).reshape(7, 30, 6) - 0.1
    rows[..., 3:] = world.random_rows(7 * 30, seed=3).reshape(7, 30, 6)[..., 3:]
    rows[:, ::5] = factual[:, None]
    rows = with_missing(rows, seed=4)
    realised = problem.realise(world.genes(problem, rows, acting=["skill", "degree"]))
    check_score(problem, realised)
    some = np.array([5, 0, 3, 3])
    part = problem.take(some).score(problem.take(some).realise(world.genes(problem, rows[some])))
    whole = problem.score(problem.realise(world.genes(problem, rows)))
    assert np.array_equal(part.losses, whole.losses[some])
    assert np.array_equal(part.violation, whole.violation[some])


def test_with_three_classes_the_best_other_one_counts(world):
    factual = with_missing(world.random_rows(5), seed=1)
    problem = world.problem(factual, requirement=Requirement(None, 0.05, min_probability=0.4))
    problem = replace(problem, classifier=ThreeClasses())
    rows = world.random_rows(100, seed=2).reshape(5, 20, 6)
    realised = problem.realise(world.genes(problem, rows))
    check_score(problem, realised)
    is_far = problem.score(realised).violation > 0
    assert 0 < is_far.sum() < is_far.size


def test_rows_that_are_bound_apart_lack_what_they_lack_alone(world):
    factual = with_missing(world.random_rows(len(REQUIREMENTS)), seed=1)
    follows = Rule.parse("study ~> skill", world.codec)
    # Its number is not that in the program.
    bound = follows, effect_predictors(follows, world.scm, None)
    whole = world.problem(factual, rules=RULES, bound=[bound])
    obeyed = np.array(
        [[True, False, True, False], [True] * 4, [False] * 4, [False, True, False, True]]
    )
    most = [math.inf, 1, 0, 2]
    lines = np.array([each.line for each in REQUIREMENTS])
    terms = whole.terms._replace(max_changes=np.array(most), required=lines)
    rows = world.random_rows(4 * 30, seed=2).reshape(4, 30, 6)
    realised = whole.realise(world.genes(whole, rows))
    together = replace(whole, terms=terms, obeyed=obeyed)
    score = together.score(realised)
    again = together.take(np.array([3, 1]))
    again = again.score(again.realise(world.genes(again, rows[[3, 1]])))
    assert np.array_equal(again.violation, score.violation[[3, 1]])
    for n, requirement in enumerate(REQUIREMENTS):
        alone = world.problem(
            factual[[n]],
            rules=[text for text, binds in zip(RULES, obeyed[n, 1:], strict=True) if binds],
            bound=[bound] if obeyed[n, 0] else [],
            max_changes=None if math.isinf(most[n]) else int(most[n]),
            requirement=requirement,
        )
        alone = replace(alone, batch=whole.batch.take(np.array([n])))
        expected = alone.score(alone.realise(world.genes(alone, rows[[n]])))
        np.testing.assert_allclose(score.violation[n], expected.violation[0], rtol=1e-12)
        assert np.array_equal(score.losses[n], expected.losses[0])


def test_a_probability_that_is_asked_for_and_met_exactly_lacks_nothing(world, ann):
    """The loss of 0.3 is that of 0.29999999999999993: a diagnosis took the one for the other."""

    class Exact(ThreeClasses):
        classes = ("no", "yes", "maybe", "never")

        def predict_proba(self, rows):
            return np.tile([0.25, 0.3, 0.25, 0.2], (len(rows), 1))

    asked = Requirement(None, 0.0, min_probability=0.3)
    problem = replace(world.problem(ann, requirement=asked), classifier=Exact())
    assert problem.score(problem.realise(world.genes(problem, ann[None]))).violation.item() == 0


@pytest.mark.parametrize("requirement", REQUIREMENTS)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_what_probabilities_lack_agrees_with_a_loop(requirement, n_classes):
    draw = np.random.default_rng(n_classes)
    votes = draw.integers(0, 5, (20, 30, n_classes)) + 1e-3  # ties are common
    chances, target = votes / votes.sum(-1, keepdims=True), np.arange(20) % n_classes
    if n_classes > 2:
        requirement = replace(requirement, threshold=None)  # it belongs to two classes
    expected = slow_shortfall(requirement, chances, target)
    np.testing.assert_allclose(requirement.shortfall(chances, target), expected, rtol=1e-12)
    is_reached = slow_shortfall(requirement.without_margin(), chances, target) <= 0
    assert np.array_equal(requirement.odds_beyond(chances, target) >= 0, is_reached)


@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_a_model_that_gives_no_number_is_no_reason_to_fail(world, ann, requirement):
    class Silent(ThreeClasses):
        classes = ("no", "yes")

        def predict_proba(self, rows):
            return np.full((len(rows), 2), math.nan)

    problem = replace(world.problem(ann, requirement=requirement), classifier=Silent())
    score = problem.score(problem.realise(world.genes(problem, ann[None])))
    assert math.isnan(score.losses[0, 0, Loss.PREDICTION])
    assert math.isnan(score.violation.item())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", DISTANCES)
def test_what_lies_beyond_all_bounds_costs_much_and_is_no_error(world, ann, mode, form):
    problem = world.problem(ann, mode, distance_form=form)
    rows = ann[:, None].copy()
    rows[..., SKILL] = 1e300
    score = problem.score(problem.realise(world.genes(problem, rows, acting=["skill"])))
    assert score.losses[0, 0, Loss.DISTANCE] > 1e200
    assert score.violation.item() > 1e200


@pytest.fixture(scope="module")
def network(world) -> TrainedNetwork:
    """A network that was trained for an instant."""
    rows = world.random_rows(200)
    label = (rows[:, PAY] > 0.5).astype(np.int64)
    return fit_network(world.codec, rows, label, settings=TrainingSettings(n_epochs=2))


@pytest.fixture(scope="module")
def fitted(world) -> StructuralCausalModel:
    """Equations that were fitted, and so have kernels; those of the world are functions."""
    return StructuralCausalModel.fit(GRAPH, world.random_rows(200), world.codec, seed=0)


@pytest.mark.parametrize("mode", MODES)
def test_with_learned_parts_too_a_part_is_scored_as_in_the_whole(world, network, fitted, mode):
    factual = world.random_rows(5)
    problem = world.problem(factual, mode, rules=RULES, max_changes=3)
    batch = replace(problem.batch, residual=fitted.abduct(factual))
    scm = None if mode == "off" else fitted
    problem = replace(problem, classifier=network, scm=scm, batch=batch)
    rows, some = world.random_rows(100, seed=1).reshape(5, 20, 6), np.array([3, 0, 3])
    genes = world.genes(problem, rows, acting=["skill", "club"])
    realised = problem.realise(genes)
    check_score(problem, realised)
    whole, part = problem.evaluate(genes), problem.take(some).evaluate(genes[some])
    assert np.array_equal(part.losses, whole.losses[some])
    assert np.array_equal(part.violation, whole.violation[some])
    by_hand = np.random.default_rng(0).random(rows.shape) < 0.4
    check_score(problem, problem.realise_by_hand(rows, by_hand))
