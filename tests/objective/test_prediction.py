"""Whether the class is reached, and how surely (Eq. 2)."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proce.arrays import Array
from proce.classifier import decide
from proce.losses import prediction_loss
from proce.objective import Requirement


def chances(*rows) -> Array:
    """One instance with a candidate per row."""
    return np.array([rows], dtype=np.float64)


def target(*classes) -> Array:
    return np.array(classes)


def test_the_loss_is_minus_the_logarithm_of_the_target():
    loss = prediction_loss(chances([0.75, 0.25], [0.0, 1.0], [0.5, 0.5]), target(1))
    assert loss[0].tolist() == pytest.approx([math.log(4), 0, math.log(2)])


def test_every_instance_has_its_own_target():
    both = chances([0.1, 0.2, 0.7]).repeat(2, axis=0)
    loss = prediction_loss(both, target(0, 2))
    assert loss.ravel().tolist() == pytest.approx([math.log(10), -math.log(0.7)])


def test_a_class_that_is_ruled_out_costs_much_but_not_infinitely():
    assert prediction_loss(chances([1.0, 0.0]), target(1)).item() == pytest.approx(27.631, abs=1e-3)


def lacking(requirement, rows, wanted) -> list[float]:
    return requirement.shortfall(chances(*rows), target(wanted))[0].tolist()


def test_of_two_classes_what_is_lacking_is_up_to_the_threshold_and_the_margin():
    rows = [[0.7, 0.3], [0.4, 0.6], [0.3, 0.7]]
    assert lacking(Requirement(None, 0.0), rows, 1) == pytest.approx([0.2, 0, 0])
    assert lacking(Requirement(None, 0.15), rows, 1) == pytest.approx([0.35, 0.05, 0])
    assert lacking(Requirement(0.8, 0.1), rows, 1) == pytest.approx([0.6, 0.3, 0.2])


def test_the_first_of_two_classes_is_on_the_other_side_of_the_threshold():
    rows = [[0.7, 0.3], [0.4, 0.6], [0.1, 0.9]]
    assert lacking(Requirement(0.8, 0.0), rows, 0) == pytest.approx([0, 0, 0.1])
    assert lacking(Requirement(0.8, 0.3), rows, 0) == pytest.approx([0, 0.1, 0.4])


def test_of_three_classes_the_best_other_must_be_beaten_by_twice_the_margin():
    rows = [[0.5, 0.2, 0.3], [0.2, 0.45, 0.35], [0.1, 0.8, 0.1]]
    assert lacking(Requirement(None, 0.0), rows, 1) == pytest.approx([0.3, 0, 0])
    assert lacking(Requirement(None, 0.1), rows, 1) == pytest.approx([0.5, 0.1, 0])


def test_no_more_than_certainty_is_asked_for():
    assert lacking(Requirement(0.95, 0.1), [[0.0, 1.0], [0.02, 0.98]], 1) == pytest.approx(
        [0, 0.02]
    )
    assert lacking(Requirement(0.05, 0.1), [[1.0, 0.0], [0.98, 0.02]], 0) == pytest.approx(
        [0, 0.02]
    )


@pytest.mark.parametrize(
    ("threshold", "margin", "row"),
    [
        (None, 0.1, [0.4, 0.6]),  # as doubles 0.4 + 0.2 is above 0.6
        (0.1, 0.2, [0.7, 0.3]),  # and 0.1 + 0.2 above 0.3
        (None, 0.1, [0.4, 0.6, 0.0]),
    ],
)
def test_a_probability_right_at_the_margin_is_enough(threshold, margin, row):
    assert lacking(Requirement(threshold, margin), [row], 1) == [0]


def test_a_least_probability_is_asked_for_besides_the_decision():
    requirement = Requirement(None, 0.0, min_probability=0.7)
    assert lacking(requirement, [[0.45, 0.55], [0.3, 0.7]], 1) == pytest.approx([0.15, 0])
    low = Requirement(None, 0.0, min_probability=0.2)
    assert lacking(low, [[0.6, 0.4], [0.4, 0.6]], 1) == pytest.approx([0.1, 0])


PERCENT = st.integers(0, 100).map(lambda share: share / 100)
UNIT = st.one_of(PERCENT, st.floats(0, 1), st.floats(0, 1, width=32))
THRESHOLD = st.one_of(st.none(), st.integers(1, 99).map(lambda share: share / 100))


@given(second=UNIT, off=st.sampled_from([0.0, 1e-16, -6e-8, 6e-8, 9e-4]), threshold=THRESHOLD)
@example(second=np.nextafter(0.1, 0), off=0.0, threshold=0.1)  # 1 - p is then 0.9
@example(second=0.5, off=3e-4, threshold=0.5)  # both classes are above one half
@example(second=0.5, off=0.0, threshold=None)
def test_of_two_classes_nothing_is_lacking_exactly_where_the_model_says_target(
    second, off, threshold
):
    row = [min(1.0, max(0.0, 1 - second + off)), second]
    said = int(decide(np.array(row, dtype=np.float64), threshold))
    requirement = Requirement(threshold, 0.0)
    assert [lacking(requirement, [row], k)[0] == 0 for k in range(2)] == [said == 0, said == 1]


@given(st.lists(st.integers(0, 5), min_size=3, max_size=4).filter(any))
def test_of_more_classes_nothing_is_lacking_exactly_where_the_model_says_target(votes):
    row = [vote / sum(votes) for vote in votes]  # ties are common
    said = int(decide(np.array(row, dtype=np.float64), None))
    for k in range(len(row)):
        assert (lacking(Requirement(None, 0.0), [row], k)[0] == 0) == (said == k)


@given(second=UNIT, threshold=THRESHOLD, margin=st.floats(0, 0.4))
def test_who_has_the_margin_has_the_decision(second, threshold, margin):
    row, requirement = [1 - second, second], Requirement(threshold, margin)
    said = int(decide(np.array(row, dtype=np.float64), threshold))
    for k in range(2):
        assert said == k or lacking(requirement, [row], k)[0] > 0


def test_what_a_person_reads_is_what_is_enough_also_where_the_two_do_not_sum_to_one():
    requirement = Requirement(None, 0.1)
    assert requirement.probabilities(2)[1] == pytest.approx(0.6)
    assert lacking(requirement, [[0.4005, 0.6], [0.3995, 0.5996]], 1) == pytest.approx([0, 4e-4])
    assert lacking(Requirement(None, 0.0), [[0.5003, 0.5001]], 1)[0] > 0  # the other is said


@pytest.mark.parametrize("threshold", [None, 0.5, 0.7])
def test_without_a_margin_the_decision_is_enough_also_where_the_two_do_not_sum_to_one(threshold):
    rows = np.random.default_rng(0).uniform(0.4985, 0.5, (500, 1, 1)) + np.array([0.0, 2e-4])
    rows = np.concatenate([rows, rows[..., ::-1], rows * 1.4, [[[0.4996, 0.4995]]]])
    for wanted in (0, 1):
        said = decide(rows, threshold) == wanted
        reached = Requirement(threshold, 0.0).is_reached(rows, np.full(len(rows), wanted))
        assert (reached == said).all()


def test_a_person_reads_the_probability_that_is_enough():
    assert Requirement(None, 0.1).probabilities(2) == pytest.approx((0.6, 0.6))
    assert Requirement(0.3, 0.1).probabilities(2) == pytest.approx((0.8, 0.4))
    assert Requirement(0.95, 0.1).probabilities(2) == pytest.approx((0.15, 1))
    assert Requirement(None, 0.1).probabilities(3) == (0, 0, 0)  # the lead counts
    assert Requirement(None, 0.1, 0.7).probabilities(3) == (0.7, 0.7, 0.7)
    assert Requirement(None, 0.1).lead(3) == pytest.approx(0.2)
    assert Requirement(None, 0.1).lead(2) is None
    low = Requirement(None, 0.0, min_probability=0.2)
    assert Requirement(None, 0.0, min_probability=0.8).probabilities(2) == (0.8, 0.8)
    assert low.probabilities(2) == (0.5, 0.5)  # the decision first


def test_what_a_person_reads_is_what_is_required():
    for threshold in (None, 0.2, 0.5, 0.7):
        requirement = Requirement(threshold, 0.1)
        for target, needed in enumerate(requirement.probabilities(2)):
            for chance, enough in ((needed + 1e-6, True), (needed - 1e-6, False)):
                row = [1 - chance, chance] if target else [chance, 1 - chance]
                short = requirement.shortfall(np.array([[row]]), np.array([target]))
                assert (short.item() <= 0) is enough


def test_the_target_is_reached_where_it_is_decided_for_and_the_margin_but_for_rounding():
    rows = [[1 - second, second] for second in (0.5 - 1e-7, 0.5, 0.6 - 1e-5, 0.6 - 1e-7, 0.6)]
    for margin, expected in ((0.0, [0, 1, 1, 1, 1]), (0.1, [0, 0, 0, 1, 1])):
        reached = Requirement(0.5, margin).is_reached(chances(*rows), target(1))
        assert reached.tolist() == [list(map(bool, expected))]


def beyond(requirement, rows, wanted) -> list[float]:
    return requirement.odds_beyond(chances(*rows), target(wanted))[0].tolist()


def test_the_decision_is_passed_by_log_odds_whatever_the_margin():
    rows = [[0.75, 0.25], [0.5, 0.5], [0.2, 0.8]]
    for margin in (0.0, 0.1):
        passed = beyond(Requirement(0.5, margin), rows, 1)
        assert passed == pytest.approx([-math.log(3), 0, math.log(4)])
    past_two_thirds = [math.log(1 / 3) - math.log(2), -math.log(2), math.log(4) - math.log(2)]
    assert beyond(Requirement(2 / 3, 0.0), rows, 1) == pytest.approx(past_two_thirds)
    other_side = beyond(Requirement(0.5, 0.0), rows, 0)
    assert other_side == pytest.approx([math.log(3), 0, -math.log(4)], abs=1e-9)
    assert other_side[1] < 0  # at the threshold the model says the second class


def test_of_more_classes_the_best_other_one_is_passed():
    rows = [[0.5, 0.2, 0.3], [0.1, 0.6, 0.3]]
    passed = beyond(Requirement(None, 0.0), rows, 1)
    assert passed == pytest.approx([math.log(2 / 5), math.log(2)])


def test_a_least_probability_is_passed_too():
    requirement = Requirement(None, 0.0, min_probability=0.8)
    passed = beyond(requirement, [[0.4, 0.6], [0.1, 0.9], [0.6, 0.4]], 1)
    expected = [math.log(1.5) - math.log(4), math.log(9) - math.log(4), math.log(1 / 6)]
    assert passed == pytest.approx(expected)


def test_log_odds_end_at_a_millionth():
    passed = beyond(Requirement(0.5, 0.0), [[0.0, 1.0], [1.0, 0.0]], 1)
    assert passed == pytest.approx([math.log(1e6), -math.log(1e6)], rel=1e-6)


@given(second=UNIT, threshold=THRESHOLD, margin=st.sampled_from([0.0, 0.1]))
def test_the_decision_is_passed_exactly_where_the_model_says_target(second, threshold, margin):
    row = [1 - second, second]
    said = int(decide(np.array(row, dtype=np.float64), threshold))
    for k in range(2):
        assert (beyond(Requirement(threshold, margin), [row], k)[0] >= 0) == (said == k)
