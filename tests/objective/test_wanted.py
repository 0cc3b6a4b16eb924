"""What genes and actions ask for, before anything follows from it."""

import math

import numpy as np
import pytest

from proce.objective.genes import read_actions, read_genes

STUDY, SKILL, PAY, DEGREE, CITY, CLUB = range(6)


@pytest.fixture(scope="module")
def closed(make_world):
    """A world in which nobody is sent east, nor out of school."""
    return make_world(city={"avoid": ("east",)}, degree={"avoid": ("none",)})


def test_genes_name_values_and_what_may_be_acted_on(closed):
    ann = closed.rows((2, 3, 7, "school", "north", "chess"))
    problem = closed.problem(ann, vary=["study", "skill", "city", "degree"])
    wanted = closed.rows((6, 9, 19, "none", "east", "rowing"))
    genes = closed.genes(problem, wanted[None], acting=["skill"])
    limits = problem.limits
    rows, acting = read_genes(genes, ann, limits.movable, problem.gene_map, problem.codec.avoided)
    expected = closed.rows((6, 9, 19, "school", "north", "rowing"))  # avoided levels are not taken
    assert np.array_equal(rows[0], expected)
    assert acting[0, 0].tolist() == [True, True, False, False, True, False]


def test_who_has_an_avoided_level_keeps_it(closed):
    bob = closed.rows((2, 3, 7, "none", "east", "chess"))
    avoided = closed.codec.avoided
    problem = closed.problem(bob)
    by_hand = np.ones((1, 1, 6), np.bool_)
    rows, acting = read_actions(bob[None], by_hand, bob, problem.gene_map, avoided)
    assert np.array_equal(rows[0], bob)
    assert acting.all()


def test_what_is_not_done_by_hand_is_as_it_was(closed):
    ann = closed.rows((2, None, 7, "school", None, "chess"))
    wanted = closed.rows((6, 9, 19, "doctor", "south", "rowing"))[None]
    by_hand = np.array([[[True, False, False, True, False, False]]])
    problem = closed.problem(ann)
    rows, acting = read_actions(wanted, by_hand, ann, problem.gene_map, problem.codec.avoided)
    expected = closed.rows((6, None, 7, "doctor", None, "chess"))
    assert np.array_equal(rows[0], expected, equal_nan=True)
    assert np.array_equal(acting, by_hand)


def test_what_is_read_agrees_with_a_loop(closed):
    factual = closed.random_rows(6)
    factual[::2, SKILL], factual[1::2, CITY] = math.nan, -1.0
    problem = closed.problem(factual, vary=["study", "city", "skill", "degree", "pay"])
    n_genes = 6 + len(problem.gene_map.switched)
    genes = 1.5 * np.random.default_rng(0).random((6, 50, n_genes))
    genes[..., DEGREE], genes[..., CITY] = genes[..., DEGREE] * 3 // 1, genes[..., CITY] * 2 // 1
    genes[:, ::7, :6] = factual[:, None]
    by_hand = np.random.default_rng(1).random((6, 50, 6)) < 0.5
    parts = problem.gene_map, problem.codec.avoided
    rows, acting = read_genes(genes, factual, problem.limits.movable, *parts)
    done, acts = read_actions(genes[..., :6], by_hand, factual, *parts)
    avoided = {(CITY, 2.0), (DEGREE, 0.0)}
    for i, c, at in np.ndindex(rows.shape):
        own, value, gene = factual[i, at], genes[i, c, at], problem.gene_map.switch_of.get(at)
        wanted = own if (at, value) in avoided else value
        assert np.array_equal(rows[i, c, at], wanted, equal_nan=True)
        assert np.array_equal(done[i, c, at], wanted if by_hand[i, c, at] else own, equal_nan=True)
        is_on = gene is None or genes[i, c, gene] > 0.5
        assert acting[i, c, at] == (problem.limits.movable[i, at] and is_on)
    assert np.array_equal(acts, by_hand)


def test_what_is_not_done_by_hand_follows(world, ann):
    problem = world.problem(ann)
    wanted = world.rows((6, 3, 19, "doctor", "south", "rowing"))[None].repeat(2, axis=1)
    by_hand = np.array([[[True, False, False, False, False, False], [True, True] + [False] * 4]])
    told = problem.realise_by_hand(wanted, by_hand)
    assert told.point[0, :, :DEGREE].ravel().tolist() == pytest.approx(
        [0.6, 0.7, 0.75, 0.6, 0.3, 0.35]
    )
    assert told.acted_on[0, :, STUDY].tolist() == [True, True]
    assert told.held[0, :, SKILL].tolist() == [False, True]
    assert told.count.tolist() == [[1, 2]]
