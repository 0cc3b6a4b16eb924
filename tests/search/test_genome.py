"""A gene takes its anchor, or a value on its grid between its bounds; nothing else."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proce.errors import SearchError
from proce.search import GeneKind, Genome
from proce.search.genome import permitted_values

REAL, GRID, LEVEL = GeneKind


def genome(lower, upper, anchor, **rest) -> Genome:
    arrays = {name: np.array(value) for name, value in rest.items()}
    bounds = [np.array([each], dtype=np.float64) for each in (lower, upper, anchor)]
    return Genome.of(*bounds, **arrays)


def repaired(of: Genome, *values: float) -> list[float]:
    return of.repair(np.array([[values]], dtype=np.float64))[0, 0].tolist()


def test_by_hand():
    of = genome(
        [0.0, 0.0, 0.0, 0.2],
        [1.0, 1.0, 4.0, 0.8],
        [0.5, 0.5, 2.0, 0.3],
        kind=[REAL, GRID, LEVEL, REAL],
        step=[0.0, 0.25, 0.0, 0.0],
        movable=[True, True, True, False],
    )
    assert repaired(of, 1.7, 0.6, 3.4, 0.7) == [1.0, 0.5, 3.0, 0.3]
    assert repaired(of, -2.0, 0.9, 9.0, 0.7) == [0.0, 1.0, 4.0, 0.3]


def test_a_value_near_its_anchor_is_the_anchor():
    of = genome([0.0, 0.0], [1.0, 1.0], [0.5, 0.5], snap=[1e-3, 0.0])
    assert repaired(of, 0.5009, 0.5009) == [0.5, 0.5009]
    assert repaired(of, 0.5011, 0.5) == [0.5011, 0.5]


def test_an_anchor_between_two_points_of_the_grid_stands_for_the_nearer():
    of = genome([0.0], [1.0], [0.55], kind=[GRID], step=[0.25])
    assert [repaired(of, v)[0] for v in (0.2, 0.55, 0.6, 0.7)] == [0.25, 0.55, 0.55, 0.75]


def test_a_grid_begins_at_its_origin():
    of = genome([0.0], [1.0], [0.85], kind=[GRID], step=[0.25], origin=[0.1])
    assert [repaired(of, v)[0] for v in (0.0, 0.4, 0.7)] == pytest.approx([0.1, 0.35, 0.6])


def test_bounds_move_inwards_onto_the_grid():
    of = genome([0.1], [0.9], [0.5], kind=[GRID], step=[0.25])
    assert (of.lower.item(), of.upper.item()) == (0.25, 0.75)
    assert repaired(of, 0.0) == [0.25]


def test_a_bound_on_the_grid_but_for_rounding_is_on_it():
    of = genome([0.1 + 0.2], [0.7], [0.5], kind=[GRID], step=[0.1])
    assert of.lower.item() == pytest.approx(0.3)
    assert of.upper.item() == pytest.approx(0.7)


def test_an_anchor_outside_its_bounds_is_kept_and_can_be_left():
    """A missing number is NaN and a missing level -1; neither lies between any bounds."""
    of = genome([0.0, 0.0], [1.0, 3.0], [math.nan, -1.0], kind=[REAL, LEVEL])
    missing = repaired(of, math.nan, -1.0)
    assert math.isnan(missing[0])
    assert missing[1] == -1.0
    assert repaired(of, 0.4, 2.0) == [0.4, 2.0]


def test_a_gene_with_nowhere_to_go_is_not_movable():
    of = genome([0.5, 0.6, 0.5], [0.5, 0.4, 0.5], [0.5, 0.5, 0.7])
    assert of.movable.tolist() == [[False, False, True]]
    assert repaired(of, 0.1, 0.1, 0.1) == [0.5, 0.5, 0.5]


def test_without_kinds_all_genes_are_reals():
    of = genome([0.0, 0.0], [1.0, 1.0], [0.5, 0.5])
    assert of.kind.tolist() == [REAL, REAL]
    assert of.kind.dtype == np.int64


def test_what_cannot_be_a_genome_is_said():
    with pytest.raises(SearchError, match=r"expected \(instances, genes\)"):
        Genome.of(np.zeros(2), np.ones(2), np.zeros(2))
    with pytest.raises(SearchError, match="not finite"):
        genome([0.0], [math.inf], [0.0])
    with pytest.raises(SearchError, match="GRID has no step"):
        genome([0.0], [1.0], [0.0], kind=[GRID])


def test_an_immovable_gene_needs_no_range():
    of = genome([math.nan], [math.nan], [3.0], movable=[False])
    assert repaired(of, 1.0) == [3.0]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([REAL, GRID, LEVEL]),
            st.floats(-5, 5),
            st.floats(0, 5),
            st.floats(-10, 10) | st.just(math.nan),
            st.floats(0.01, 2),
            st.booleans(),
            st.floats(-20, 20) | st.just(math.nan),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_repair_is_idempotent_and_keeps_every_limit(genes):
    kind, lower, width, anchor, step, movable, values = zip(*genes, strict=True)
    upper = [low + each for low, each in zip(lower, width, strict=True)]
    of = genome(lower, upper, anchor, kind=kind, step=step, movable=movable)
    once = of.repair(np.array([[values]], dtype=np.float64))
    np.testing.assert_allclose(of.repair(once), once, rtol=0, atol=0, equal_nan=True)
    home = (once == of.anchor) | (np.isnan(once) & np.isnan(of.anchor))
    inside = (once >= of.lower) & (once <= of.upper)
    counts = (once - of.origin) / np.where(of.step > 0, of.step, 1.0)
    on_grid = (of.step == 0) | (np.abs(counts - np.round(counts)) < 1e-6)
    assert bool((home | (inside & on_grid & of.movable)).all())


def test_values_are_drawn_as_likely_as_each_other():
    draws = (np.arange(12)[:, None] + 0.5) / 12  # (c, g)
    lower, upper, step = (
        np.array([0.0, 0.25, 2.0]),
        np.array([2.0, 0.75, 4.0]),
        np.array([1, 0.25, 0]),
    )
    levels, grid, reals = permitted_values(draws, lower, upper, step).T
    assert levels.tolist() == [0.0] * 4 + [1.0] * 4 + [2.0] * 4
    assert grid.tolist() == [0.25] * 4 + [0.5] * 4 + [0.75] * 4
    assert reals == pytest.approx(2 + 2 * draws[:, 0])


def test_where_bounds_meet_every_draw_is_the_one_value():
    assert permitted_values(np.array([0.0, 0.999]), 3.0, 3.0, 1.0).tolist() == [3.0, 3.0]
    assert permitted_values(np.array([1.0, 1.0]), 0.0, 3.0, np.array([1.0, 0.0])).tolist() == [3, 3]
