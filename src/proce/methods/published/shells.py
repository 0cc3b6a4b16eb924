"""Points drawn evenly in the volume between two spheres, for the methods that search in shells."""

import math

import numpy as np

from proce.arrays import Flags, Floats, Ints, Words
from proce.compiled.elementary import power, value_above
from proce.compiled.kernel import kernel, part
from proce.compiled.stream import lower_half, upper_half
from proce.search.variation import another_level

_HALF_STEP = 2.0**-33  # of a draw of 32 bits: the quantile of 0 would be infinite
_LEVEL_OFFSET = 0.5  # another level is 1 away, and a coordinate beyond this rounds onto it


def points_in_shells(draws: Floats, movable: Flags, inner: Floats, outer: Floats) -> Floats:
    """Return points ``(a, c, d)`` around the origin, uniform in the shell of each of some rows.

    Parameters
    ----------
    draws
        ``(a, c, d + 1)``, numbers between 0 and 1: one for each coordinate, excluding 0 and 1,
        and then one for the radius.
    movable
        ``(a, d)``, which coordinates of a row may differ from 0; at least one.
    inner, outer
        ``(a,)``, the radii of each row's shell.
    """
    points = np.empty((*draws.shape[:2], draws.shape[2] - 1))
    movable = np.ascontiguousarray(movable)
    _write_points(np.ascontiguousarray(draws), movable, inner, outer, points)
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
def _write_points(
    draws: Floats, movable: Flags, inner: Floats, outer: Floats, points: Floats
) -> None:
    """Write points ``(a, c, d)`` as :func:`points_in_shells` returns them."""
    for row in range(len(points)):
        for place in range(points.shape[1]):
            point = points[row, place]
            _write_point(draws[row, place], movable[row], inner[row], outer[row], point)


@kernel
def write_candidates(
    words: Words,
    movable: Flags,
    inner: Floats,
    outer: Floats,
    n_levels: Ints,
    reach: Floats,
    rows: Floats,
) -> None:
    """Move rows ``(a, c, f)``, all of a person alike, to points that are uniform in a shell.

    ``words (a, c, f + 1)`` are random bits, of which a coordinate and the radius take the upper
    half. A feature with ``n_levels (f,)`` moves to any other where the point is far enough away;
    one without moves by its coordinate times its ``reach (f,)``.
    """
    n_features = rows.shape[2]
    draws, offset = np.empty(n_features + 1), np.empty(n_features)
    for row in range(len(rows)):
        for place in range(rows.shape[1]):
            for feature in range(n_features):
                draws[feature] = upper_half(words[row, place, feature]) + _HALF_STEP
            draws[n_features] = upper_half(words[row, place, n_features])
            _write_point(draws, movable[row], inner[row], outer[row], offset)
            for feature in range(n_features):
                own, last = rows[row, place, feature], n_levels[feature] - 1.0
                if last < 0:
                    rows[row, place, feature] = own + offset[feature] * reach[feature]
                elif abs(offset[feature]) >= _LEVEL_OFFSET:
                    share = lower_half(words[row, place, feature])
                    rows[row, place, feature] = another_level(own, 0.0, last, share)


@part
def _write_point(draws: Floats, movable: Flags, inner: float, outer: float, point: Floats) -> None:
    """Write a point ``(d,)`` of a shell, at 0 where it may not move."""
    squares, n_dimensions, last = 0.0, 0, len(point)
    for place in range(last):
        point[place] = value_above(draws[place]) if movable[place] else 0.0
        squares += point[place] * point[place]
        n_dimensions += movable[place]
    radius = radius_in_shell(inner, outer, n_dimensions, draws[last])
    norm = math.sqrt(squares)
    for place in range(last):
        point[place] = point[place] / norm * radius
