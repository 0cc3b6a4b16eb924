"""Points drawn evenly in the volume between two spheres, for the methods that search in shells."""

import math
from typing import NamedTuple

import numpy as np

from proce.arrays import Flags, Floats, Ints, Words
from proce.compiled.elementary import power, value_above
from proce.compiled.kernel import kernel, part
from proce.compiled.streams import lower_half, upper_half
from proce.search.genome import another_level

_HALF_STEP = 2.0**-33  # of a draw of 32 bits: the quantile of 0 would be infinite
_LEVEL_OFFSET = 0.5  # another level is 1 away, and a coordinate beyond this rounds onto it


class Shells(NamedTuple):
    """The space between two spheres around each of some rows."""

    movable: Flags  # (a, d), which coordinates of a row may differ from 0; at least one
    # inner, outer: (a,), the radii of the spheres
    inner: Floats
    outer: Floats


def points_in_shells(draws: Floats, shells: Shells) -> Floats:
    """Return points ``(a, c, d)`` around the origin, uniform in the shell of each of some rows.

    ``draws (a, c, d + 1)`` are numbers between 0 and 1: one for each coordinate, excluding 0 and 1,
    and then one for the radius.
    """
    points = np.empty((*draws.shape[:2], draws.shape[2] - 1))
    _write_points(draws, shells, points)
    return points


@part
def radius_in_shell(inner: float, outer: float, n_dimensions: int, share: float) -> float:
    """Return the radius within which a share of the volume between two spheres lies.

    The share of a ball's volume within a radius is the radius's share, to the power of the number
    of dimensions.
    """
    hollow = power(inner / outer, float(n_dimensions))
    return outer * power(hollow + (1.0 - hollow) * share, 1.0 / n_dimensions)


@kernel
def _write_points(draws: Floats, shells: Shells, points: Floats) -> None:
    """Write points ``(a, c, d)`` as :func:`points_in_shells` returns them."""
    for row in range(len(points)):
        for place in range(points.shape[1]):
            _write_point(draws[row, place], shells, row, points[row, place])


@kernel
def write_candidates(
    words: Words, shells: Shells, n_levels: Ints, reach: Floats, rows: Floats
) -> None:
    """Move rows ``(a, c, f)``, all of a person alike, to points that are uniform in a shell.

    The upper halves of ``words (a, c, f + 1)`` draw the point. A feature with ``n_levels (f,)``
    whose coordinate is large takes another of them, by the lower half; one without moves by its
    coordinate times its ``reach (f,)``.
    """
    n_features = rows.shape[2]
    draws, offset = np.empty(n_features + 1), np.empty(n_features)
    for row in range(len(rows)):
        for place in range(rows.shape[1]):
            for feature in range(n_features):
                draws[feature] = upper_half(words[row, place, feature]) + _HALF_STEP
            draws[n_features] = upper_half(words[row, place, n_features])
            _write_point(draws, shells, row, offset)
            for feature in range(n_features):
                own, last = rows[row, place, feature], n_levels[feature] - 1.0
                if last < 0:
                    rows[row, place, feature] = own + offset[feature] * reach[feature]
                elif abs(offset[feature]) >= _LEVEL_OFFSET:
                    share = lower_half(words[row, place, feature])
                    rows[row, place, feature] = another_level(own, 0.0, last, share)


@part
def _write_point(draws: Floats, shells: Shells, row: int, point: Floats) -> None:
    """Write a point ``(d,)`` of the shell of a row, at 0 where it may not move."""
    squares, n_dimensions, last = 0.0, 0, len(point)
    for place in range(last):
        moves = shells.movable[row, place]
        point[place] = value_above(draws[place]) if moves else 0.0
        squares += point[place] * point[place]
        n_dimensions += moves
    radius = radius_in_shell(shells.inner[row], shells.outer[row], n_dimensions, draws[last])
    norm = math.sqrt(squares)
    for place in range(last):
        point[place] = point[place] / norm * radius
