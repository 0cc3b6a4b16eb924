"""How likely advice works when what follows from it is not certain."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special, stats

from proce.arrays import Array
from proce.causal import Additive, Ensemble, StructuralCausalModel
from proce.objective import (
    CounterfactualProblem,
    EquationUncertainty,
    ModelUncertainty,
    Requirement,
    judge_draws,
)
from proce.objective.uncertainty import MIN_CHANCE


def chance(*draws) -> float:
    return float(judge_draws(np.array(draws, dtype=np.float64))[0])


def test_the_chance_of_two_draws_is_that_of_a_cauchy_distribution():
    """Mean 2, spread sqrt(2) * sqrt(1.5): a ratio of 2 / sqrt(3)."""
    assert chance(1, 3) == pytest.approx(0.5 + math.atan(2 / math.sqrt(3)) / math.pi)


def test_the_chance_is_no_more_than_the_share_of_draws_that_held():
    draws = [100.0] * 18 + [-0.01] * 2
    by_spread = stats.t.cdf(np.array(draws).mean() / (np.array(draws).std() * 1.0247), 19)
    assert by_spread > 0.99 > 19 / 21
    assert chance(*draws) == pytest.approx(19 / 21)
    assert chance(*[-1.0] * 18, 400.0, 420.0) == pytest.approx(3 / 21)


def test_draws_that_agree_leave_no_doubt():
    assert chance(0.5, 0.5, 0.5) == 1
    assert chance(0.0, 0.0, 0.0) == 1  # right at the decision is reached
    assert chance(-0.5, -0.5, -0.5) == 0
    assert chance(2.0) == 1
    assert chance(-2.0) == 0


@pytest.mark.parametrize("n_draws", [2, 5, 20])
def test_the_chance_agrees_with_the_integral_of_the_density(n_draws):
    draws = np.random.default_rng(0).standard_normal((n_draws, 4, 3)) + 0.5
    chances, _ = judge_draws(draws)
    for i in range(4):
        for c in range(3):
            own = draws[:, i, c]
            scale = own.std(ddof=1) * math.sqrt(1 + 1 / n_draws)
            density = stats.t(n_draws - 1, own.mean(), scale).pdf
            above = 0.5 + integrate.quad(density, 0, own.mean())[0]
            share = ((own >= 0).sum() + 1) / (n_draws + 1)
            assert float(chances[i, c]) == pytest.approx(min(above, share), abs=1e-7)


@given(st.integers(1, 8), st.integers(0, 2**20))
def test_the_chance_agrees_with_that_of_student(n_draws, seed):
    odds = np.random.default_rng(seed).standard_normal((n_draws, 3, 4))
    odds[:, 0] = odds[:1, 0]  # draws that agree
    spread = odds.std(0, ddof=min(1, n_draws - 1)) * math.sqrt(1 + 1 / n_draws)
    with np.errstate(divide="ignore"):
        by_spread = stats.t.cdf(odds.mean(0) / spread, max(1, n_draws - 1))
    share = ((odds >= 0).sum(0) + 1) / (n_draws + 1)
    np.testing.assert_allclose(
        judge_draws(odds)[0], np.minimum(by_spread, share), rtol=0, atol=1e-12
    )


@given(st.lists(st.floats(-20, 20), min_size=2, max_size=8), st.floats(0, 5))
def test_more_is_never_less_likely(draws, more):
    lifted = [draw + more for draw in draws]
    assert chance(*lifted) >= chance(*draws) - 1e-12


def test_the_chance_of_a_candidate_does_not_depend_on_its_batch():
    draws = np.random.default_rng(1).standard_normal((20, 37, 29)) + 1
    together, _ = judge_draws(draws)
    assert all(
        judge_draws(draws[:, i : i + 1, c : c + 1])[0].item() == together[i, c]
        for i, c in [(0, 0), (3, 7), (36, 28), (20, 1)]
    )


def refits(world, *slopes) -> Ensemble:
    """Causal models in which skill follows study with one slope each."""
    members = []
    for slope in slopes:
        skill = Additive(lambda parents, slope=slope: slope * parents["study"])
        mechanisms = {**world.scm.mechanisms, "skill": skill}
        members.append(StructuralCausalModel(world.scm.graph, mechanisms, world.codec))
    return Ensemble(tuple(members))


def in_refits(problem, world, *slopes) -> CounterfactualProblem:
    """The problem in which skill follows study with a slope that may be any of these."""
    batch, equations = problem.batch, refits(world, *slopes)
    noise = equations.abduct(batch.factual, seed=batch.seed, keys=batch.keys)
    batch = replace(batch, refit_residual=np.stack(noise, axis=1))
    return replace(problem, batch=batch, uncertainty=(EquationUncertainty(equations, 0.98),))


def odds_of(problem, realised) -> Array:
    """By how many log-odds candidates pass in each world of the first uncertainty set."""
    return problem.uncertainty[0].odds(problem, realised)


@pytest.fixture(scope="module")
def studying(world) -> Array:
    """Ann with four more years of study."""
    return world.rows((6, 3, 7, "school", "north", "chess"))[None]


def test_every_refit_leads_the_actions_somewhere_else(world, ann, studying):
    """With a slope of s, skill comes to 3 + 4 s and pay to 7 + 8 s; the decision is at 10."""
    problem = world.problem(ann, "hard")
    realised = problem.realise(world.genes(problem, studying))
    odds = odds_of(in_refits(problem, world, 1.0, 0.5, 0.25), realised)
    assert odds.ravel().tolist() == pytest.approx([8 * 0.25, 8 * 0.05, 8 * -0.05])


def test_an_action_that_misses_the_target_lacks_all_of_the_chance(world, ann):
    problem = world.problem(ann, "hard")
    row = world.rows((3, 3, 7, "school", "north", "chess"))[None]  # pay comes to 9 of 10
    realised = problem.realise(world.genes(problem, row))
    assert realised.count.item() == 1
    uncertain = in_refits(problem, world, 2.0, 2.0)
    missed = problem.score(realised).violation.item()
    assert missed > 0
    assert uncertain.score(realised).violation.item() == pytest.approx(missed + 0.98)


def test_what_is_held_by_hand_is_the_same_in_every_refit(world, ann):
    problem = world.problem(ann, "hard")
    row = world.rows((6, 8, 7, "school", "north", "chess"))[None]
    realised = problem.realise(world.genes(problem, row, acting=["skill"]))
    odds = odds_of(in_refits(problem, world, 1.0, 0.5), realised)
    assert odds.ravel().tolist() == pytest.approx([8 * (17 / 20 - 0.5)] * 2)


def test_what_may_fail_is_infeasible_by_the_chance_that_is_missing(world, ann, studying):
    problem = world.problem(ann, "hard")
    genes = world.genes(problem, studying)
    plain = problem.score(problem.realise(genes))
    assert plain.violation.tolist() == [[0.0]]
    uncertain = in_refits(problem, world, 1.0, 0.5, 0.25)
    scored = uncertain.score(problem.realise(genes))
    expected = 0.98 - chance(2.0, 0.4, -0.4)
    assert scored.violation.tolist() == [[pytest.approx(expected)]]
    assert np.array_equal(scored.losses, plain.losses)
    undone = problem.realise(world.genes(problem, ann[:, None]))
    assert uncertain.score(undone).violation.tolist() == [
        [pytest.approx(problem.score(undone).violation.item() + 0.98)]
    ]
    both = uncertain.with_uncertainty(uncertain.uncertainty * 2).score(problem.realise(genes))
    assert both.violation.tolist() == [[pytest.approx(2 * expected)]]
    sure = in_refits(problem, world, 1.0, 1.0)
    assert sure.score(problem.realise(genes)).violation.tolist() == [[0.0]]


def test_many_refits_are_asked_in_blocks_with_the_same_answers(world, monkeypatch, studying):
    people = world.random_rows(5)
    problem = world.problem(people, "hard", requirement=Requirement(0.4, 0.1))
    realised = problem.realise(world.genes(problem, np.broadcast_to(studying, (5, 3, 6))))
    problem = in_refits(problem, world, 1.0, 0.5, 0.25, 0.8, 1.2)
    at_once = odds_of(problem, realised)
    monkeypatch.setattr("proce.objective.uncertainty._BLOCK_CELLS", 200)
    assert np.array_equal(odds_of(problem, realised), at_once)


class Shifted:
    """The model of a world, its log-odds of yes shifted; how many rows it was asked about."""

    def __init__(self, model, by: float, threshold: float | None = None) -> None:
        self.model, self.by, self.threshold, self.n_asked = model, by, threshold, 0
        self.classes = model.classes

    def predict_proba(self, rows):
        self.n_asked += len(rows)
        yes = special.expit(special.logit(self.model.predict_proba(rows)[:, 1]) + self.by)
        return np.stack([1 - yes, yes], axis=-1)

    def predict(self, rows):
        return (self.predict_proba(rows)[:, 1] >= (self.threshold or 0.5)).astype(np.int64)


def test_every_model_has_its_own_decision(world, ann, studying):
    problem = world.problem(ann, "hard", requirement=Requirement(0.5, 0.1, min_probability=0.99))
    realised = problem.realise(world.genes(problem, studying))
    own = special.logit(problem.classifier.predict_proba(realised.point[0])[0, 1]).item()
    models = (Shifted(problem.classifier, -1.0), Shifted(problem.classifier, 0.0, threshold=0.75))
    odds = ModelUncertainty(models, 0.95).odds(problem, realised)
    assert odds.ravel().tolist() == pytest.approx([own - 1.0, own - math.log(3)])


def test_of_models_enough_to_judge_unseen_ones_by_half_of_the_risk_is_allowed(world, ann):
    model = world.problem(ann).classifier
    assert [ModelUncertainty.of((model,) * n, 0.9).min_chance for n in (4, 5)] == pytest.approx(
        [0.9, 0.95]
    )


def robustness(*draws) -> float:
    return float(ModelUncertainty((), 0.95).chance(np.array(draws, dtype=np.float64)))


def test_of_few_models_the_share_counts_and_of_many_also_the_chance_of_one_more():
    assert robustness(0.01, 9.0) == 1
    assert robustness(0.01, -9.0, 5.0) == pytest.approx(2 / 3)
    shaky = [0.1, 2.0, 0.2, 3.0, 0.1, 1.0]
    assert robustness(*shaky) == chance(*shaky)
    assert chance(*shaky) < 0.95  # though it holds in all
    assert robustness(*[5.0, 5.1, 4.9, 5.0, 5.05]) == 1  # sure enough counts as certain
    assert robustness(*[9.0] * 19, -0.1) == pytest.approx(19 / 20)


def test_only_candidates_that_hold_otherwise_are_shown_to_other_models(world, ann, studying):
    problem = world.problem(ann, "hard")
    other = Shifted(problem.classifier, 0.0)
    problem = replace(problem, uncertainty=(ModelUncertainty((other,), 0.95),))
    unchanged = world.rows((2, 3, 7, "school", "north", "chess"))[None]
    both = np.concatenate([studying, unchanged], axis=1)
    scored = problem.score(problem.realise(world.genes(problem, both)))
    assert other.n_asked == 1
    plain = problem.without_uncertainty().score(problem.realise(world.genes(problem, both)))
    assert scored.violation[0, 0] == 0
    assert scored.violation[0, 1].item() == pytest.approx(plain.violation[0, 1].item() + 0.95)


def test_only_the_candidates_asked_about_are_tried_in_every_world(world, studying):
    people = world.random_rows(4, seed=3)
    problem = world.problem(people, "hard")
    rows = world.random_rows(20, seed=4).reshape(4, 5, 6)
    realised = problem.realise(world.genes(problem, rows))
    problem = in_refits(problem, world, 1.0, 0.5, 0.25)
    every, _ = judge_draws(odds_of(problem, realised))
    asked = np.random.default_rng(5).random((4, 5)) < 0.4
    asked[2] = False
    gap = problem.robustness_gap(realised, asked)
    expected = np.where(asked & (every >= MIN_CHANCE), np.maximum(0.98 - every, 0), np.inf)
    assert np.array_equal(gap, expected)


def test_a_problem_may_ask_in_fewer_worlds_or_in_those_that_are_asked_for(world, ann, studying):
    plain = world.problem(ann, "hard")
    models = tuple(Shifted(plain.classifier, float(shift)) for shift in range(-12, 0))
    equations = in_refits(plain, world, *[1.0, 0.5, 0.25] * 4)
    problem = equations.with_uncertainty((*equations.uncertainty, ModelUncertainty(models, 0.95)))
    few = problem.subsample().uncertainty
    assert [len(few[0].refits.members), len(few[1].models)] == [8, 8]
    assert few[1].models == models[:8]
    assert problem.with_required_uncertainty().uncertainty == problem.uncertainty[1:]
    assert problem.requires_robustness
    assert not equations.requires_robustness
    realised = problem.realise(world.genes(problem, studying))
    certain = problem.without_uncertainty().score(realised)
    assert np.array_equal(certain.violation, plain.score(realised).violation)
    assert problem.score(realised).violation.item() > 0
