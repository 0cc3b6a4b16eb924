"""How far a counterfactual is from the person (Eqs. 7 and 8), and what actions cost."""

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proce.arrays import Array
from proce.causal import Actions, Ordered
from proce.latent import AutoEncoder
from proce.objective import FeatureDistance, Requirement
from proce.objective.distance import ACTION_CHARGE, causal_gap, printed_gap
from proce.objective.terms import Terms
from proce.schema import Categorical

from ..causal.programs.random_models import random_model, random_rows
from .conftest import random_autoencoder

STUDY, SKILL, PAY, DEGREE, CITY, CLUB = range(6)


def with_embeddings(codec, places) -> AutoEncoder:
    """An auto-encoder whose levels stand at these places."""
    drawn = random_autoencoder(codec)
    given = {"embeddings.weight": np.array(places, dtype=np.float32)}
    return AutoEncoder.of_weights(codec, {**drawn.weights, **given})


@pytest.fixture(scope="module")
def by_hand(world) -> FeatureDistance:
    """Cities at (0, 0), (3, 4) and (0, 1): 25, 1 and 18 apart, squared; clubs 2 apart."""
    places = [[0, 0], [3, 4], [0, 1], [5, 5], [5, 7]]
    return FeatureDistance.of(with_embeddings(world.codec, places))


@pytest.fixture(scope="module")
def measured(world):
    """Measure rows ``(i, c, f)`` against others ``(i, f)``, feature by feature."""

    def measure(rows, factual, *, squared=False, distance=world.distance) -> Array:
        limits, target = world.problem(factual, "off").limits, np.ones(len(factual), np.int64)
        nothing = np.zeros(rows.shape, np.bool_)
        told = Actions(rows, nothing, nothing, nothing, rows, nothing)
        sizes = []
        for weights in np.eye(6):  # the distance is a sum, so each feature is weighed alone
            terms = Terms.of(
                *(factual, target, limits, weights, distance),
                *("squared" if squared else "absolute", False, Requirement(None, 0.0), None),
            )
            sizes.append(terms.measured(told)[0])
        return np.stack(sizes, axis=-1)

    return measure


def test_numbers_and_ranks_differ_by_their_square_on_the_unit_range(world, measured, ann):
    rows = world.rows((5, 3, 3, "doctor", "north", "chess"))[None]
    sizes = measured(rows, ann, squared=True)[0, 0]
    assert sizes.tolist() == pytest.approx([0.3**2, 0, 0.2**2, (2 / 3) ** 2, 0, 0])


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


def test_levels_count_by_the_square_or_from_half_a_range_on(world, measured, by_hand, ann):
    rows = world.rows((5, 3, 7, "doctor", "east", "rowing"))[None]
    squared = measured(rows, ann, squared=True, distance=by_hand)[0, 0]
    assert squared[CITY:].tolist() == pytest.approx([0.04, 1])
    absolute = measured(rows, ann, distance=by_hand)[0, 0]
    assert absolute.tolist() == pytest.approx([0.3, 0, 0, 2 / 3, 0.5 + 0.5 * 0.2, 1])


def test_levels_with_the_same_embedding_are_no_distance_apart(world, measured):
    distance = FeatureDistance.of(with_embeddings(world.codec, np.zeros((5, 2))))
    assert np.abs(distance.tables[CITY]).max() == 0
    north, south = (world.rows((5, 3, 7, "school", city, "chess")) for city in ("north", "south"))
    assert measured(south[None], north, squared=True, distance=distance)[0, 0, CITY] == 0
    # another level all the same
    assert measured(south[None], north, distance=distance)[0, 0, CITY] == 0.5


def test_tables_of_levels_stand_one_behind_the_other(by_hand):
    squared = by_hand.levels["squared"]
    assert squared.places.tolist() == [[0, 0]] * 4 + [[0, 3], [9, 2]]
    tables = by_hand.tables[CITY], by_hand.tables[CLUB]
    assert squared.distances.tolist() == [each**2 for table in tables for each in table.ravel()]
    assert by_hand.levels["absolute"].distances[9:].tolist() == [0, 1, 1, 0]


def one_distance(distance, codec, at, here, there) -> float:
    """The absolute distance of two entries of a feature."""
    if at in distance.tables:
        apart = float(distance.tables[at][int(here)][int(there)])
        return 0.5 + 0.5 * apart if here != there else 0.0
    return abs(here - there) / float(codec.reach[at])


ENTRIES = st.tuples(*[st.floats(0, 1)] * 3, *(st.integers(0, n - 1) for n in (4, 3, 2)))


@given(here=ENTRIES, there=ENTRIES)
def test_distances_lie_between_0_and_1_and_work_both_ways(measured, here, there):
    one, other = (np.array([each], dtype=np.float64) for each in (here, there))
    for squared in (True, False):
        forth = measured(one[:, None], other, squared=squared)
        back = measured(other[:, None], one, squared=squared)
        assert ((forth >= 0) & (forth <= 1)).all()
        assert np.array_equal(forth, back)
        assert not measured(one[:, None], one, squared=squared).any()


def test_a_missing_cell_is_nowhere(world, measured):
    gone = world.rows((None, 3, None, None, None, "chess"))
    rows = gone[:, None].copy()
    rows[..., SKILL] = 0.5
    sizes = measured(rows, gone, squared=True)[0, 0]
    assert sizes.tolist() == pytest.approx([0, 0.04, 0, 0, 0, 0])


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
    rows = factual[:, None].repeat(2, axis=1)
    rows[:, 1, CLUB] = 1 - rows[:, 1, CLUB]
    gaps = causal_gap(rows, factual, residual, world.scm)[..., CLUB]
    assert gaps.tolist() == [[0, 1]] * 50


