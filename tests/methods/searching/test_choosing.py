"""What is worth showing of what was found: of many rows at once as of each by itself."""

import pytest
import torch
from torch import Tensor

from proce.compiled import engine
from proce.losses import Loss
from proce.methods.searching.choosing import (
    Choice,
    Pool,
    alike,
    choose,
    find_fronts,
    first_of_each,
    needless,
)
from proce.search import non_dominated


@pytest.fixture(params=["numba", "tensors"])
def both_ways(request, monkeypatch) -> None:
    if request.param == "tensors":
        monkeypatch.setattr("proce.methods.searching.choosing.use_kernels", lambda device: False)
    else:
        assert engine.kernels_available()


def test_more_actions_for_nothing_are_needless() -> None:
    """Only the second acts on more than the first, costs more and is no likelier."""
    losses = torch.tensor(
        [
            [0.3, 1.0],  # savings
            [0.3, 1.5],  # savings and income, farther, as likely
            [0.2, 1.5],  # savings and income, likelier
            [0.3, 0.9],  # savings and debt, nearer
            [0.4, 1.6],  # debt alone: other features
        ]
    )
    by_hand = torch.tensor(
        [[1, 0, 0], [1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 1]], dtype=torch.bool
    )
    firm = torch.zeros(5)
    assert needless(losses, by_hand, firm).tolist() == [False, True, False, False, False]
    shaky = torch.tensor([0.1, 0.0, 0.0, 0.0, 0.0])  # savings alone may fail in a refit
    assert not needless(losses, by_hand, shaky).any()
    typicality = torch.tensor([0.9, 0.1, 0.9, 0.9, 0.9])  # of which the second has more
    assert not needless(torch.cat([losses, typicality[:, None]], 1), by_hand, firm).any()


def test_the_same_actions_are_never_needless() -> None:
    losses = torch.tensor([[0.3, 0.9, 1.0], [0.3, 0.9, 1.0]])
    assert not needless(losses, torch.ones(2, 3, dtype=torch.bool), torch.zeros(2)).any()
    nothing = torch.ones(0, 3, dtype=torch.bool)
    assert needless(losses[:0], nothing, torch.zeros(0)).shape == (0,)


def test_a_way_that_ends_nearly_where_a_closer_one_does_is_no_other_way() -> None:
    size = torch.tensor([[0.50, 0.0], [0.52, 0.0], [0.60, 0.0], [0.52, 0.1]])
    by_hand = torch.tensor([[1, 0], [1, 0], [1, 0], [1, 1]]).bool()
    distance, shortfall = torch.tensor([0.2, 0.1, 0.3, 0.4]), torch.zeros(4)
    assert alike(size, by_hand, distance, shortfall).tolist() == [True, False, False, False]
    shaky = torch.tensor([0.0, 0.1, 0.0, 0.0])  # the closer one holds in fewer refits
    assert alike(size, by_hand, distance, shaky).tolist() == [False, False, False, False]


def test_of_equal_rows_the_first_that_counts_is_kept() -> None:
    nan = torch.nan
    rows = torch.tensor([[0.1, nan], [0.1, nan], [0.1, 2.0], [0.1 + 1e-11, 2.0], [0.1, 2.0]])
    among = torch.tensor([True, True, False, True, True])
    assert first_of_each(rows, among).tolist() == [True, False, False, True, False]


