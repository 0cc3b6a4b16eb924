"""How far a counterfactual is from the person (Eqs. 7 and 8), and what actions cost."""

import math
from dataclasses import replace
from statistics import NormalDist

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from proce.causal import Ordered
from proce.latent import AutoEncoder
from proce.objective import FeatureDistance
from proce.objective.distance import ACTION_CHARGE, action_cost, causal_gap, printed_gap

STUDY, SKILL, PAY, DEGREE, CITY, CLUB = range(6)


@pytest.fixture(scope="module")
def by_hand(world) -> FeatureDistance:
    """Cities at (0, 0), (3, 4) and (0, 1): 25, 1 and 18 apart, squared; clubs 2 apart."""
    autoencoder = AutoEncoder(world.codec, 3, 8).requires_grad_(False)
    places = torch.tensor([[0.0, 0], [3, 4], [0, 1], [5, 5], [5, 7]])
    autoencoder.embeddings.weight.copy_(places)
    return FeatureDistance.of(autoencoder)


def test_numbers_and_ranks_differ_by_their_square_on_the_unit_range(world, by_hand, ann):
    rows = world.rows((5, 3, 3, "doctor", "north", "chess"))[None]
    distance = by_hand.squared(rows, ann)[0, 0]
    assert distance.tolist() == pytest.approx([0.3**2, 0, 0.2**2, (2 / 3) ** 2, 0, 0])


def test_levels_differ_by_their_embeddings_as_a_share_of_the_farthest_two(by_hand):
    table = by_hand.tables[CITY]
    assert table.tolist() == [
        pytest.approx([0, 1, 0.2]),
        pytest.approx([1, 0, 0.72**0.5]),
        pytest.approx([0.2, 0.72**0.5, 0]),
    ]
    assert by_hand.tables[CLUB].tolist() == [[0, 1], [1, 0]]


def test_the_farthest_two_levels_are_1_apart_however_close_their_embeddings(world):
    class Close:
        codec = world.codec

        def embed(self, name, codes):
            return codes[:, None] * 1e-3

    tables = FeatureDistance.of(Close()).tables
    assert tables[CITY][0].tolist() == pytest.approx([0.0, 0.5, 1.0])
    assert tables[CLUB][0].tolist() == pytest.approx([0.0, 1.0])


def test_levels_count_by_the_square_or_from_half_a_range_on(world, by_hand, ann):
    rows = world.rows((5, 3, 7, "doctor", "east", "rowing"))[None]
    assert by_hand.squared(rows, ann)[0, 0, CITY:].tolist() == pytest.approx([0.04, 1])
    absolute = by_hand.absolute(rows, ann)[0, 0]
    assert absolute.tolist() == pytest.approx([0.3, 0, 0, 2 / 3, 0.5 + 0.5 * 0.2, 1])


def test_levels_with_the_same_embedding_are_no_distance_apart(world):
    autoencoder = AutoEncoder(world.codec, 3, 8).requires_grad_(False)
    autoencoder.embeddings.weight.zero_()
    distance = FeatureDistance.of(autoencoder)
    assert distance.tables[CITY].abs().max() == 0
    north, south = (world.rows((5, 3, 7, "school", city, "chess")) for city in ("north", "south"))
    assert distance.squared(south[None], north)[0, 0, CITY] == 0
    assert distance.absolute(south[None], north)[0, 0, CITY] == 0.5  # another level all the same


def one_distance(distance, codec, at, here, there) -> float:
    """The absolute distance of two entries of a feature."""
    if at in distance.tables:
        apart = float(distance.tables[at][int(here)][int(there)])
        return 0.5 + 0.5 * apart if here != there else 0.0
    return abs(here - there) / float(codec.reach[at])


def test_distances_agree_with_a_loop(world):
    factual, rows = world.random_rows(5), world.random_rows(40, seed=1).reshape(5, 8, 6)
    squared = world.distance.squared(rows, factual)
    absolute = world.distance.absolute(rows, factual)
    for i in range(5):
        for c in range(8):
            for at in range(6):
                here, there = factual[i, at].item(), rows[i, c, at].item()
                size = one_distance(world.distance, world.codec, at, here, there)
                assert absolute[i, c, at].item() == pytest.approx(size)
                if at in (CITY, CLUB):
                    size = world.distance.tables[at][int(here)][int(there)].item()
                assert squared[i, c, at].item() == pytest.approx(size**2)


ENTRIES = st.tuples(*[st.floats(0, 1)] * 3, *(st.integers(0, n - 1) for n in (4, 3, 2)))


@given(here=ENTRIES, there=ENTRIES)
def test_distances_lie_between_0_and_1_and_work_both_ways(world, here, there):
    one, other = (torch.tensor([each], dtype=torch.float64) for each in (here, there))
    for measure in (world.distance.squared, world.distance.absolute):
        forth, back = measure(one[:, None], other), measure(other[:, None], one)
        assert bool(((forth >= 0) & (forth <= 1)).all())
        assert torch.equal(forth, back)
        assert measure(one[:, None], one).abs().max() == 0


