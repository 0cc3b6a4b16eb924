"""Who can be helped at all: what is found is a way, and where there is a way it is found.

In truth the noise of a business grows with its size; the model wants large businesses that are
quiet. Both numbers run from 0 to 10.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import special

from proce.arrays import Array
from proce.causal import Additive, CausalGraph, Ranked, StructuralCausalModel
from proce.classifier import fit_network
from proce.datasets.worlds import random_world
from proce.errors import RuleError
from proce.metrics.ceiling import SET, Candidates, People, Ways, find_ways
from proce.metrics.recourse import reach
from proce.schema import Categorical, Codec, Continuous, Ordinal, Rule, Schema
from proce.schema.rules.rule import program_of

TRAIN = pd.DataFrame(
    {
        "size": [0.0, 10.0, 5.0],
        "noise": [0.0, 10.0, 5.0],
        "walls": ["thin", "thick", "thin"],
        "owner": ["a", "b", "c"],
    }
)


def truth(**actions: str) -> StructuralCausalModel:
    """Return the equations: noise is the squared size, by ten, and 4 less behind thick walls."""
    schema = Schema(
        [
            Continuous("size", action=actions.get("size", "free")),
            Continuous("noise", action=actions.get("noise", "indirect")),
            Ordinal("walls", ("thin", "thick"), action=actions.get("walls", "fixed")),
            Categorical("owner", ("a", "b", "c"), action=actions.get("owner", "fixed")),
        ]
    )
    noise = Additive(lambda parents: parents["size"] ** 2 / 10 - 4 * parents["walls"])
    graph = CausalGraph([("size", "noise"), ("walls", "noise")])
    return StructuralCausalModel(graph, {"noise": noise}, Codec.fit(schema, TRAIN))


class Scored:
    """Says yes where a score of rows is above 0."""

    threshold, classes = None, (0, 1)

    def __init__(self, score: Callable[[Array], Array]) -> None:
        self.score = score

    def predict_proba(self, rows: Array) -> Array:
        score = self.score(rows)
        return np.stack([special.expit(-score), special.expit(score)], axis=-1)


def quiet(wanted: float = 10.0) -> Scored:
    """Return a model that says yes where twice the size is above the noise by more than that."""
    return Scored(lambda rows: 2 * 10 * rows[:, 0] - 10 * rows[:, 1] - wanted)


def person(size: float, noise: float, walls: int = 0) -> Array:
    return np.array([[size / 10, noise / 10, walls, 0]], dtype=np.float64)


def ways(people: Array, world: StructuralCausalModel, wanted: float = 10.0, rules=()) -> Ways:
    target = np.ones(len(people), dtype=np.int64)
    parsed = [Rule.parse(rule, world.codec) for rule in rules]
    return find_ways(people, target, world, quiet(wanted), parsed)


def best_by_hand(own_noise: float, walls: int = 0) -> float:
    """Return the most that twice the size can exceed the noise by, over a very fine grid."""
    size = np.linspace(0, 10, 100_001, dtype=np.float64)
    return float((2 * size - (size**2 / 10 - 4 * walls + own_noise)).max())


@pytest.mark.parametrize("lacking", [-1e-3, -1e-6, 1e-6, 1e-3])
def test_a_way_is_found_exactly_where_a_very_fine_grid_has_one(lacking: float):
    people = person(2.0, 1.0)  # the noise of the person: 1.0 - 0.4
    wanted = best_by_hand(own_noise=0.6) + lacking
    assert ways(people, truth(), wanted).exist.tolist() == [lacking < 0]


def test_the_peak_inside_the_range_is_found_however_narrow():
    """The model wants a size between 6.4999 and 6.5001, which no coarse grid has."""
    narrow = Scored(lambda rows: 1e-4 - np.abs(10 * rows[:, 0] - 6.5))
    found = find_ways(person(2, 1), np.ones(1, dtype=np.int64), truth(), narrow)
    assert found.exist.tolist() == [True]


def test_a_way_leads_where_it_says():
    world, people = truth(walls="free"), np.concatenate([person(2, 1), person(5, 6), person(1, 9)])
    found = ways(people, world)
    assert found.exist.tolist() == [True, True, False]
    way = found.reached[:, None], world.abduct(people), found.by_hand[:, None]
    assert np.array_equal(reach(world, people, *way)[:, 0], found.reached)
    assert (quiet().predict_proba(found.reached)[:, 1] > 0.5).tolist() == found.exist.tolist()
    assert np.array_equal(found.reached[2], people[2])


def test_a_number_that_is_missing_is_neither_set_nor_held():
    large = Scored(lambda rows: 10 * rows[:, 0] - 5)
    found = find_ways(person(2, np.nan), np.ones(1, dtype=np.int64), truth(), large)
    assert found.by_hand.tolist() == [[True, False, False, False]]


def test_only_what_the_schema_allows_is_done():
    large = person(9, 17.5 + 8.1)
    assert not ways(large, truth(size="fixed", walls="fixed")).exist.any()
    assert not ways(person(3, 1), truth(size="decrease"), wanted=9.0).exist.any()  # 10 would do
    found = ways(person(2, 1), truth(size="increase"), wanted=9.0)
    assert found.exist.all()
    assert found.by_hand.tolist() == [[True, False, False, False]]


def test_levels_are_tried():
    assert not ways(person(5, 5), truth(size="fixed")).exist.any()
    found = ways(person(5, 2.0), truth(size="fixed", walls="free"), wanted=10.0)
    assert found.exist.all()
    assert found.reached[0, 2] == 1


def test_an_effect_can_be_held_against_its_cause():
    """Held at 1 the noise lets every size pass; where it follows no size does."""
    wanted = 15.0
    assert not ways(person(2, 1), truth(), wanted).exist.any()
    found = ways(person(2, 1), truth(noise="free"), wanted)
    assert found.exist.all()
    assert found.by_hand[0, 1]


def test_a_number_is_set_where_a_method_could_set_it():
    """Of a range from 1 to 10 in steps of 3 the values 3, 6 and 9 can be had, and 1 cannot."""
    frame = pd.DataFrame({"size": [1.0, 10.0, 6.0]})
    codec = Codec.fit(Schema([Continuous("size", (1, 10), step=3)]), frame)
    world = StructuralCausalModel(CausalGraph([], ["size"]), {}, codec)

    def small(wanted: float) -> Scored:
        return Scored(lambda rows: wanted - codec.to_raw(rows)[:, 0])

    people, target = codec.encode(frame)[1:], np.ones(2, dtype=np.int64)
    assert not find_ways(people, target, world, small(2.9)).exist.any()
    found = find_ways(people, target, world, small(3.1))
    assert codec.to_raw(found.reached)[:, 0].tolist() == [3.0, 3.0]
    tried = Candidates(np.full((1, 3, 1), SET), np.array([[[0.0], [0.5], [1.0]]]))
    alone = People(people[1:], target[1:], np.zeros((1, 0)), world, small(0.0), program_of([]))
    assert codec.to_raw(alone.follow(tried)[0])[0, :, 0].tolist() == [3.0, 6.0, 9.0]


def test_rules_hold_where_a_way_leads():
    assert ways(person(2, 1), truth(), 5.0, ["cf.noise <= 3"]).exist.all()
    assert not ways(person(2, 1), truth(), 8.5, ["cf.noise <= 3"]).exist.any()
    with pytest.raises(RuleError, match="~>"):
        ways(person(2, 1), truth(), 5.0, ["size ~> noise"])


def test_a_person_without_anything_to_do_has_no_way():
    assert not ways(person(2, 1), truth(), wanted=-100.0, rules=["cf.size == x.size"]).exist.any()


def test_what_a_person_can_do_does_not_depend_on_the_others():
    world = truth(walls="free")
    people = np.concatenate([person(size, 3) for size in (0.0, 1.0, 2.0, 3.0, 4.0)])
    together = ways(people, world)
    for index in range(len(people)):
        alone = ways(people[[index]], world)
        assert alone.exist == together.exist[index]
        assert np.array_equal(alone.reached[0], together.reached[index])


def test_where_there_are_too_many_features_for_a_grid_ways_are_drawn():
    """The model asks for three of eight numbers to be high at once, and one to be low."""
    names = [f"x{number}" for number in range(8)]
    frame = pd.DataFrame({name: [0.0, 1.0] for name in names} | {"level": ["a", "b"]})
    schema = Schema([*map(Continuous, names), Ordinal("level", ("a", "b"))])
    level = Ranked(lambda parents: parents["x0"], 2)
    world = StructuralCausalModel(
        CausalGraph([("x0", "level")]), {"level": level}, Codec.fit(schema, frame)
    )
    picky = Scored(lambda rows: rows[:, :3].sum(-1) - rows[:, 3] - 2.98)
    people = np.full((2, 9), 0.5, dtype=np.float64)
    people[:, 8] = 0
    assert find_ways(people, np.ones(2, dtype=np.int64), world, picky).exist.all()


@pytest.mark.parametrize("kind", ["mixed", "opposing", "levels"])
def test_random_ways_never_help_who_cannot_be_helped(kind: str):
    """An independent search, one way at a time, finds nobody whom the ceiling calls hopeless."""
    data = random_world(kind, world=3, n=600)
    codec = Codec.fit(data.recourse_schema, data.frame)
    model = fit_network(codec, data.frame, data.label, seed=0)
    rows = codec.encode(data.frame)
    people = rows[model.predict(rows) == 0][:40]
    world, target = data.truth.with_codec(codec), np.ones(40, dtype=np.int64)
    found = find_ways(people, target, world, model)
    assert found.exist.any()
    hopeless = people[~found.exist]
    residual = world.abduct(people)[~found.exist]
    draw = np.random.default_rng(1)
    for _ in range(300):
        start = hopeless.copy()
        by_hand = np.zeros_like(start, dtype=np.bool_)
        for position, feature in enumerate(codec.schema):
            if feature.can_be_acted_on and draw.random() < 0.6:
                values = draw.random(len(start))
                if not isinstance(feature, Continuous):
                    values = np.floor(values * len(feature.levels))
                start[:, position], by_hand[:, position] = values, True
        reached = reach(world, hopeless, start[:, None], residual, by_hand[:, None])[:, 0]
        assert not (model.predict(reached) == 1).any()
