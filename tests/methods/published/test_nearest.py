"""The nearest row of the other class, and the way towards it, are what they should be."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce import Progress
from proce.methods import Nearest, NearestSettings
from proce.schema import Action

from ...worlds import SCHEMA, WatchedBank, bank, never, one, people, refused

TRAINING = people(400)
PLAIN = NearestSettings(sparse=False)
SCHOOLS = ["none", "basic", "high"]


def chance(frame: pd.DataFrame) -> Any:
    return bank(frame)[:, 1]


def gower(person: Any, row: Any) -> float:
    """Return the distance of two people, written out."""
    reach = {name: np.ptp(TRAINING[name]) for name in ("age", "savings", "debt")}
    gaps = [abs(person[name] - row[name]) / span for name, span in reach.items()]
    gaps.append(abs(SCHOOLS.index(person["school"]) - SCHOOLS.index(row["school"])) / 2)
    gaps.append(float(person["home"] != row["home"]))
    return sum(gaps) / 5


def reference_neighbours(person: Any) -> list[dict[str, Any]]:
    """Return the approved rows that share the person's home, from near to far."""
    approved = TRAINING[chance(TRAINING) > 0.5]
    rows = approved[approved["home"] == person["home"]].to_dict("records")
    return sorted(rows, key=lambda row: round(gower(person, row), 12))


def reference_way(person: dict[str, Any], neighbour: dict[str, Any], reward: str) -> dict[str, Any]:
    """Return NICE's counterfactual, one copy after the other."""
    current = dict(person)
    while True:
        choices = [current | {n: neighbour[n]} for n in current if current[n] != neighbour[n]]
        gains = chance(pd.DataFrame(choices)) - chance(pd.DataFrame([current]))
        if reward == "proximity":
            before = gower(person, current)
            gains = gains / [gower(person, choice) - before for choice in choices]
        current = choices[int(np.argmax(gains))]
        if chance(pd.DataFrame([current]))[0] > 0.5:
            return current


def test_the_plain_rows_are_the_nearest_of_all() -> None:
    rows = refused(people(60, seed=5), 12)
    result = Nearest(bank, SCHEMA, PLAIN).fit(TRAINING).explain(rows, n=3)
    for person, item in zip(rows.to_dict("records"), result, strict=True):
        expected = reference_neighbours(person)[:3]
        got = result[item.row : item.row + 1].counterfactuals().to_dict("records")
        assert [gower(person, row) for row in got] == pytest.approx(
            [gower(person, row) for row in expected]
        )
        assert got[0] == expected[0]


@pytest.mark.parametrize("reward", ["sparsity", "proximity"])
def test_the_sparse_row_is_that_of_the_greedy_way(reward: Any) -> None:
    rows = refused(people(60, seed=6), 15)
    settings = NearestSettings(reward=reward)
    frame = Nearest(bank, SCHEMA, settings).fit(TRAINING).explain(rows, n=1).counterfactuals()
    people_ = rows.to_dict("records")
    expected = [reference_way(p, reference_neighbours(p)[0], reward) for p in people_]
    assert frame.to_dict("records") == expected


def test_the_two_rewards_by_hand() -> None:
    """Savings 50 and debt 50 score -0.75, p 0.32.

    The neighbour's savings of 90 score 0.85, p 0.70: 0.38 more, 0.95 for each unit of distance.
    Its debt of 25 scores 0.25, p 0.56: 0.24 more, but 0.97 for each unit. Either is enough.
    """
    training = pd.concat(
        [
            one(savings=90, debt=25),
            one(savings=100, debt=100, school="none"),
            one(savings=0, debt=0, age=20),
        ]
    )
    person = one(savings=50, debt=50)
    for reward, feature, value in (("sparsity", "savings", 90), ("proximity", "debt", 25)):
        fitted = Nearest(bank, SCHEMA, NearestSettings(reward=reward)).fit(training)
        found = fitted.explain(person, n=1)
        assert found.counterfactuals().to_dict("records") == [
            {**person.to_dict("records")[0], feature: value}
        ]
        assert found.provenance.evaluations == 1 + 1 + 2  # neighbour, person, two copies
        just_enough, too_few = (fitted.explain(person, n=1, max_evaluations=n) for n in (4, 3))
        assert len(just_enough.changes()) == 1
        assert len(too_few.changes()) == 2


def test_sparse_rows_change_no_more_than_plain_ones() -> None:
    rows = refused(people(80, seed=7), 30)
    changed = []
    for settings in (NearestSettings(), PLAIN):
        result = Nearest(bank, SCHEMA, settings).fit(TRAINING).explain(rows, n=1)
        changed.append(result.changes().groupby("row").size())
    assert (changed[0] <= changed[1]).all()
    assert changed[0].sum() < changed[1].sum()