def test_a_missing_cell_is_nowhere(world):
    gone = world.rows((None, 3, None, None, None, "chess"))
    rows = gone[:, None].clone()
    rows[..., SKILL] = 0.5
    assert world.distance.squared(rows, gone)[0, 0].tolist() == pytest.approx([0, 0.04, 0, 0, 0, 0])


def gap_of(world, factual, *people) -> list[list[float]]:
    residual = world.scm.abduct(factual)
    return causal_gap(world.rows(*people)[None], factual, residual, world.scm)[0].tolist()


def test_the_gap_is_how_far_an_effect_is_from_what_its_causes_lead_to(world, ann):
    follows, ahead = gap_of(
        world,
        ann,
        (6, 7, 15, "college", "south", "chess"),
        (6, 8, 14, "doctor", "south", "chess"),  # one too skilled, three too poorly paid
    )
    assert follows[:CLUB] == pytest.approx([0, 0, 0, 0, 0])
    assert ahead[:CLUB] == pytest.approx([0, 0.1, 3 / 20, 1 / 3, 0])


def test_a_level_that_does_not_follow_is_1_away(world):
    factual = world.random_rows(50)
    residual = world.scm.abduct(factual)
    rows = factual[:, None].repeat(1, 2, 1)
    rows[:, 1, CLUB] = 1 - rows[:, 1, CLUB]
    gaps = causal_gap(rows, factual, residual, world.scm)[..., CLUB]
    assert gaps.tolist() == [[0, 1]] * 50


def test_a_level_that_is_kept_counts_by_the_chance_that_it_loses(world):
    """From 2 to 6 years of study the chance of rowing falls from 95% to 27%."""
    factual = world.rows(*[(2, 3, 7, "school", "north", "rowing")] * 40)
    residual = world.scm.abduct(factual, keys=torch.arange(40))
    rows = factual[:, None].clone()
    rows[..., STUDY] = 0.6
    before, after = 1 / (1 + math.exp(-3)), 1 / (1 + math.exp(1))
    gaps = {
        round(gap, 9) for gap in causal_gap(rows, factual, residual, world.scm)[:, 0, CLUB].tolist()
    }
    assert gaps == {0.0, round(1 - after / before, 9)}  # by the noise, some would have stayed


def test_an_ordered_level_that_is_kept_counts_by_the_chance_that_it_loses(world, ann):
    """Two years of study are worth one standard deviation: 'school' is from 0.5 to 1.5 of them."""
    thresholds = torch.tensor([0.5, 1.5, 2.5], dtype=torch.float64)
    degree = Ordered(lambda parents: parents["study"] / 2, thresholds, noise="median")
    scm = replace(world.scm, mechanisms={**world.scm.mechanisms, "degree": degree})
    factual = world.rows((2, 3, 7, "school", "north", "rowing"))
    rows = world.rows(
        (6, 3, 7, "school", "north", "rowing"),  # the median would be two levels up
        (6, 3, 7, "none", "north", "rowing"),
        (6, 3, 7, "doctor", "north", "rowing"),
    )[None]
    gaps = causal_gap(rows, factual, scm.abduct(factual), scm)[0, :, DEGREE]
    before = NormalDist().cdf(0.5) - NormalDist().cdf(-0.5)
    after = NormalDist().cdf(-1.5) - NormalDist().cdf(-2.5)
    assert gaps.tolist() == pytest.approx([2 / 3 * (1 - after / before), 1, 0])


def test_gaps_agree_with_propagation(world):
    factual, rows = world.random_rows(6), world.random_rows(60, seed=1).reshape(6, 10, 6)
    residual = world.scm.abduct(factual)
    gaps = causal_gap(rows, factual, residual, world.scm)
    for at in (SKILL, PAY, DEGREE, CLUB):
        others = torch.arange(6) != at
        comes_to = world.scm.propagate(rows, residual, others)[..., at]
        apart = (rows[..., at] - comes_to).abs() / world.codec.reach[at]
        if at == CLUB:
            kept = rows[..., at] == factual[:, None, at]
            torch.testing.assert_close(gaps[..., at][~kept], (apart > 0).double()[~kept])
            assert not bool(gaps[..., at][kept & (apart == 0)].any())
        else:
            torch.testing.assert_close(gaps[..., at], apart)
    assert gaps[..., [STUDY, CITY]].abs().max() == 0


def test_an_effect_that_is_fixed_or_not_known_has_no_gap(make_world):
    world = make_world(skill={"action": "fixed"})
    factual = world.rows((2, 3, None, "school", "north", "chess"))
    rows = factual[:, None].clone()
    rows[..., STUDY] = 0.9
    gaps = causal_gap(rows, factual, world.scm.abduct(factual), world.scm)
    assert gaps[0, 0, :DEGREE].tolist() == [0] * 3


