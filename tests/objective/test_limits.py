"""Where each feature may end: by action, and as a consequence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proce.arrays import Array
from proce.causal import Actions
from proce.errors import SchemaError
from proce.objective import CallLimits, Limits

STUDY, SKILL, PAY, DEGREE, CITY, CLUB = range(6)


def limits_of(codec, factual, vary=None, ranges=None) -> Limits:
    return CallLimits.read(codec, vary, ranges).of_rows(codec, factual)


def excess_of(world, limits, factual, rows, by_hand) -> Array:
    """How far rows ``(i, c, f)``, some of whose cells are set by hand, are beyond limits."""
    nothing = np.zeros(rows.shape, np.bool_)
    told = Actions(rows, np.broadcast_to(by_hand, rows.shape), nothing, nothing, rows, nothing)
    return world.problem(factual, "off").with_limits(limits).terms.measured(told)[1]


def bounds(limits, at) -> list[float]:
    """Lower and upper, for actions and for consequences, of a feature of the first row."""
    ends = (limits.lower, limits.upper, limits.consequence_lower, limits.consequence_upper)
    return [end[0, at].item() for end in ends]


def test_without_a_declaration_a_feature_stays_in_the_range_of_the_training_rows(world, ann):
    limits = limits_of(world.codec, ann)
    assert limits.movable.all()
    assert bounds(limits, STUDY) == [0, 1, 0, 1]
    assert bounds(limits, DEGREE) == [0, 3, 0, 3]
    assert bounds(limits, CITY) == [0, 2, 0, 2]


def test_one_way_features_end_where_the_person_is(make_world, ann):
    world = make_world(study={"action": "increase"}, degree={"action": "decrease"})
    limits = limits_of(world.codec, ann)
    assert bounds(limits, STUDY) == pytest.approx([0.2, 1, 0.2, 1])
    assert bounds(limits, DEGREE) == [0, 1, 0, 1]


def test_what_is_fixed_or_indirect_is_not_movable(make_world, ann):
    world = make_world(study={"action": "fixed"}, pay={"action": "indirect"})
    movable = limits_of(world.codec, ann).movable[0]
    assert movable.tolist() == [False, True, False, True, True, True]


def test_a_permitted_range_may_lead_beyond_the_training_rows_by_action_only(make_world, ann):
    world = make_world(skill={"range": (1, 15)})
    assert bounds(limits_of(world.codec, ann), SKILL) == pytest.approx([0.1, 1.5, 0.1, 1])


def test_who_is_outside_the_permitted_range_may_stay_there(make_world):
    world = make_world(skill={"range": (1, 8)})
    person = world.rows((2, 12, 7, "school", "north", "chess"))
    assert bounds(limits_of(world.codec, person), SKILL) == pytest.approx([0.1, 1.2, 0.1, 1.2])


def test_a_range_of_the_call_binds_the_final_value(world, ann):
    ranges = {"skill": (4, 9), "degree": ("college", "doctor")}
    limits = limits_of(world.codec, ann, ranges=ranges)
    assert bounds(limits, SKILL) == pytest.approx([0.4, 0.9, 0.4, 0.9])
    assert bounds(limits, DEGREE) == [2, 3, 2, 3]
    excess = excess_of(world, limits, ann, ann[:, None], by_hand=False)
    assert excess.item() == pytest.approx(0.1 + 1 / 3)  # staying is not allowed


def test_a_range_of_the_call_narrows_and_never_widens(make_world, ann):
    world = make_world(skill={"range": (1, 8)})
    limits = limits_of(world.codec, ann, ranges={"skill": (0, 6)})
    assert bounds(limits, SKILL) == pytest.approx([0.1, 0.6, 0.1, 0.6])


def test_who_is_outside_of_the_permitted_range_may_stay_or_must_end_inside(make_world, ann):
    world = make_world(skill={"range": (4, 8)})  # Ann has 3
    limits = limits_of(world.codec, ann)
    assert bounds(limits, SKILL)[:2] == pytest.approx([0.3, 0.8])
    assert limits.action_lower[0, SKILL].item() == pytest.approx(0.4)
    rows = ann[:, None].repeat(3, axis=1)
    rows[0, 1:, SKILL] = 0.35, 0.4  # held, between, inside
    excess = excess_of(world, limits, ann, rows, by_hand=np.arange(6) == SKILL)[0]
    assert excess.tolist() == pytest.approx([0, 0.05, 0])


def test_vary_limits_what_may_be_acted_on_and_not_where_it_may_end(world, ann):
    limits, all_of_them = (
        limits_of(world.codec, ann, vary=["study", "city"]),
        limits_of(world.codec, ann),
    )
    assert np.flatnonzero(limits.movable[0]).tolist() == [STUDY, CITY]
    assert np.array_equal(limits.consequence_upper, all_of_them.consequence_upper)


def test_what_is_missing_never_moves_and_breaks_no_range(world):
    person = world.rows((None, 3, 7, None, None, "chess"))
    ranges = {"study": (4, 9), "degree": ("college", "doctor")}
    limits = limits_of(world.codec, person, ranges=ranges)
    assert limits.movable[0].tolist() == [False, True, True, False, False, True]
    assert excess_of(world, limits, person, person[:, None], by_hand=False).item() == 0


def test_excess_is_measured_on_the_unit_range_and_by_how_a_feature_moved(make_world, ann):
    world = make_world(skill={"range": (0, 15)})
    limits = limits_of(world.codec, ann)
    rows = world.rows((2, 12, 7, "school", "north", "chess"))[None]
    assert excess_of(world, limits, ann, rows, by_hand=False).item() == pytest.approx(0.2)
    assert excess_of(world, limits, ann, rows, by_hand=np.arange(6) == SKILL).item() == 0


SHARES = st.lists(st.floats(0, 1), min_size=3, max_size=3)


@given(own=SHARES, shares=SHARES, by_hand=st.lists(st.booleans(), min_size=6, max_size=6))
def test_between_the_bounds_nothing_is_exceeded(limited, own, shares, by_hand):
    factual = np.array([[*own, 1, 0, 0]], dtype=np.float64)
    limits, flags = limits_of(limited.codec, factual), np.array([[by_hand]])
    low = np.where(flags[:, 0], limits.action_lower, limits.consequence_lower)
    high = np.where(flags[:, 0], limits.action_upper, limits.consequence_upper)
    share = np.array([[*shares, 0, 0, 0]], dtype=np.float64)
    rows = np.minimum(np.maximum(low + share * (high - low), low), high)
    assert excess_of(limited, limits, factual, rows[:, None], flags).item() == 0
    assert (limits.lower <= limits.consequence_lower).all()
    assert (limits.consequence_upper <= limits.upper).all()
    assert excess_of(limited, limits, factual, factual[:, None], flags).item() == 0  # may stay


@pytest.fixture(scope="module")
def limited(make_world):
    return make_world(
        study={"action": "increase"}, skill={"range": (1, 15)}, pay={"action": "decrease"}
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vary": "study"}, "expected a list of names"),
        ({"vary": ["studie"]}, "not a feature.*Did you mean 'study'"),
        ({"vary": ["pay"]}, "'pay', which is indirect; these can be acted on: 'study'"),
        ({"vary": []}, "vary is empty"),
        ({"ranges": {"city": ("north", "south")}}, "has no order; use a rule"),
        ({"ranges": {"study": 4}}, "expected \\(low, high\\)"),
        ({"ranges": {"study": (None, 4)}}, "expected \\(low, high\\)"),
        ({"ranges": {"study": (9, 4)}}, "is empty; write the lower limit first"),
        ({"ranges": {"degree": ("doctor", "none")}}, "is empty"),
        ({"ranges": {"degree": ("none", "phd")}}, "unknown level 'phd'"),
        ({"ranges": {"wage": (0, 1)}}, "unknown feature 'wage'"),
    ],
)
def test_what_cannot_be_meant_is_refused(make_world, ann, options, message):
    world = make_world(pay={"action": "indirect"})
    with pytest.raises(SchemaError, match=message):
        limits_of(world.codec, ann, **options)