def test_a_level_that_is_kept_counts_by_the_chance_that_it_loses(world):
    """From 2 to 6 years of study the chance of rowing falls from 95% to 27%."""
    factual = world.rows(*[(2, 3, 7, "school", "north", "rowing")] * 40)
    residual = world.scm.abduct(factual, keys=np.arange(40))
    rows = factual[:, None].copy()
    rows[..., STUDY] = 0.6
    before, after = 1 / (1 + math.exp(-3)), 1 / (1 + math.exp(1))
    gaps = {
        round(gap, 9) for gap in causal_gap(rows, factual, residual, world.scm)[:, 0, CLUB].tolist()
    }
    assert gaps == {0.0, round(1 - after / before, 9)}  # by the noise, some would have stayed


def test_an_ordered_level_that_is_kept_counts_by_the_chance_that_it_loses(world, ann):
    """Two years of study are worth one standard deviation: 'school' is from 0.5 to 1.5 of them."""
    thresholds = np.array([0.5, 1.5, 2.5])
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
        others = np.arange(6) != at
        comes_to = world.scm.propagate(rows, residual, others)[..., at]
        apart = np.abs(rows[..., at] - comes_to) / world.codec.reach[at]
        if at == CLUB:
            kept = rows[..., at] == factual[:, None, at]
            np.testing.assert_allclose(gaps[..., at][~kept], (apart > 0)[~kept].astype(np.float64))
            assert not gaps[..., at][kept & (apart == 0)].any()
        else:
            np.testing.assert_allclose(gaps[..., at], apart)
    assert not gaps[..., [STUDY, CITY]].any()


def slow_gaps(rows, factual, noise, scm) -> Array:
    """How far each effect is from what its causes lead to, one effect and one row at a time."""
    gaps = np.zeros_like(rows)
    for at in scm.effects:
        feature, kept = scm.codec.schema.features[at], rows[..., at] == factual[:, None, at]
        is_level = isinstance(feature, Categorical)
        for i, c in np.ndindex(rows.shape[:2]):
            row = rows[i, c]
            value, follows = scm.outcome(at, row, noise[i]), scm.is_known(at, noise[i])
            gap = (
                float(row[at] != value) if is_level else abs(row[at] - value) / scm.codec.reach[at]
            )
            if kept[i, c] and (is_level or isinstance(scm.mechanisms[feature.name], Ordered)):
                codes = np.full(2, max(factual[i, at], 0.0))
                before, after = scm.chance(feature.name, np.stack([factual[i], row]), codes)
                gap *= max(0.0, 1 - after / max(before, 1e-12))
            gaps[i, c, at] = gap if follows else 0.0
    return gaps


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**20), st.sampled_from([0.0, 0.3, 1.0]))
def test_gaps_agree_with_a_loop(seed: int, given_share: float) -> None:
    scm = random_model(seed, given_share=given_share)
    factual = random_rows(scm.codec, (5,), seed)
    rows = random_rows(scm.codec, (5, 8), seed + 1, missing=0.02)
    kept = np.random.default_rng(seed).random(rows.shape) < 0.6
    rows = np.where(kept, factual[:, None], rows)
    noise = scm.abduct(factual, seed=1)
    found, expected = (each(rows, factual, noise, scm) for each in (causal_gap, slow_gaps))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, equal_nan=True)


def test_an_effect_that_is_fixed_or_not_known_has_no_gap(make_world):
    world = make_world(skill={"action": "fixed"})
    factual = world.rows((2, 3, None, "school", "north", "chess"))
    rows = factual[:, None].copy()
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
    rows = ann[:, None].repeat(2, axis=1)
    rows[0, 1, PAY], rows[0, 1, DEGREE], rows[0, 1, CLUB] = 0.99, 3, 1
    near, far = printed_gap(rows, ann, world.scm)[0]
    assert np.array_equal(near, far)


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
    effort = np.array([2.0, 1, 0.5, 1, 3, 1])
    to_south = 0.5 + 0.5 * float(world.distance.tables[CITY][0, 1])
    expected = 2 * 0.4 + 0.5 * (15 - 7) / 20 + 3 * to_south + 3 * ACTION_CHARGE
    cost = world.problem(ann, effort=effort).final_distance(told)
    assert cost.item() == pytest.approx(expected)


def test_nearly_holding_a_feature_costs_nearly_what_holding_it_does(world, ann):
    rows = world.rows(
        (6, 7, 7, "college", "north", "chess"), (6, 7, 7.1, "college", "north", "chess")
    )[None]
    told = world.scm.actions(ann, rows)
    held, nearly = world.problem(ann).final_distance(told)[0].tolist()
    assert nearly == pytest.approx(held - 0.1 / 20)


def test_what_follows_costs_nothing(world, ann):
    rows = world.rows((6, 7, 15, "college", "north", "chess"))[None]
    told = world.scm.actions(ann, rows)
    cost = world.problem(ann).final_distance(told)
    assert cost.item() == pytest.approx(0.4 + ACTION_CHARGE)


def test_costs_agree_with_a_loop(world):
    factual, rows = world.random_rows(5), world.random_rows(50, seed=1).reshape(5, 10, 6)
    told = world.scm.actions(factual, rows)
    effort = np.linspace(0.5, 2, 6)
    cost = world.problem(factual, effort=effort).final_distance(told)
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