def test_as_printed_a_prediction_is_compared_with_the_factual_value(world, ann):
    rows = world.rows((6, 9, 0, "none", "south", "chess"))[None]
    gaps = printed_gap(rows, ann, world.scm)[0, 0]
    chance_of_chess = 1 / (1 + math.exp(-1))
    expected = [
        0,  # a root
        (0.6 - 0.3) ** 2,  # g is 6, and the person had 3
        (0.9 - 0.35) ** 2,  # g is 18 from the candidate's own skill, and the person had 7
        (1.5 / 3 - 1 / 3) ** 2,
        0,
        (1 - chance_of_chess) ** 2,
    ]
    assert gaps.tolist() == pytest.approx(expected)


def test_as_printed_an_unchanged_row_costs_something(world, ann):
    assert printed_gap(ann[:, None], ann, world.scm).sum() > 0.01


def test_as_printed_an_effect_without_effects_drifts_freely(world, ann):
    rows = ann[:, None].repeat(1, 2, 1)
    rows[0, 1, PAY], rows[0, 1, DEGREE], rows[0, 1, CLUB] = 0.99, 3, 1
    near, far = printed_gap(rows, ann, world.scm)[0]
    assert torch.equal(near, far)


def test_as_printed_what_is_missing_costs_nothing(world):
    factual = world.rows((2, None, 7, None, "north", None))
    gaps = printed_gap(factual[:, None], factual, world.scm)[0, 0]
    assert gaps[[SKILL, DEGREE, CLUB]].tolist() == [0, 0, 0]


def test_printed_gaps_agree_with_a_loop(world):
    factual, rows = world.random_rows(4), world.random_rows(32, seed=1).reshape(4, 8, 6)
    gaps = printed_gap(rows, factual, world.scm)
    for i in range(4):
        for c in range(8):
            study, skill = 10 * rows[i, c, STUDY].item(), 10 * rows[i, c, SKILL].item()
            rowing = 1 / (1 + math.exp(study - 5))
            other = rowing if factual[i, CLUB] == 0 else 1 - rowing
            expected = [
                (study / 10 - factual[i, SKILL].item()) ** 2,
                (2 * skill / 20 - factual[i, PAY].item()) ** 2,
                ((study / 4 - factual[i, DEGREE].item()) / 3) ** 2,
                other**2,
            ]
            assert gaps[i, c, [SKILL, PAY, DEGREE, CLUB]].tolist() == pytest.approx(expected)


def test_an_action_costs_its_size_and_a_hold_what_it_prevents(world, ann):
    rows = world.rows((6, 7, 7, "college", "south", "chess"))[None]  # pay would have been 15
    told = world.scm.actions(ann, rows)
    assert told.held[0, 0].tolist() == [False, False, True, False, False, False]
    effort = torch.tensor([2.0, 1, 0.5, 1, 3, 1])
    to_south = 0.5 + 0.5 * float(world.distance.tables[CITY][0, 1])
    expected = 2 * 0.4 + 0.5 * (15 - 7) / 20 + 3 * to_south + 3 * ACTION_CHARGE
    cost = action_cost(told, world.distance, effort)
    assert cost.item() == pytest.approx(expected)


def test_nearly_holding_a_feature_costs_nearly_what_holding_it_does(world, ann):
    rows = world.rows(
        (6, 7, 7, "college", "north", "chess"), (6, 7, 7.1, "college", "north", "chess")
    )[None]
    told = world.scm.actions(ann, rows)
    held, nearly = action_cost(told, world.distance, torch.ones(6))[0].tolist()
    assert nearly == pytest.approx(held - 0.1 / 20)


def test_what_follows_costs_nothing(world, ann):
    rows = world.rows((6, 7, 15, "college", "north", "chess"))[None]
    told = world.scm.actions(ann, rows)
    cost = action_cost(told, world.distance, torch.ones(6))
    assert cost.item() == pytest.approx(0.4 + ACTION_CHARGE)


def test_costs_agree_with_a_loop(world):
    factual, rows = world.random_rows(5), world.random_rows(50, seed=1).reshape(5, 10, 6)
    told = world.scm.actions(factual, rows)
    effort = torch.linspace(0.5, 2, 6).double()
    cost = action_cost(told, world.distance, effort)
    for i in range(5):
        for c in range(10):
            total = 0.0
            for at in range(6):
                here = told.point[i, c, at].item()
                start = told.expected[i, c, at]
                if told.acted_on[i, c, at] or told.held[i, c, at]:
                    size = one_distance(world.distance, world.codec, at, start.item(), here)
                    total += effort[at].item() * size + 0.02
            assert cost[i, c].item() == pytest.approx(total)