def test_where_no_row_agrees_the_persons_fixed_values_are_grafted_onto_the_nearest() -> None:
    """Approved people all own their home; whoever rents needs more than the nearest has."""
    training = TRAINING[(TRAINING["home"] == "owns") | (chance(TRAINING) < 0.5)]
    approved = training[chance(training) > 0.5]
    rows = refused(people(80, seed=8).assign(home="rents"), 10)
    result = Nearest(bank, SCHEMA, PLAIN).fit(training).explain(rows, n=1)
    frame = result.counterfactuals()
    grafted = approved.assign(home="rents")
    assert (chance(grafted) < 0.5).any()
    for person, got in zip(rows.to_dict("records"), frame.to_dict("records"), strict=True):
        holding = grafted[chance(grafted) > 0.5].to_dict("records")
        assert gower(person, got) == pytest.approx(min(gower(person, row) for row in holding))
        assert got["home"] == "rents"


def test_a_row_that_agrees_comes_before_a_nearer_one_that_does_not() -> None:
    agrees, nearer = one(savings=90, debt=10), one(savings=70, home="owns")
    others = [one(age=20, debt=100, savings=0), one(age=79, savings=0, school="none")]
    training = pd.concat([nearer, agrees, *others])
    found = Nearest(bank, SCHEMA, PLAIN).fit(training).explain(one(), n=2).counterfactuals()
    pd.testing.assert_frame_equal(found, pd.concat([agrees, nearer.assign(home="rents")]))


def test_the_next_neighbours_follow_and_none_twice() -> None:
    rows = refused(people(60, seed=9), 10)
    fitted = Nearest(bank, SCHEMA).fit(pd.concat([TRAINING, TRAINING], ignore_index=True))
    result = fitted.explain(rows, n=4)
    alone = fitted.explain(rows, n=1).counterfactuals()
    frame = result.to_frame()
    assert frame.groupby("row").size().tolist() == [4] * 10
    assert not frame.drop(columns="rank").duplicated().any()
    first = frame[frame["rank"] == 1].drop(columns=["row", "rank"])
    pd.testing.assert_frame_equal(first, alone)


def test_memory_is_bounded_and_the_blocks_do_not_show() -> None:
    rows = refused(people(60, seed=10), 9)
    model = WatchedBank()
    fitted = Nearest(model, SCHEMA).fit(TRAINING)
    frames = []
    for people_at_once in (9, 3):
        model.frames.clear()
        fitted.block_bytes = people_at_once * fitted.prepared_[1].nbytes
        frames.append(fitted.explain(rows, n=2).to_frame())
        assert model.sizes[:2] == [9, 2 * people_at_once]  # the rows, then two neighbours of each
    assert len(frames[0]) == 18
    pd.testing.assert_frame_equal(*frames)


def test_a_range_of_the_call_moves_what_lies_outside() -> None:
    rows = refused(people(80, seed=13), 20)
    result = Nearest(bank, SCHEMA).fit(TRAINING).explain(rows, n=2, ranges={"age": (40, 60)})
    frame = result.counterfactuals()
    assert not rows["age"].between(40, 60).all()
    assert frame["age"].between(40, 60).all()
    assert len(frame) == 40


def test_with_one_evaluation_the_row_is_the_neighbour_itself() -> None:
    rows = refused(people(80, seed=14), 20)
    result = Nearest(bank, SCHEMA).fit(TRAINING).explain(rows, n=1, max_evaluations=1)
    plain = Nearest(bank, SCHEMA, PLAIN).fit(TRAINING).explain(rows, n=1)
    pd.testing.assert_frame_equal(result.to_frame(), plain.to_frame())
    assert len(plain.to_frame()) == 20


def test_a_caller_who_stops_keeps_what_was_found() -> None:
    rows = refused(people(80, seed=15), 5)

    def after_a_round(progress: Progress) -> bool:
        return progress.generation == 0

    fitted = Nearest(bank, SCHEMA, PLAIN, reject_by=["cf.savings > x.savings + 30"]).fit(TRAINING)
    result = fitted.explain(rows, n=3, progress=after_a_round)
    assert 0 < len(result.to_frame()) < len(fitted.explain(rows, n=3).to_frame())


def test_nothing_to_copy_from_is_said() -> None:
    item = Nearest(never, SCHEMA).fit(TRAINING).explain(TRAINING.head(1))[0]
    assert item.outcome == "not_found"
    assert "no training row in the target class" in item.notes[0]


def test_nothing_that_holds_is_said() -> None:
    schema = SCHEMA.edit(["savings", "debt", "school"], action=Action.FIXED)
    item = Nearest(bank, schema).fit(TRAINING).explain(one(savings=0, debt=90), n=1)[0]
    assert item.outcome == "not_found"
    assert "may not change" in item.notes[0]
