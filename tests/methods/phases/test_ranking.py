"""Which of the rows found are shown: the recommended one, then others that differ from it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proce.arrays import Array
from proce.errors import SearchError
from proce.methods.calls.explain_options import EXPLAIN_OPTIONS
from proce.methods.phases.choosing import Choice, Pool, choose

PICKS = ("closest", "balanced", "typical", "first")


def numbers(rows) -> Array:
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def flags(rows) -> Array:
    return np.array(rows, dtype=np.bool_)


def ranked(losses, acted_on, pick, n, firm=None, within=2.0) -> list[int]:
    """The order of one row's candidates, all of which can be shown.

    None of them is sure to work; those that are not firm are less sure than the others.
    """
    count, n_features = acted_on.shape
    rows = np.repeat(np.arange(float(count))[:, None], n_features, axis=1)  # all of them differ
    missing = np.full(count, 0.1) if firm is None else np.where(firm, 0.1, 0.2)
    pool = Pool(rows[None], acted_on[None], losses[None], missing[None])
    choice = Choice(pick, n, within, np.ones(n_features), is_sparse=False)
    return [position for position in choose(pool, choice)[0].tolist() if position >= 0]


# Prediction, prototype and distance of five rows, and which of three features they act on.
LOSSES = numbers([[0.6, 0.3, 1.2], [0.1, 0.9, 1.1], [0.7, 1.0, 1.0], [0.9, 0.1, 1.3], [0, 0.5, 2]])
ACTED_ON = flags([[1, 0, 0], [1, 0, 0], [1, 0, 0], [1, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize(
    ("pick", "position"),
    [
        ("closest", 2),  # the lowest distance
        ("typical", 3),  # the lowest prototype loss within twice the lowest distance
        ("balanced", 0),  # (0.67, 0.22, 0.2) from the best of each is nearer than any other
        ("first", 0),
    ],
)
def test_the_recommended_row_comes_first(pick, position):
    assert ranked(LOSSES, ACTED_ON, pick, 1) == [position]
    assert ranked(LOSSES, ACTED_ON, pick, 5)[0] == position


def test_a_typical_row_may_be_twice_as_far_as_the_closest_or_as_far_as_is_said():
    losses = numbers([[0, 0.9, 1.0], [0, 0.1, 2.0], [0, 0.0, 2.01]])
    assert ranked(losses, flags([[1]] * 3), "typical", 1) == [1]
    assert ranked(losses, flags([[1]] * 3), "typical", 1, within=4.0) == [2]


def test_what_acts_on_other_features_comes_before_more_of_the_same():
    losses = numbers([[0.5, 0.5, 1.0], [0.5, 0.5, 1.1], [0.5, 0.5, 1.2]])
    acted_on = flags([[1, 0, 0], [1, 0, 0], [0, 1, 0]])
    losses = np.concatenate([losses, numbers([[0.5, 0.5, 3.0]])])  # far away, and the same features
    acted_on = np.concatenate([acted_on, flags([[1, 0, 0]])])
    assert ranked(losses, acted_on, "closest", 4) == [0, 2, 1, 3]


def test_a_row_that_differs_but_costs_too_much_waits():
    losses = numbers([[0.5, 0.5, 1.0], [0.4, 0.4, 1.1], [0.5, 0.5, 9.0]])
    acted_on = flags([[1, 0], [1, 0], [1, 1]])
    assert ranked(losses, acted_on, "closest", 3) == [0, 1, 2]


def test_firm_rows_come_before_all_others():
    firm = flags([0, 1, 0, 0, 1])
    order = ranked(LOSSES, ACTED_ON, "closest", 5, firm)
    assert order[:2] == [1, 4]  # 1 is the closest of the firm ones
    assert order[2] == 2  # and 2 of the others


def test_the_first_of_the_search_stays_first_firm_or_not():
    assert ranked(LOSSES, ACTED_ON, "first", 2, flags([0, 1, 1, 1, 1]))[0] == 0


@pytest.mark.parametrize("all_alike", [True, False])
def test_where_all_are_alike_firmness_says_nothing(all_alike):
    firm = np.full((5,), all_alike)
    assert ranked(LOSSES, ACTED_ON, "closest", 5, firm) == ranked(LOSSES, ACTED_ON, "closest", 5)


def test_of_nothing_nothing_is_shown():
    assert ranked(numbers([]), np.zeros((0, 3), np.bool_), "closest", 4) == []


# Few values, so that ties are common.
LOSS = st.integers(0, 3).map(lambda each: each / 3)
ROW = st.tuples(st.tuples(LOSS, LOSS, LOSS), st.tuples(*[st.booleans()] * 3), st.booleans())


@given(st.lists(ROW, min_size=1, max_size=8), st.sampled_from(PICKS), st.integers(1, 10))
def test_every_position_appears_once_and_the_pick_first(rows, pick, n):
    losses, acted_on, firm = (list(each) for each in zip(*rows, strict=True))
    order = ranked(numbers(losses), flags(acted_on), pick, n, flags(firm))
    assert len(order) == len(set(order)) == min(n, len(rows))
    assert set(order) <= set(range(len(rows)))
    preferred = [at for at in range(len(rows)) if firm[at]] or list(range(len(rows)))
    distance = {at: losses[at][2] for at in preferred}
    if pick == "first":
        assert order[0] == 0
        return
    assert [firm[at] for at in order] == sorted((firm[at] for at in order), reverse=True)
    assert order[0] in preferred
    if pick == "closest":
        assert distance[order[0]] == min(distance.values())
    if pick == "typical":
        near = [at for at in preferred if distance[at] <= 2 * min(distance.values()) + 1e-12]
        assert order[0] in near
        assert losses[order[0]][1] == min(losses[at][1] for at in near)


@given(st.lists(ROW, min_size=1, max_size=8))
def test_asking_for_fewer_gives_the_beginning_of_more(rows):
    losses, acted_on, firm = (list(each) for each in zip(*rows, strict=True))
    asked = [ranked(numbers(losses), flags(acted_on), "closest", n, flags(firm)) for n in (2, 8)]
    assert asked[0] == asked[1][:2]


def slowly_ranked(losses, acted_on) -> list[int]:
    """The order of all rows from the closest on, one by one."""
    count = len(losses)
    lows, highs = [[end(row[k] for row in losses) for k in range(3)] for end in (min, max)]
    scaled = [
        [(row[k] - lows[k]) / max(highs[k] - lows[k], 1e-12) for k in range(3)] for row in losses
    ]

    def difference(one, other) -> float:
        sets = [{at for at, on in enumerate(acted_on[each]) if on} for each in (one, other)]
        together = sets[0] | sets[1]
        jaccard = 1 - len(sets[0] & sets[1]) / max(len(together), 1)
        squares = [(a - b) ** 2 for a, b in zip(scaled[one], scaled[other], strict=True)]
        return jaccard + 0.5 * (sum(squares) / 3) ** 0.5

    shown = [min(range(count), key=lambda at: losses[at][2])]
    while len(shown) < count:
        worth = {
            at: min(difference(at, other) for other in shown) - 2 * scaled[at][2]
            for at in range(count)
            if at not in shown
        }
        shown.append(max(worth, key=worth.__getitem__))
    return shown


def test_the_order_agrees_with_a_loop():
    for seed in range(20):
        generator = np.random.default_rng(seed)
        losses = generator.random((7, 3))
        acted_on = generator.random((7, 4)) < 0.5
        expected = slowly_ranked(losses.tolist(), acted_on.tolist())
        assert ranked(losses, acted_on, "closest", 7) == expected


@pytest.mark.parametrize("pick", PICKS)
def test_a_pick_is_known_by_its_name(pick):
    EXPLAIN_OPTIONS["pick"].read(pick)


def test_an_unknown_pick_is_refused_with_those_there_are():
    with pytest.raises(SearchError, match="'closest', 'balanced', 'typical', 'first'"):
        EXPLAIN_OPTIONS["pick"].read("nearest")
    with pytest.raises(SearchError, match="Did you mean 'closest'"):
        EXPLAIN_OPTIONS["pick"].read("closests")
