"""Where a number has room beside its dot among many dots."""

from dataclasses import dataclass
from math import cos, hypot, pi, sin

Spot = tuple[float, float]  # across and upwards, in points
_N_DIRECTIONS = 16
_GAPS = (1.5, 5.0, 11.0, 19.0, 29.0, 42.0, 60.0)  # points between a dot's ring and its number
_MAX_NEAR = 5.0  # points: from farther away a line leads to the dot
_RING = 5.5  # points: the radius of the ring around a dot that has a number
_N_STEPS = 12  # on a line, at which it is looked whether something is in the way


@dataclass(frozen=True)
class Obstacles:
    """What numbers must not cover: dots, lines across the axes, and the numbers before them.

    Attributes
    ----------
    size
        The width and the height of the axes.
    dots
        The middle and the radius of every dot.
    levels
        The heights of lines across the axes.
    boxes
        The middle and the size of every number so far.
    leaders
        From where to where a line leads from a number to its dot.
    """

    size: Spot
    dots: list[tuple[float, float, float]]
    levels: list[float]
    boxes: list[tuple[Spot, Spot]]
    leaders: list[tuple[Spot, Spot]]


def free_spot(obstacles: Obstacles, dot: Spot, size: Spot) -> tuple[Spot, bool]:
    """Return the middle of a free place for a number, and whether a line leads to its dot.

    The place counts as taken from then on. Where no place is free, the one is taken at which the
    number covers the fewest things.

    Parameters
    ----------
    obstacles
        What is in the way.
    dot
        The middle of the dot.
    size
        The width and the height of the number.
    """
    best: tuple[int, Spot, bool] | None = None
    for gap in _GAPS:
        for number in range(_N_DIRECTIONS):
            angle = pi / 4 + 2 * pi * number / _N_DIRECTIONS
            across, upwards = cos(angle), sin(angle)
            # The number touches a circle around the dot from outside.
            reach = _RING + gap
            middle = (
                dot[0] + across * (reach + size[0] / 2),
                dot[1] + upwards * (reach + size[1] / 2),
            )
            is_far = gap > _MAX_NEAR
            n_covered = _n_covered(obstacles, middle, size, dot if is_far else None)
            if best is None or n_covered < best[0]:
                best = n_covered, middle, is_far
            if not n_covered:
                break
        if best is not None and not best[0]:
            break
    assert best is not None, "there are directions to try"
    _, middle, is_far = best
    obstacles.boxes.append((middle, size))
    if is_far:
        obstacles.leaders.append((middle, dot))
    return middle, is_far


def _n_covered(obstacles: Obstacles, middle: Spot, size: Spot, dot: Spot | None) -> int:
    """Return how many things a number would cover, and its line to the dot."""
    half = size[0] / 2 + 1, size[1] / 2 + 1
    outside = any(
        spot - reach < 0 or spot + reach > length
        for spot, reach, length in zip(middle, half, obstacles.size, strict=True)
    )
    covered = 100 * outside
    covered += sum(_touches(middle, half, (x, y), radius) for x, y, radius in obstacles.dots)
    covered += sum(abs(level - middle[1]) < half[1] for level in obstacles.levels)
    covered += 10 * sum(
        abs(middle[0] - other[0]) < half[0] + length[0] / 2
        and abs(middle[1] - other[1]) < half[1] + length[1] / 2
        for other, length in obstacles.boxes
    )
    covered += sum(
        _touches(middle, half, spot, 0.5)
        for start, end in obstacles.leaders
        for spot in _along(start, end)
    )
    if dot is not None:
        covered += sum(
            _touches(other, (length[0] / 2, length[1] / 2), spot, 1.0)
            for spot in _along(middle, dot)
            for other, length in obstacles.boxes
        )
    return covered


def _touches(middle: Spot, half: Spot, spot: Spot, radius: float) -> bool:
    """Whether a circle reaches into a box."""
    across = max(0.0, abs(spot[0] - middle[0]) - half[0])
    upwards = max(0.0, abs(spot[1] - middle[1]) - half[1])
    return hypot(across, upwards) < radius


def _along(start: Spot, end: Spot) -> list[Spot]:
    shares = [step / _N_STEPS for step in range(_N_STEPS + 1)]
    return [
        (start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1]))
        for share in shares
    ]
