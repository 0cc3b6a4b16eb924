"""Points in shells: by hand, beside a few lines of NumPy, and even over the volume."""

import numpy as np
import pytest
from scipy.special import ndtri

from proce.methods.published import shells
from proce.methods.published.shells import Shells, points_in_shells, write_candidates

from ...compiled.parts import whole

radius_in_shell = whole(shells.radius_in_shell)


def test_radii_by_hand() -> None:
    """Between 1 and 2 in the plane half of the area lies within √2.5; in space an eighth
    of a ball lies within half of its radius."""
    assert radius_in_shell(1.0, 2.0, 2, 0.5) == pytest.approx(2.5**0.5)
    assert radius_in_shell(0.0, 3.0, 3, 0.125) == pytest.approx(1.5)


def test_points_are_those_of_the_formula() -> None:
    draws = np.random.default_rng(0).uniform(0.01, 0.99, (3, 7, 5))
    movable = np.array([[True] * 4, [True, False, True, False], [False, True, False, False]])
    inner, outer = np.array([0.0, 0.4, 1.0]), np.array([0.1, 0.5, 3.0])
    direction = ndtri(draws[..., :-1]) * movable[:, None]
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    n, hollow = movable.sum(-1)[:, None], (inner / outer) ** movable.sum(-1)
    share = hollow[:, None] + (1 - hollow[:, None]) * draws[..., -1]
    expected = direction * (outer[:, None] * share ** (1 / n))[..., None]
    assert points_in_shells(draws, Shells(movable, inner, outer)) == pytest.approx(expected)


def test_a_row_gets_the_same_points_in_any_batch() -> None:
    draws = np.random.default_rng(1).uniform(0.01, 0.99, (6, 9, 4))
    movable, radii = np.ones((6, 3), np.bool_), np.full(6, 0.2)
    together = points_in_shells(draws, Shells(movable, radii, 2 * radii))
    for row in range(6):
        only = slice(row, row + 1)
        shell = Shells(movable[only], radii[only], 2 * radii[only])
        alone = points_in_shells(draws[only], shell)
        assert np.array_equal(alone, together[only])


def test_where_nothing_is_asked_for_there_is_nothing() -> None:
    draws = np.zeros((0, 5, 3))
    points = points_in_shells(draws, Shells(np.zeros((0, 2), np.bool_), np.zeros(0), np.zeros(0)))
    assert points.shape == (0, 5, 2)


def test_candidates_move_by_the_upper_half_of_a_word_and_choose_levels_by_the_lower() -> None:
    words = np.random.default_rng(2).integers(0, 2**64, (2, 400, 4), np.uint64)
    before, reach = np.array([[0.5, 2.0, 1.0], [0.1, 0.0, -1.0]]), np.array([1.0, 1.0, 4.0])
    movable, n_levels = np.array([[True, True, False], [True] * 3]), np.array([0, 3, 3])
    shells = Shells(movable, np.array([0.2, 0.4]), np.array([0.9, 1.5]))
    rows = np.repeat(before[:, None], 400, axis=1)
    write_candidates(words, shells, n_levels, reach, rows)
    draws = (words >> np.uint64(32)).astype(float) / 2**32
    draws[..., :-1] += 2.0**-33
    offset, lower = points_in_shells(draws, shells), words % 2**32 / 2**32
    assert np.array_equal(rows[..., 0], before[:, :1] + offset[..., 0])
    moves = np.abs(offset) >= 0.5
    others = np.floor(2 * lower)  # of three levels, without a person's own 2, and then 0
    assert np.array_equal(rows[0, :, 1], np.where(moves[0, :, 1], others[0, :, 1], 2))
    assert np.array_equal(rows[1, :, 1], np.where(moves[1, :, 1], 1 + others[1, :, 1], 0))
    assert (rows[0, :, 2] == 1).all()
    unknown = np.where(moves[1, :, 2], np.floor(3 * lower[1, :, 2]), -1)
    assert np.array_equal(rows[1, :, 2], unknown)
    assert set(unknown) == {-1, 0, 1, 2}  # from no level to any, also to the first
