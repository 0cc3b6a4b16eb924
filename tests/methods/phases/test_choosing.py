"""What is worth showing of what was found: of many rows at once as of each by itself."""

from types import SimpleNamespace

import numpy as np
import pytest

from proce.arrays import Array
from proce.losses import Loss
from proce.methods.phases.choosing import Criteria, Pool, choose, find_fronts, near_limit
from proce.methods.phases.shortlist import most_typical


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
    gap = np.full(count, 0.1) if firm is None else np.where(firm, 0.1, 0.2)
    pool = Pool(rows[None], acted_on[None], losses[None], gap[None])
    criteria = Criteria(within, np.ones(n_features), is_sparse=False)
    return [position for position in choose(pool, pick, n, criteria)[0].tolist() if position >= 0]


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


def shown(by_hand, losses, missing, *, ends=None, **options) -> list[int]:
    """The positions of the candidates of one row that are worth showing, in their order.

    Losses are prediction and distance, or all three. Without ``ends (p, f)`` all of them end far
    from each other.
    """
    by_hand, losses = np.array(by_hand, dtype=np.bool_), np.array(losses, dtype=np.float64)
    count, n_features = by_hand.shape
    if ends is None:
        ends = np.repeat(np.arange(float(count))[:, None], n_features, axis=1)
    if losses.shape[1] == 2:
        losses = np.insert(losses, Loss.PROTOTYPE, 0.0, axis=1)
    parts = np.array(ends, dtype=np.float64), by_hand, losses, np.array(missing, dtype=np.float64)
    criteria = Criteria(10.0, np.ones(n_features), **options)
    order = choose(Pool(*(part[None] for part in parts)), "closest", 10, criteria)[0]
    return sorted(order[order >= 0].tolist())


def test_more_actions_for_nothing_are_needless() -> None:
    """Only the second acts on more than the first, costs more and is no likelier."""
    losses = np.array(
        [
            [0.3, 1.0],  # savings
            [0.3, 1.5],  # savings and income, farther, as likely
            [0.2, 1.5],  # savings and income, likelier
            [0.3, 0.9],  # savings and debt, nearer
            [0.4, 1.6],  # debt alone: other features
        ]
    )
    by_hand = [[1, 0, 0], [1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 1]]
    firm = np.zeros(5)
    assert shown(by_hand, losses, firm) == [0, 2, 3, 4]
    assert shown(by_hand, losses, firm, is_sparse=False) == [0, 1, 2, 3, 4]
    shaky = [0.1, 0.0, 0.0, 0.0, 0.0]  # savings alone may fail in a refit
    assert shown(by_hand, losses, shaky) == [0, 1, 2, 3, 4]
    typicality = [0.9, 0.1, 0.9, 0.9, 0.9]  # of which the second has more
    typical = np.insert(losses, Loss.PROTOTYPE, typicality, axis=1)
    assert shown(by_hand, typical, firm, is_typical=True) == [0, 1, 2, 3, 4]


def test_the_same_actions_are_never_needless() -> None:
    assert shown(np.ones((2, 3)), [[0.3, 1.0], [0.3, 1.0]], np.zeros(2)) == [0, 1]
    assert shown(np.ones((0, 3)), np.zeros((0, 3)), np.zeros(0)) == []


def test_a_way_that_ends_nearly_where_a_closer_one_does_is_no_other_way() -> None:
    ends = [[0.50, 0.0], [0.52, 0.0], [0.60, 0.0], [0.52, 0.1]]
    by_hand = [[1, 0], [1, 0], [1, 0], [1, 1]]
    losses = [[0.5, 0.2], [0.5, 0.1], [0.5, 0.3], [0.1, 0.4]]  # the last is likelier
    assert shown(by_hand, losses, np.zeros(4), ends=ends) == [1, 2, 3]
    shaky = [0.1, 0.2, 0.1, 0.1]  # the closer one holds in fewer refits
    assert shown(by_hand, losses, shaky, ends=ends) == [0, 1, 2, 3]


def test_of_equal_rows_the_first_that_counts_is_kept() -> None:
    nan = np.nan
    ends = [[0.1, nan], [0.1, nan], [0.1, 2.0], [0.1 + 1e-11, 2.0], [0.1, 2.0]]
    missing = [0.0, 0.0, np.inf, 0.0, 0.0]
    same = np.ones((5, 2))
    assert shown(same, np.ones((5, 3)), missing, ends=ends, is_sparse=False) == [0, 3]


