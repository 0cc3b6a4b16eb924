"""Survivors are those of a slow search by definition."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proce.search import Evaluation, survival
from proce.search.nsga2 import evaluate
from proce.search.survival import Candidates, survive

from ..compiled.parts import whole

objective_orders = whole(survival.objective_orders)
deb_crowding = whole(survival.deb_crowding)
nearest_crowding = whole(survival.nearest_crowding)


def candidates(genes, losses, violation) -> Candidates:
    """Return the candidates of one instance, from nested lists."""
    genes, losses, violation = (np.array([part], np.float64) for part in (genes, losses, violation))
    evaluation = evaluate(lambda *_: Evaluation(losses, violation), genes, np.arange(1), 1)
    return Candidates(genes, evaluation.losses, evaluation.violation)


def dominates(a, b) -> bool:
    """Say whether (losses, violation) a beats b, by the definition of Deb et al."""
    (loss_a, over_a), (loss_b, over_b) = a, b
    if (over_a <= 0) != (over_b <= 0):
        return over_a <= 0
    if over_a > 0:
        return over_a < over_b
    pairs = list(zip(loss_a, loss_b, strict=True))
    return all(x <= y for x, y in pairs) and any(x < y for x, y in pairs)


def slow_ranks(points) -> list[int]:
    ranks, left, front = [0] * len(points), set(range(len(points))), 0
    while left:
        best = {c for c in left if not any(dominates(points[d], points[c]) for d in left)}
        for c in best:
            ranks[c] = front
        left -= best
        front += 1
    return ranks


def half_range(losses, members, o) -> float:
    values = [losses[c][o] for c in members]
    return 0.5 * max(values) - 0.5 * min(values)


def slow_deb(losses, members) -> dict[int, float]:
    total = dict.fromkeys(members, 0.0)
    for o in range(len(losses[0])):
        span = half_range(losses, members, o)
        if not span > 0:
            continue
        order = sorted(members, key=lambda c: (losses[c][o], c))
        total[order[0]] = total[order[-1]] = math.inf
        for before, c, after in zip(order, order[1:], order[2:], strict=False):
            total[c] += (0.5 * losses[after][o] - 0.5 * losses[before][o]) / span
    return total


def slow_paper(losses, members) -> dict[int, float]:
    if len(members) < 3:
        return dict.fromkeys(members, math.inf)
    place = {c: [] for c in members}
    for o in range(len(losses[0])):
        span, low = half_range(losses, members, o), min(losses[c][o] for c in members)
        for c in members:
            place[c].append((0.5 * losses[c][o] - 0.5 * low) / span if span > 0 else 0.0)

    def gap(a, b) -> float:
        total = 0.0
        for x, y in zip(place[a], place[b], strict=True):
            total += (x - y) * (x - y)
        return total

    distance = {}
    for c in members:
        a, b = sorted((d for d in members if d != c), key=lambda d: (gap(c, d), d))[:2]
        distance[c] = math.sqrt(gap(a, b))
    return distance


def slow_survivors(genes, losses, violation, size, crowding) -> list[tuple[int, int]]:
    """Return (position, rank) of the survivors in order."""
    broken = [
        genes[c] in genes[:c] or not all(map(math.isfinite, [*losses[c], violation[c]]))
        for c in range(len(genes))
    ]
    inf = [math.inf] * len(losses[0])
    points = [
        (inf, math.inf) if out else (loss, over)
        for out, loss, over in zip(broken, losses, violation, strict=True)
    ]
    ranks = slow_ranks(points)
    distance = dict.fromkeys(range(len(genes)), 0.0)
    for front in set(ranks):
        members = [c for c in range(len(genes)) if ranks[c] == front and not broken[c]]
        if members:
            slow = slow_deb if crowding == "deb" else slow_paper
            distance |= slow([point[0] for point in points], members)
    order = sorted(range(len(genes)), key=lambda c: (ranks[c], -distance[c], c))
    return [(c, ranks[c]) for c in order[:size]]


@st.composite
def pools(draw):
    """Draw genes that repeat, losses that tie, and numbers that are none."""
    m, k = draw(st.integers(1, 24)), draw(st.integers(1, 4))
    common = st.sampled_from([0.0, -0.0, 1.0, 2.0, 3.0])
    odd = st.sampled_from([-1.0, 0.1, 1e308, -1e308, math.nan, math.inf, -math.inf])
    loss = st.one_of(common, common, common, st.floats(-4, 4, width=16), odd)
    over = st.sampled_from([0.0, 0.0, 0.0, -1.0, 0.5, 0.5, 1.0, 7.0, math.nan, math.inf])
    gene = st.sampled_from([0.0, 1.0, 2.0])
    genes = draw(st.lists(st.tuples(gene, gene, gene), min_size=m, max_size=m))
    losses = draw(st.lists(st.lists(loss, min_size=k, max_size=k), min_size=m, max_size=m))
    violation = draw(st.lists(over, min_size=m, max_size=m))
    return [list(each) for each in genes], losses, violation, draw(st.integers(1, m))


@pytest.mark.parametrize("crowding", ["deb", "paper"])
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pool=pools())
def test_survivors_are_those_of_a_slow_search(crowding, pool):
    genes, losses, violation, size = pool
    expected = slow_survivors(genes, losses, violation, size, crowding)
    found = survive([candidates(genes, losses, violation)], size, crowding)
    assert found.rank[0].tolist() == [rank for _, rank in expected]
    assert found.genes[0].tolist() == [genes[c] for c, _ in expected]
    alive = [c for c, _ in expected]
    for at, c in enumerate(alive):
        if math.isfinite(found.violation[0, at]):
            assert found.losses[0, at].tolist() == losses[c]
            assert found.violation[0, at] == violation[c]


@pytest.mark.parametrize("crowding", ["deb", "paper"])
@pytest.mark.parametrize("m", [64, 65, 200, 250])
def test_survivors_of_large_pools(crowding, m):
    draw = np.random.default_rng(m).standard_normal((m, 5))
    for decimals in (0, 1, 9):
        losses = np.abs(draw[:, :3]).round(decimals).tolist()
        violation = np.maximum(draw[:, 3] - 0.5, 0).round(1).tolist()
        found = survive([candidates(draw.tolist(), losses, violation)], m // 2, crowding)
        expected = slow_survivors(draw.tolist(), losses, violation, m // 2, crowding)
        assert found.rank[0].tolist() == [rank for _, rank in expected]
        assert found.genes[0].tolist() == [draw[c].tolist() for c, _ in expected]


def test_survival_writes_into_no_group():
    pool = candidates([[1.0], [1.0], [2.0]], [[0.0], [0.0], [math.nan]], [0.0, 0.0, 0.0])
    before = pool.losses.copy()
    found = survive([pool, pool], 4, "deb")
    assert np.array_equal(pool.losses, before)
    assert found.losses[0, :, 0].tolist() == [0.0, math.inf, math.inf, math.inf]


def test_of_many_copies_the_first_counts():
    """The second hundred repeats the genes of the first, with losses that would show."""
    number = [float(c) for c in range(100)]
    pool = candidates([[c] for c in number * 2], [[c] for c in range(200)], [0.0] * 200)
    found = survive([pool], 200, "deb")
    assert found.losses[0, :100, 0].tolist() == found.genes[0, :100, 0].tolist() == number
    assert bool(np.isinf(found.losses[0, 100:]).all())


def test_ranks_by_hand():
    """Two feasible fronts, two infeasible ones, and what failed behind them."""
    losses = [[1.0, 2], [2, 1], [2, 2], [0, 0], [0, 0], [math.nan, 0]]
    pool = candidates([[c] for c in range(6)], losses, [0.0, -3, 0, 0.1, 0.2, 0])
    found = survive([pool], 6, "deb")
    ranks = dict(zip(found.genes[0, :, 0].tolist(), found.rank[0].tolist(), strict=True))
    assert [ranks[c] for c in range(6)] == [0, 0, 1, 2, 3, 4]


def crowding_of(losses, kind) -> list[float]:
    """Return the crowding of candidates of one front."""
    m, k = losses.shape
    rank, crowding = np.zeros(m, np.int64), np.empty(m)
    if kind == "paper":
        nearest_crowding(losses, rank, np.empty((k, m)), crowding)
    else:
        order, below = np.empty((2, k, m), np.int64)
        objective_orders(losses.view(np.int64), order, below)
        deb_crowding(losses, order, rank, crowding)
    return crowding.tolist()


def test_crowding_by_hand():
    """On (0, 4), (1, 2), (3, 1), (4, 0): ends are infinite, the middle sums its boxes."""
    losses = np.array([[0.0, 4, 7], [1, 2, 7], [3, 1, 7], [4, 0, 7]])
    assert crowding_of(losses, "deb") == [math.inf, 3 / 4 + 3 / 4, 3 / 4 + 2 / 4, math.inf]
    paper = crowding_of(losses, "paper")
    near_first = math.hypot(2, 1) / 4  # its two nearest are (1, 2) and (3, 1)
    assert paper[0] == pytest.approx(near_first)
    assert paper[1] == pytest.approx(math.hypot(3, 3) / 4)  # (0, 4) ties with (3, 1)
    assert paper[3] == pytest.approx(near_first)


def test_the_smallest_front_with_two_neighbours_for_everyone_by_hand():
    """Of (0, 2), (1, 1), (2, 0), on the unit range, half a diagonal lies between neighbours."""
    paper = crowding_of(np.array([[0.0, 2], [1, 1], [2, 0]]), "paper")
    half = math.hypot(0.5, 0.5)
    assert paper == pytest.approx([half, 2 * half, half])


def test_minus_zero_is_a_copy_of_zero():
    """The second has lower losses, but its genes came before: it counts as the worst."""
    pool = candidates([[0.0, 1.0], [-0.0, 1.0]], [[2.0], [1.0]], [0.0, 0.0])
    survivors = survive([pool], 2, "deb")
    assert survivors.losses[0, :, 0].tolist() == [2.0, math.inf]
    assert survivors.violation[0].tolist() == [0.0, math.inf]
