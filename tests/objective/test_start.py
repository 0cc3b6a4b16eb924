"""From rows to genes, and where the search starts (Algorithm 1, line 2)."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proce.arrays import Array
from proce.objective import GeneMap, gene_map_of, initial_population
from proce.search import GeneKind

STUDY, SKILL, PAY, DEGREE, CITY, CLUB = range(6)
SWITCHED = (SKILL, PAY, DEGREE, CLUB)


@pytest.fixture(scope="module")
def varied(make_world):
    """Steps, one-way features, a feature that only follows and a wide range."""
    return make_world(
        study={"step": 1, "action": "increase"},
        skill={"range": (0, 14)},
        pay={"action": "indirect"},
        degree={"action": "increase"},
    )


def population(world, problem, size=30, seed=0, start="mixed"):
    genome, training = world.genome(problem), world.random_rows(20, seed=9)
    reach = world.codec.reach
    return initial_population(
        genome, problem.batch, reach, training, problem.gene_map, size, seed, start
    )


def test_in_hard_mode_every_effect_that_can_be_acted_on_has_a_switch(world, make_world):
    assert gene_map_of(world.codec, world.scm, "hard") == GeneMap(6, SWITCHED)
    fewer = make_world(pay={"action": "indirect"}, club={"action": "fixed"})
    assert gene_map_of(fewer.codec, fewer.scm, "hard").switched == (SKILL, DEGREE)


@pytest.mark.parametrize("mode", ["soft", "paper", "off"])
def test_in_other_modes_there_are_no_switches(world, mode):
    assert gene_map_of(world.codec, world.scm, mode) == GeneMap(6)
    assert gene_map_of(world.codec, None, "hard") == GeneMap(6)


def test_switches_follow_the_entries_in_the_order_of_their_features():
    gene_map = GeneMap(3, (0, 2))
    assert gene_map.switch_of == {0: 3, 2: 4}
    assert gene_map.switches.tolist() == [3, 0, 4]
    assert GeneMap(3).switches.tolist() == [0, 0, 0]


def test_genes_are_entries_and_then_switches_that_are_off(world, ann):
    genome = world.genome(world.problem(ann))
    real, grid, level = GeneKind.REAL, GeneKind.GRID, GeneKind.LEVEL
    assert genome.kind.tolist() == [real, real, real, grid, level, level, *[level] * 4]
    assert np.array_equal(genome.anchor[:, :6], ann)
    assert genome.anchor[0, 6:].tolist() == [0, 0, 0, 0]
    assert genome.lower[0].tolist() == [0] * 10
    assert genome.upper[0].tolist() == [1, 1, 1, 3, 2, 1, 1, 1, 1, 1]


def test_whatever_is_searched_is_an_action_and_the_other_way_round(make_world):
    world = make_world(study={"step": 1})
    told = world.codec.resolution.copy()
    told[PAY] = 0.002  # as on the scale of the bulk: a ten-thousandth of the range
    world = replace(world, codec=replace(world.codec, resolution=told))
    factual = world.rows((3.5, 4, 7, "school", "north", "chess"))  # as far from 3 as from 4
    problem = world.problem(factual, "off")
    rows = factual[:, None].repeat(201, axis=1)
    rows[0, :, STUDY] = np.linspace(0.2, 0.5, 201)
    rows[0, :, SKILL] += np.linspace(-0.002, 0.002, 201)
    rows[0, :, PAY] += np.linspace(-0.002, 0.002, 201)
    genes = world.genome(problem).repair(rows)
    assert np.array_equal(problem.realise(genes).acted_on, genes != factual[:, None])
    assert np.array_equal(genes[..., SKILL] != 0.4, np.abs(rows[..., SKILL] - 0.4) > 5.1e-4)


def test_a_step_counts_from_zero_in_raw_units(make_world):
    world = make_world(study={"step": 4})
    genome = world.genome(world.problem(world.rows((5, 3, 7, "school", "north", "chess"))))
    assert genome.upper[0, STUDY] == pytest.approx(0.8)  # 10 is no multiple of 4
    candidates = genome.anchor[:, None].copy()
    candidates[..., STUDY] = 0.75
    assert genome.repair(candidates)[0, 0, STUDY] == pytest.approx(0.8)


def test_what_may_not_be_acted_on_has_no_movable_gene(world, ann):
    problem = world.problem(ann, vary=["study", "pay"])
    movable = world.genome(problem).movable[0].nonzero()[0].tolist()
    assert movable == [STUDY, PAY, 6 + SWITCHED.index(PAY)]


@pytest.mark.parametrize(("step", "nearest"), [(None, 4.5), (1.0, 5.0)])
def test_a_value_that_the_call_forbids_gives_way_to_the_nearest_one_on_its_grid(
    make_world, ann, step, nearest
):
    world = make_world(skill={"step": step})
    problem = world.problem(ann, ranges={"skill": (4.5, 8.5)})
    genome = world.genome(problem)
    assert genome.anchor[0, SKILL] == pytest.approx(nearest / 10)
    assert np.array_equal(genome.anchor[0, [STUDY, PAY]], ann[0, [STUDY, PAY]])


def test_a_value_off_the_grid_may_stay(make_world):
    world = make_world(study={"step": 1}, skill={"step": 1, "range": (0, 8)})
    person = world.rows((2.5, 8.5, 7, "school", "north", "chess"))
    assert np.array_equal(world.genome(world.problem(person)).anchor[:, :6], person)


def allowed(genome, genes) -> Array:
    """Whether each gene lies between its bounds, on its grid, or where it was."""
    anchor, movable = genome.anchor[:, None], genome.movable[:, None]
    inside = (genes >= genome.lower[:, None]) & (genes <= genome.upper[:, None])
    counts = (genes - genome.origin) / np.where(genome.step > 0, genome.step, 1.0)
    on_grid = (genome.step == 0) | (np.abs(counts - counts.round()) < 1e-6)
    still = (genes == anchor) | (np.isnan(genes) & np.isnan(anchor))
    return still | (movable & inside & on_grid)


@settings(max_examples=40)
@given(
    numbers=st.lists(st.floats(-0.3, 1.3), min_size=3, max_size=3),
    levels=st.tuples(st.integers(-1, 3), st.integers(-1, 2), st.integers(-1, 1)),
    gone=st.sets(st.sampled_from([STUDY, SKILL, PAY])),
    start=st.sampled_from(["mixed", "gaussian", "anywhere"]),
    mode=st.sampled_from(["hard", "off"]),
)
def test_everybody_starts_inside_the_bounds(varied, numbers, levels, gone, start, mode):
    person = np.array([[*numbers, *levels]], dtype=np.float64)
    person[0, sorted(gone)] = np.nan
    problem = varied.problem(person, mode, ranges={"skill": (1, 12)})
    first = population(varied, problem, start=start)
    assert allowed(varied.genome(problem), first).all()
    known = ~varied.codec.missing(person)[0]
    lower, upper = problem.limits.lower[0], problem.limits.upper[0]
    moved = (first[0, :, :6] != person[0]) & known
    beyond = (first[0, :, :6] < lower - 1e-9) | (first[0, :, :6] > upper + 1e-9)
    assert not (moved & beyond).any()


@pytest.mark.parametrize("start", ["mixed", "gaussian", "anywhere"])
def test_a_row_starts_alike_alone_and_in_any_batch(world, start):
    factual = world.random_rows(6)
    factual[4, [SKILL, PAY]] = np.nan
    factual[4, [DEGREE, CLUB]] = -1
    together = world.problem(factual)
    everybody = population(world, together, start=start)
    for some in ([4], [0, 4], [5, 1, 3]):
        batch = together.batch.take(np.array(some))
        alone = population(world, replace(world.problem(factual[some]), batch=batch), start=start)
        np.testing.assert_allclose(alone, everybody[some], rtol=0, atol=0, equal_nan=True)


def test_another_seed_or_key_starts_elsewhere(world, ann):
    problem = world.problem(ann.repeat(2, axis=0))
    first = population(world, problem)
    assert not np.array_equal(first[0], first[1])  # the same row under two keys
    assert not np.array_equal(first, population(world, problem, seed=1))


def test_the_mixed_start_holds_the_row_itself_and_rows_of_its_prototype(world, ann):
    problem = world.problem(ann)
    first, training = population(world, problem, size=200), world.random_rows(20, seed=9)
    assert np.array_equal(first[:, 0, :6], ann)
    pays = {round(each, 9) for each in training[problem.batch.neighbours[0], PAY].tolist()}
    crossed = first[0, np.arange(200) % 3 != 0]
    values = {round(each, 9) for each in crossed[:, PAY].tolist()}
    assert values == pays | {round(ann[0, PAY].item(), 9)}
    assert first[0, :, 6:].mean(0).min() > 0.2  # effects are acted on from the beginning


def test_the_gaussian_start_spreads_around_the_row_on_the_unit_range(world):
    person = world.rows((5, 5, 10, "school", "north", "chess"))
    first = population(world, world.problem(person, "off"), size=4000, start="gaussian")[0]
    assert first[:, :3].mean(0).tolist() == pytest.approx([0.5] * 3, abs=0.02)
    assert first[:, :3].std(0).tolist() == pytest.approx([0.15] * 3, abs=0.01)
    moved = (first != person).mean(0)
    assert moved[DEGREE] > 0.2  # 0.15 of three ranks is nearly half a rank
    assert 0.1 < moved[CITY] < 0.3


def test_most_candidates_of_the_mixed_start_change_few_features(make_world):
    """The share of changed genes is m**-u: half of the candidates change at most sqrt(m) of m."""
    world = make_world()
    problem = world.problem(world.random_rows(6), "off")
    first = population(world, problem, size=400)[:, 1:]
    changed = (first != problem.batch.factual[:, None]).sum(-1)
    assert (changed <= 2).mean() > 0.4
    assert (changed >= 4).mean() > 0.1


def test_the_start_anywhere_reaches_from_bound_to_bound(world):
    person = world.rows((5, 5, 10, "school", "north", "chess"))
    problem = world.problem(person, "off")
    first = population(world, problem, size=4000, start="anywhere")[0]
    assert np.array_equal(first[0], person[0])
    for position in (STUDY, SKILL, PAY):
        moved = first[first[:, position] != person[0, position], position]
        lower, upper = problem.limits.lower[0, position], problem.limits.upper[0, position]
        evenly = np.linspace(lower, upper, len(moved))
        assert np.abs(np.sort(moved) - evenly).max() < 0.05
    cities, counts = np.unique(first[first[:, CITY] != person[0, CITY], CITY], return_counts=True)
    assert len(cities) == 2  # besides north, her own
    assert counts.min() > 0.9 * counts.max()


def test_in_hard_mode_a_feature_and_its_switch_start_together(world, ann):
    problem = world.problem(ann)
    first = population(world, problem, size=600)[0]
    moved = first[:, SWITCHED] != ann[0, list(SWITCHED)]
    on = first[:, 6:] > 0.5
    crossed = np.arange(600) % 3 != 0
    assert not (moved & ~on)[crossed].any()
    anywhere = population(world, problem, size=600, start="anywhere")[0]
    moved = anywhere[:, SWITCHED] != ann[0, list(SWITCHED)]
    assert not (moved & ~(anywhere[:, 6:] > 0.5)).any()