def drawn_pool(seed: int, n_rows: int = 12, p: int = 18, f: int = 4) -> Pool:
    """Candidates with many ties: few values, few sets of actions, copies and missing cells."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator, dtype=torch.float64)

    rows = (draw(n_rows, p, f) * 8).round() / (8 if seed % 2 else 80)
    rows = rows.masked_fill(draw(n_rows, 1, f) < 0.15, torch.nan)
    losses = draw(n_rows, p, 3)
    if seed % 3:
        losses = (losses * 4).round() / 4
    missing = (draw(n_rows, p) * 0.2 - 0.1).clamp(min=0)
    missing += torch.where(draw(n_rows, 1) < 0.3, 0.05, 0.0)  # no candidate is sure
    missing = missing.masked_fill(draw(n_rows, p) < draw(n_rows, 1), torch.inf)
    return Pool(rows, draw(n_rows, p, f) < 0.4, losses, missing)


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("pick", ["closest", "balanced", "typical", "first"])
@pytest.mark.parametrize("n", [1, 5, 30])
def test_many_rows_at_once_are_chosen_as_each_by_itself(pick, n) -> None:
    for seed in range(8):
        pool, wide = drawn_pool(seed), 70 if seed == 7 else 4
        if wide > 4:  # more features than a word has bits
            pool = drawn_pool(seed, n_rows=6, f=wide)
        reach = torch.tensor([1.0, 2.0, 0.5, 1.0] * wide)[:wide].double()
        for is_sparse, is_typical, only_firm in (
            (True, False, False),
            (True, True, False),
            (True, False, True),
            (False, False, False),
            (False, False, True),
        ):
            choice = Choice(pick, n, 2.0, reach, is_sparse, is_typical, only_firm)
            order = choose(pool, choice).tolist()
            told = [[position for position in own if position >= 0] for own in order]
            assert told == [slowly_chosen(pool, row, choice) for row in range(len(order))]


def test_a_row_without_candidates_has_nothing_to_show(both_ways) -> None:
    pool = drawn_pool(0, n_rows=3)
    nothing = Pool(pool.rows, pool.by_hand, pool.losses, torch.full_like(pool.missing, torch.inf))
    assert (choose(nothing, Choice("closest", 4, 2.0, torch.ones(4).double())) == -1).all()
    none = Pool(*(column[:0] for column in vars(pool).values()))
    assert choose(none, Choice("closest", 4, 2.0, torch.ones(4).double())).shape == (0, 4)


def test_a_front_holds_what_no_other_dominates_once(both_ways) -> None:
    for seed in range(6):
        pool = drawn_pool(seed)
        flags = find_fronts(pool.rows, pool.losses, pool.missing.isfinite())
        for row in range(len(flags)):
            feasible = slowly_distinct(pool.rows[row], pool.missing[row].isfinite())
            best = feasible[non_dominated(pool.losses[row, feasible])]
            assert torch.nonzero(flags[row]).flatten().tolist() == best.tolist()


def slowly_chosen(pool: Pool, row: int, choice: Choice) -> list[int]:
    """The candidates of one row to show, one step after the other."""
    losses, by_hand, missing = pool.losses[row], pool.by_hand[row], pool.missing[row]
    good = slowly_distinct(pool.rows[row], missing.isfinite())
    if choice.is_sparse:
        compared, preferred = [Loss.PREDICTION, Loss.DISTANCE], Loss.DISTANCE
        if choice.is_typical:
            closest = [losses[at, 2] for at in slowly_surest(missing, good)]
            limit = choice.within * min(closest, default=torch.inf) + 1e-12
            good = good[losses[good, Loss.DISTANCE] <= limit]
            compared, preferred = list(Loss), Loss.PROTOTYPE
        good = good[~slowly_needless(losses[good][:, compared], by_hand[good], missing[good])]
        size = pool.rows[row, good] / choice.reach
        good = good[~slowly_alike(size, by_hand[good], losses[good, preferred], missing[good])]
    same = (by_hand[good][None] == by_hand[good][:, None]).all(-1)
    good = good[~(same & (missing[good][None] <= 0) & (missing[good][:, None] > 0)).any(1)]
    firm = slowly_surest(missing, good)
    shaky = [] if choice.only_firm else [at for at in good.tolist() if at not in firm]
    groups = [firm, shaky] if choice.pick != "first" else [sorted(firm + shaky)]
    order = []
    for group in groups:
        order += [group[at] for at in slowly_ranked(losses[group], by_hand[group], choice)]
    return order[: choice.n]


def slowly_distinct(rows: Tensor, feasible: Tensor) -> Tensor:
    """The positions of feasible rows, each row once, in their order."""
    positions = torch.nonzero(feasible).flatten()
    if len(positions) < 2:
        return positions
    rounded = rows[positions].nan_to_num(nan=-9.0).round(decimals=9)
    _, which = torch.unique(rounded, dim=0, return_inverse=True)
    first = torch.full((int(which.max()) + 1,), len(positions)).scatter_reduce(
        0, which, torch.arange(len(positions)), "amin"
    )
    return positions[first.sort().values]


def slowly_surest(missing: Tensor, good: Tensor) -> list[int]:
    least = min(missing[good].tolist(), default=0.0)
    limit = least + 0.02 if least > 0 else least
    return [at for at in good.tolist() if missing[at] <= limit]


def slowly_needless(losses: Tensor, by_hand: Tensor, missing: Tensor) -> Tensor:
    subset = (by_hand[None] <= by_hand[:, None]).all(-1)
    fewer = subset & (by_hand[None] != by_hand[:, None]).any(-1)
    as_good = (losses[None] <= losses[:, None]).all(-1)
    return (fewer & as_good & (missing[None] <= missing[:, None])).any(1)


def slowly_alike(size: Tensor, by_hand: Tensor, cost: Tensor, missing: Tensor) -> Tensor:
    same = (by_hand[None] == by_hand[:, None]).all(-1)
    apart = (size[None] - size[:, None]).abs().nan_to_num(nan=0.0) * by_hand
    earlier = torch.arange(len(size))[None] < torch.arange(len(size))[:, None]
    better = (cost[None] < cost[:, None]) | ((cost[None] == cost[:, None]) & earlier)
    as_sure = missing[None] <= missing[:, None]
    return (same & (apart <= 0.05).all(-1) & better & as_sure).any(1)


def slowly_ranked(losses: Tensor, by_hand: Tensor, choice: Choice) -> list[int]:
    """The order of one group of candidates, chosen one by one."""
    if not len(losses):
        return []
    low, high = losses.min(0).values, losses.max(0).values
    scaled = (losses - low) / (high - low).clamp(min=1e-12)
    near = losses[:, Loss.DISTANCE] <= choice.within * losses[:, Loss.DISTANCE].min() + 1e-12
    keys = {
        "first": torch.arange(len(losses)),
        "closest": losses[:, Loss.DISTANCE],
        "balanced": scaled.square().sum(-1),
        "typical": losses[:, Loss.PROTOTYPE].where(near, torch.inf),
    }
    chosen = [int(keys[choice.pick].argmin())]
    difference = torch.full((len(losses),), torch.inf, dtype=torch.float64)
    while len(chosen) < min(choice.n, len(losses)):
        last = chosen[-1]
        shared = (by_hand & by_hand[last]).sum(-1).double()
        actions_differ = 1 - shared / (by_hand | by_hand[last]).sum(-1).clamp(min=1)
        losses_differ = (scaled - scaled[last]).square().mean(-1).sqrt()
        difference = torch.minimum(difference, actions_differ + 0.5 * losses_differ)
        worth = difference - 2 * scaled[:, Loss.DISTANCE]
        worth[chosen] = -torch.inf
        chosen.append(int(worth.argmax()))
    return chosen
