"""Points drawn evenly in the volume between two spheres, for the methods that search in shells."""

import math

import numpy as np

from proce.arrays import Flags, Floats
from proce.compiled.elementary import power, value_above
from proce.compiled.kernel import kernel, part


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
    points = np.zeros((*draws.shape[:2], draws.shape[2] - 1))
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
    """Write points as :func:`points_in_shells` returns them over zeros ``(a, c, d)``."""
    n_features = points.shape[2]
    for row in range(len(points)):
        n_dimensions = 0
        for feature in range(n_features):
            n_dimensions += movable[row, feature]
        for place in range(points.shape[1]):
            squares = 0.0
            for feature in range(n_features):
                if movable[row, feature]:
                    value = value_above(draws[row, place, feature])
                    points[row, place, feature] = value
                    squares += value * value
            share = draws[row, place, n_features]
            radius = radius_in_shell(inner[row], outer[row], n_dimensions, share)
            norm = math.sqrt(squares)
            for feature in range(n_features):
                points[row, place, feature] = points[row, place, feature] / norm * radius