def test_sure_advice_is_preferred_to_all_other_and_nearly_the_best_where_none_is_sure() -> None:
    by_hand, losses = np.eye(3), np.ones((3, 3))
    assert shown(by_hand, losses, [0.0, 0.001, 0.0], only_firm=True) == [0, 2]
    assert shown(by_hand, losses, [0.10, 0.115, 0.13], only_firm=True) == [0, 1]
    assert shown(by_hand[:0], losses[:0], [], only_firm=True) == []


def test_a_shaky_way_with_the_features_of_a_sure_one_is_dropped() -> None:
    by_hand = [[1, 0], [1, 0], [0, 1], [0, 1], [1, 1]]
    missing = [0.0, 0.1, 0.1, 0.2, 0.1]
    assert shown(by_hand, np.ones((5, 3)), missing, is_sparse=False) == [0, 2, 3, 4]


def test_what_is_too_far_by_rounding_alone_is_near_in_the_search_and_where_it_is_chosen() -> None:
    losses = np.array([[0.1, 3.0, 0.1], [0.1, 1.0, np.nextafter(1.0, 2)], [0.1, 2.0, 1.1]])
    population = SimpleNamespace(
        losses=losses[None], violation=np.zeros((1, 3)), genes=np.arange(3.0)[None, :, None]
    )
    genes = most_typical(SimpleNamespace(population=population), near_limit(np.array([0.1]), 10))
    assert genes.ravel().tolist() == [1, 0, 2]
    assert shown(np.eye(3), losses, np.zeros(3), is_typical=True) == [0, 1]


def drawn_pool(seed: int, n_rows: int = 12, p: int = 18, f: int = 4) -> Pool:
    """Candidates with many ties: few values, few sets of actions, copies and missing cells."""
    generator = np.random.default_rng(seed)

    def draw(*shape: int) -> Array:
        return generator.random(shape)

    rows = (draw(n_rows, p, f) * 8).round() / (8 if seed % 2 else 80)
    rows = np.where(draw(n_rows, 1, f) < 0.15, np.nan, rows)
    losses = draw(n_rows, p, 3)
    if seed % 3:
        losses = (losses * 4).round() / 4
    missing = np.maximum(draw(n_rows, p) * 0.2 - 0.1, 0)
    missing += np.where(draw(n_rows, 1) < 0.3, 0.05, 0.0)  # no candidate is sure
    missing = np.where(draw(n_rows, p) < draw(n_rows, 1), np.inf, missing)
    return Pool(rows, draw(n_rows, p, f) < 0.4, losses, missing)


@pytest.mark.parametrize("pick", ["closest", "balanced", "typical", "first"])
@pytest.mark.parametrize("n", [1, 5, 30])
def test_many_rows_at_once_are_chosen_as_each_by_itself(pick, n) -> None:
    for seed in range(8):
        pool, wide = drawn_pool(seed), 70 if seed == 7 else 4
        if wide > 4:  # more features than a word has bits
            pool = drawn_pool(seed, n_rows=6, f=wide)
        reach = np.array([1.0, 2.0, 0.5, 1.0] * wide)[:wide]
        for is_sparse, is_typical, only_firm in (
            (True, False, False),
            (True, True, False),
            (True, False, True),
            (False, False, False),
            (False, False, True),
        ):
            criteria = Criteria(2.0, reach, is_sparse, is_typical, only_firm)
            order = choose(pool, pick, n, criteria).tolist()
            told = [[position for position in own if position >= 0] for own in order]
            assert told == [
                slowly_chosen(pool, row, pick, n, criteria) for row in range(len(order))
            ]


def test_a_row_without_candidates_has_nothing_to_show() -> None:
    pool = drawn_pool(0, n_rows=3)
    nothing = Pool(pool.rows, pool.by_hand, pool.losses, np.full_like(pool.robustness_gap, np.inf))
    assert (choose(nothing, "closest", 4, Criteria(2.0, np.ones(4))) == -1).all()
    none = Pool(*(column[:0] for column in pool))
    assert choose(none, "closest", 4, Criteria(2.0, np.ones(4))).shape == (0, 4)


def test_a_front_holds_what_no_other_dominates_once() -> None:
    for seed in range(6):
        pool = drawn_pool(seed)
        flags = find_fronts(pool.rows, pool.losses, np.isfinite(pool.robustness_gap))
        for row in range(len(flags)):
            feasible = slowly_distinct(pool.rows[row], np.isfinite(pool.robustness_gap[row]))
            losses = pool.losses[row, feasible]
            no_worse = (losses[:, None] <= losses[None]).all(-1)  # than each of the others
            better = (losses[:, None] < losses[None]).any(-1)
            best = feasible[~(no_worse & better).any(0)]
            assert np.flatnonzero(flags[row]).tolist() == best.tolist()


