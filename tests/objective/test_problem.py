"""The objectives together (Eqs. 9 and 10), what a person would see, and the constraints."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proce.arrays import Array
from proce.methods.phases.evolve import SearchedProblem
from proce.objective import Requirement, effect_predictors
from proce.objective.distance import printed_gap
from proce.schema import Rule

STUDY, SKILL, PAY, DEGREE, CITY, CLUB = range(6)
MODES = ("hard", "soft", "paper", "off")


def distances(world, problem, rows, acting=()) -> list[float]:
    told = problem.realise(world.genes(problem, rows, acting))
    return problem.final_distance(told).ravel().tolist()


@pytest.fixture(scope="module")
def moved(world) -> Array:
    """Ann with four more years of study, two more of skill than that leads to, in the south."""
    return world.rows((6, 9, 19, "college", "south", "chess"))[None]


def test_in_hard_mode_the_distance_is_what_the_actions_cost(world, ann, moved):
    south = 0.5 + 0.5 * float(world.distance.tables[CITY][0, 1])
    problem = world.problem(ann, "hard")
    acted = distances(world, problem, moved, acting=["skill"])
    assert acted == pytest.approx([0.4 + 0.2 + south + 3 * 0.02])  # skill follows to 0.7
    assert distances(world, problem, moved) == pytest.approx([0.4 + south + 2 * 0.02])
    squared = world.problem(ann, "hard", distance_form="squared")
    assert distances(world, squared, moved) == distances(world, problem, moved)
    assert squared.form == "absolute"


def test_an_effect_counts_more_by_hand_where_its_causes_could_be_moved(world, ann, moved):
    south = 0.5 + 0.5 * float(world.distance.tables[CITY][0, 1])
    problem = world.problem(ann, "hard", effect_weight=4.0)
    acted = distances(world, problem, moved, acting=["skill"])
    assert acted == pytest.approx([0.4 + 4 * 0.2 + south + 3 * 0.02])
    assert distances(world, problem, moved) == pytest.approx([0.4 + south + 2 * 0.02])
    alone = world.problem(ann, "hard", effect_weight=4.0, vary=["skill", "city"])
    row = world.rows((2, 5, 11, "college", "north", "chess"))[None]  # skill from 3 to 5
    assert distances(world, alone, row, acting=["skill"]) == pytest.approx([0.2 + 0.02])


def test_in_soft_mode_deviating_from_what_follows_costs(world, ann, moved):
    """Study, skill and city are set by hand; pay and degree follow."""
    city = float(world.distance.tables[CITY][0, 1])
    apart = 0.4 + 0.6 + 0.6 + 1 / 3 + 0.5 + 0.5 * city + 3 * 0.02
    squares = 0.4**2 + 0.6**2 + 0.6**2 + (1 / 3) ** 2 + city**2
    for weight in (1.0, 5.0):
        problem = world.problem(ann, "soft", causal_weight=weight)
        expected = apart + weight * 0.2
        assert distances(world, problem, moved)[0] == pytest.approx(expected, abs=1e-6)
        printed = world.problem(ann, "soft", causal_weight=weight, distance_form="squared")
        expected = squares + weight * 0.2**2
        assert distances(world, printed, moved)[0] == pytest.approx(expected, abs=1e-6)


def test_as_printed_roots_cost_their_distance_and_effects_that_of_their_prediction(
    world, ann, moved
):
    roots = 0.4**2 + float(world.distance.tables[CITY][0, 1]) ** 2
    club = (1 - 1 / (1 + math.exp(-1))) ** 2
    effects = (0.6 - 0.3) ** 2 + (0.9 - 0.35) ** 2 + (1.5 / 3 - 1 / 3) ** 2 + club
    problem = world.problem(ann, "paper")
    assert distances(world, problem, moved) == pytest.approx([roots + effects])


def test_without_causes_every_difference_costs_its_distance_by_effort(world, ann, moved):
    effort = np.array([1.0, 2, 1, 1, 0.5, 1])
    south = 0.5 + 0.5 * float(world.distance.tables[CITY][0, 1])
    expected = 0.4 + 2 * 0.6 + 0.6 + 1 / 3 + 0.5 * south + 5 * 0.02
    problem = world.problem(ann, "off", effort=effort)
    assert distances(world, problem, moved) == pytest.approx([expected])
    squares = 0.4**2 + 2 * 0.6**2 + 0.6**2 + (1 / 3) ** 2 + 0.5 * (2 * south - 1) ** 2
    printed = world.problem(ann, "off", effort=effort, distance_form="squared")
    assert distances(world, printed, moved) == pytest.approx([squares])


ENTRIES = st.tuples(*[st.floats(0, 1)] * 3, *(st.integers(0, n - 1) for n in (4, 3, 2)))


@settings(max_examples=50)
@given(ENTRIES)
def test_an_unchanged_row_costs_nothing_except_as_printed(world, entries):
    row = np.array([entries], dtype=np.float64)
    for mode in ("hard", "soft", "off"):
        assert distances(world, world.problem(row, mode), row[:, None]) == pytest.approx([0])
    expected = float(printed_gap(row[:, None], row, world.scm).sum())
    assert distances(world, world.problem(row, "paper"), row[:, None]) == pytest.approx([expected])
    assert expected > 0  # no level is certain


@settings(max_examples=50)
@given(
    own=ENTRIES,
    wanted=ENTRIES,
    acting=st.sets(st.sampled_from(["skill", "pay", "degree", "club"])),
    vary=st.sets(st.sampled_from(["study", "skill", "pay", "degree", "city", "club"]), min_size=1),
)
def test_in_hard_mode_what_is_not_switched_on_follows(world, own, wanted, acting, vary):
    row, rows = (np.array([each], dtype=np.float64) for each in (own, wanted))
    problem = world.problem(row, vary=sorted(vary))
    genes = world.genome(problem).repair(world.genes(problem, rows[:, None], acting))
    told = problem.realise(genes)
    by_hand = told.acted_on | told.held
    on = problem.limits.movable.copy()
    for position, gene in problem.gene_map.switch_of.items():
        on[:, position] &= genes[:, 0, gene] > 0.5
    assert not (by_hand[:, 0] & ~on).any()
    start = np.where(by_hand, told.point, row[:, None])
    again = world.scm.propagate(start, problem.batch.residual, by_hand)
    np.testing.assert_allclose(told.point, again, rtol=0, atol=2e-3)  # tiny drifts are none
    assert np.array_equal(told.point[told.acted_on], genes[..., :6][told.acted_on])
    assert np.array_equal(told.point[told.held], row[:, None][told.held])


@pytest.mark.parametrize("mode", ["hard", "soft"])
def test_what_may_not_be_varied_still_follows(world, ann, mode):
    problem = world.problem(ann, mode, vary=["study"])
    genes = world.genome(problem).anchor[:, None].copy()
    genes[..., STUDY] = 0.6
    told = problem.realise(genes)
    assert told.point[0, 0, :DEGREE].tolist() == pytest.approx([0.6, 0.7, 0.75])
    assert told.count.tolist() == [[1]]


@pytest.mark.parametrize("mode", ["paper", "off"])
def test_without_propagation_every_change_is_an_action(world, ann, moved, mode):
    told = world.problem(ann, mode).realise(moved)
    assert np.array_equal(told.point, moved)
    assert told.acted_on[0, 0].tolist() == [True, True, True, True, True, False]
    assert not told.held.any()
    assert not told.consequence.any()


def test_as_printed_without_causes_the_distance_is_a_sum_of_squares(world, ann, moved):
    problem = world.problem(ann, "paper", scm=None)
    city = float(world.distance.tables[CITY][0, 1])
    squares = 0.4**2 + 0.6**2 + 0.6**2 + (1 / 3) ** 2 + city**2
    assert distances(world, problem, moved) == pytest.approx([squares])
    scored = problem.evaluate(world.genes(problem, moved))
    assert scored.losses[0, 0, 2].item() == pytest.approx(squares)


def test_the_three_losses_come_in_their_order(world, ann, moved):
    problem = world.problem(ann, "off")
    losses = problem.evaluate(moved).losses[0, 0]
    chance = 1 / (1 + math.exp(-8 * (0.95 - 0.5)))
    offset = world.autoencoder.encode(moved[0]) - problem.batch.prototype
    expected = [-math.log(chance), np.square(offset).mean().item()]
    assert losses.tolist() == pytest.approx([*expected, distances(world, problem, moved)[0]])


@pytest.mark.parametrize("mode", MODES)
def test_an_instance_is_scored_alike_alone_and_among_others_in_any_order(world, mode):
    factual, rows = world.random_rows(6), world.random_rows(48, seed=1).reshape(6, 8, 6)
    problem = world.problem(factual, mode, rules=["cf.study >= x.study"], max_changes=2)
    genes = world.genes(problem, rows, acting=["skill"])
    together, running = problem.evaluate(genes), SearchedProblem(problem)
    for some in ([2], [5, 0], [5, 4, 3, 2, 1, 0]):
        part = running(genes[some], np.array(some))
        np.testing.assert_allclose(part.losses, together.losses[some])
        np.testing.assert_allclose(part.violation, together.violation[some])


def violations(problem, rows) -> float:
    return problem.evaluate(rows).violation.item()


def test_the_violation_adds_up_class_limits_rules_and_number_of_changes(world, ann):
    rows = world.rows((6, 3, 12, "school", "north", "rowing"))[None]
    chance = 1 / (1 + math.exp(-8 * (0.6 - 0.5)))
    enough = Requirement(None, 0.0)
    assert violations(world.problem(ann, "off", requirement=enough), rows) == 0
    sure = Requirement(None, 0.4)
    lacking = 0.9 - chance
    assert violations(world.problem(ann, "off", requirement=sure), rows) == pytest.approx(lacking)
    strict = world.problem(
        ann,
        "off",
        requirement=sure,
        rules=["cf.study <= 5", 'cf.club == "chess"'],
        ranges={"pay": (0, 11)},
        max_changes=2,
    )
    assert violations(strict, rows) == pytest.approx(lacking + 0.1 + 1 + 1 / 20 + 1)


def test_a_consequence_outside_the_training_rows_disqualifies(world, ann):
    problem = world.problem(ann)
    far = world.rows((10, 3, 7, "school", "north", "chess"))[None]  # skill 11, pay 23
    excess = problem.terms.measured(problem.realise(world.genes(problem, far)))[1]
    assert excess.item() == pytest.approx(0.1 + 3 / 20)


def test_an_action_is_bound_by_what_is_permitted_and_not_by_the_training_rows(make_world, ann):
    world = make_world(skill={"range": (0, 15)})
    problem = world.problem(ann)
    rows = world.rows(
        (2, 12, 7, "school", "north", "chess"), (10, 3, 7, "school", "north", "chess")
    )
    genes = [
        world.genes(problem, rows[:1], ["skill", "pay"]),
        world.genes(problem, rows[1:], ["pay"]),
    ]
    _, excess = problem.terms.measured(problem.realise(np.stack(genes, axis=1)))
    by_hand, following = excess[0].tolist()
    assert (by_hand, following) == (0, pytest.approx(0.1))  # the pay is held in both


def test_a_range_against_the_only_way_leaves_nothing_allowed(make_world, ann):
    world = make_world(study={"action": "increase"})
    problem = world.problem(ann, "off", ranges={"study": (0, 1)})
    genes = world.genome(problem).repair(world.random_rows(50)[None])
    assert problem.evaluate(genes).violation.min() > 0


def test_holds_count_as_changes(world, ann):
    problem = world.problem(ann, max_changes=1)
    rows = world.rows((6, 3, 7, "school", "north", "chess"))[None]
    told = problem.realise(world.genes(problem, rows, acting=["skill"]))
    assert told.held[0, 0, SKILL]
    assert problem.terms.measured(told)[1].item() == 1


def test_a_rule_uses_the_equation_of_the_graph_where_it_names_its_causes(world):
    asked = []

    def fitted(rule):
        asked.append(rule.text)
        return world.scm

    rows = world.random_rows(5)
    known = effect_predictors(Rule.parse("study ~> degree", world.codec), world.scm, fitted)
    np.testing.assert_allclose(known["degree"](rows), 10 * rows[:, STUDY] / 4 / 3)
    assert asked == []
    effect_predictors(Rule.parse("city ~> degree", world.codec), world.scm, fitted)
    effect_predictors(Rule.parse("study ~> degree", world.codec), None, fitted)
    assert asked == ["city ~> degree", "study ~> degree"]
    assert effect_predictors(Rule.parse("cf.pay >= 3", world.codec), world.scm, fitted) == {}
