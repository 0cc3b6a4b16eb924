"""Colours of pictures on a light ground and on a dark one."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType

_MIN_LIGHT_LUMINANCE = 0.18  # of a ground on which dark words read better than light ones


@dataclass(frozen=True)
class Palette:
    """The colours of a picture."""

    ink: str  # words and frames that matter, and those that matter less
    grey: str
    blue: str  # what a person does
    line: str  # lines that guide the eye, and lines of what does not change
    faint: str
    half: str  # grounds that hold the middle half of some rows, and nine of ten
    most: str
    tint: str  # grounds of boxes: of what a person does, and of what stays
    paper: str


LIGHT = Palette(
    ink="#222222",
    grey="#6b6b6b",
    blue="#1f5fa8",
    line="#dddddd",
    faint="#b5b5b5",
    half="#c9d3de",
    most="#e8edf2",
    tint="#e3eefb",
    paper="#ffffff",
)
DARK = Palette(
    ink="#e8e8e8",
    grey="#a8adb3",
    blue="#7db3f2",
    line="#3a4047",
    faint="#6a727b",
    half="#45525f",
    most="#262d35",
    tint="#1d3450",
    paper="#16191d",
)


def palette_inside(ax: "Axes") -> Palette:
    """Return the colours for what is drawn on the ground of axes."""
    return _on(ax.get_facecolor(), *_figures(ax))


def palette_around(ax: "Axes") -> Palette:
    """Return the colours for titles and names, which stand on the ground of the figure."""
    return _on(*_figures(ax))


def _figures(ax: "Axes") -> "list[ColorType]":
    """Return the grounds of the part of a figure that holds axes, and of the figure."""
    figure = ax.get_figure(root=True)
    assert figure is not None, "axes are drawn in a figure"
    return [ax.figure.get_facecolor(), figure.get_facecolor()]


def _on(*grounds: "ColorType") -> Palette:
    """Return the colours for the first ground that is not transparent."""
    from matplotlib import rcParams
    from matplotlib.colors import to_rgba

    for ground in grounds:
        *parts, opacity = to_rgba(ground)
        if opacity > 0.5:
            return LIGHT if _luminance(parts) > _MIN_LIGHT_LUMINANCE else DARK
    *parts, _ = to_rgba(rcParams["text.color"])  # made for the ground that will be behind
    return DARK if _luminance(parts) > _MIN_LIGHT_LUMINANCE else LIGHT


def _luminance(parts: list[float]) -> float:
    """Return how bright a colour is (the relative luminance of WCAG 2.2)."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