def slowly_chosen(pool: Pool, row: int, pick: str, n: int, criteria: Criteria) -> list[int]:
    """The candidates of one row to show, one step after the other."""
    losses, by_hand, missing = pool.losses[row], pool.by_hand[row], pool.robustness_gap[row]
    good = slowly_distinct(pool.rows[row], np.isfinite(missing))
    if criteria.is_sparse:
        compared, preferred = [Loss.PREDICTION, Loss.DISTANCE], Loss.DISTANCE
        if criteria.is_typical:
            closest = [losses[at, 2] for at in slowly_surest(missing, good)]
            limit = criteria.within * min(closest, default=np.inf) + 1e-12
            good = good[losses[good, Loss.DISTANCE] <= limit]
            compared, preferred = list(Loss), Loss.PROTOTYPE
        good = good[~slowly_needless(losses[good][:, compared], by_hand[good], missing[good])]
        size = pool.rows[row, good] / criteria.reach
        good = good[~slowly_alike(size, by_hand[good], losses[good, preferred], missing[good])]
    same = (by_hand[good][None] == by_hand[good][:, None]).all(-1)
    good = good[~(same & (missing[good][None] <= 0) & (missing[good][:, None] > 0)).any(1)]
    firm = slowly_surest(missing, good)
    shaky = [] if criteria.only_firm else [at for at in good.tolist() if at not in firm]
    groups = [firm, shaky] if pick != "first" else [sorted(firm + shaky)]
    order = []
    for group in groups:
        order += [
            group[at]
            for at in slowly_ranked(losses[group], by_hand[group], pick, n, criteria.within)
        ]
    return order[:n]


def slowly_distinct(rows: Array, feasible: Array) -> Array:
    """The positions of feasible rows, each row once, in their order."""
    positions = np.flatnonzero(feasible)
    if len(positions) < 2:
        return positions
    rounded = np.nan_to_num(rows[positions], nan=-9.0).round(9)
    _, first = np.unique(rounded, axis=0, return_index=True)
    return positions[np.sort(first)]


def slowly_surest(missing: Array, good: Array) -> list[int]:
    least = min(missing[good].tolist(), default=0.0)
    limit = least + 0.02 if least > 0 else least
    return [at for at in good.tolist() if missing[at] <= limit]


def slowly_needless(losses: Array, by_hand: Array, missing: Array) -> Array:
    subset = (by_hand[None] <= by_hand[:, None]).all(-1)
    fewer = subset & (by_hand[None] != by_hand[:, None]).any(-1)
    as_good = (losses[None] <= losses[:, None]).all(-1)
    return (fewer & as_good & (missing[None] <= missing[:, None])).any(1)


def slowly_alike(size: Array, by_hand: Array, cost: Array, missing: Array) -> Array:
    same = (by_hand[None] == by_hand[:, None]).all(-1)
    apart = np.nan_to_num(np.abs(size[None] - size[:, None])) * by_hand
    earlier = np.arange(len(size))[None] < np.arange(len(size))[:, None]
    better = (cost[None] < cost[:, None]) | ((cost[None] == cost[:, None]) & earlier)
    as_sure = missing[None] <= missing[:, None]
    return (same & (apart <= 0.05).all(-1) & better & as_sure).any(1)


def slowly_ranked(losses: Array, by_hand: Array, pick: str, n: int, within: float) -> list[int]:
    """The order of one group of candidates, chosen one by one."""
    if not len(losses):
        return []
    low, high = losses.min(0), losses.max(0)
    scaled = (losses - low) / np.maximum(high - low, 1e-12)
    near = losses[:, Loss.DISTANCE] <= within * losses[:, Loss.DISTANCE].min() + 1e-12
    keys = {
        "first": np.arange(len(losses)),
        "closest": losses[:, Loss.DISTANCE],
        "balanced": np.square(scaled).sum(-1),
        "typical": np.where(near, losses[:, Loss.PROTOTYPE], np.inf),
    }
    chosen = [int(keys[pick].argmin())]
    difference = np.full(len(losses), np.inf)
    while len(chosen) < min(n, len(losses)):
        last = chosen[-1]
        shared = (by_hand & by_hand[last]).sum(-1)
        actions_differ = 1 - shared / np.maximum((by_hand | by_hand[last]).sum(-1), 1)
        losses_differ = np.sqrt(np.square(scaled - scaled[last]).mean(-1))
        difference = np.minimum(difference, actions_differ + 0.5 * losses_differ)
        worth = difference - 2 * scaled[:, Loss.DISTANCE]
        worth[chosen] = -np.inf
        chosen.append(int(worth.argmax()))
    return chosen
