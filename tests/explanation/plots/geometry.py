"""What is wrong with a drawn picture, by where its parts are rather than by its pixels."""

from itertools import combinations, pairwise
from typing import Any

import numpy as np
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from proce.causal.drawing.figure_layout import MIN_SIZE

_MIN_CONTRAST = 4.5  # of words on their ground, as WCAG 2.2 asks for
_TOLERANCE = 1.0  # pixels


def faults(ax: Any, room: Bbox | None = None) -> list[str]:
    """Return what is wrong with a picture: cut, covered, crossed, minute or pale words.

    Parameters
    ----------
    ax
        The axes of the picture.
    room
        The part of the figure that the picture may use, in pixels; ``None`` for the whole figure.
    """
    figure = ax.get_figure(root=True)
    figure.draw_without_rendering()
    room = figure.bbox if room is None else room
    texts = [(text, _box(text)) for text in words(ax)]
    found = []
    for text, box in texts:
        name = repr(text.get_text()[:30])
        if not _inside(box, room):
            found.append(f"{name} leaves its room: {_round(box)} in {_round(room)}")
        if text.get_fontsize() < MIN_SIZE - 0.01:
            found.append(f"{name} has {text.get_fontsize():.1f} points")
        if _contrast(text, ax) < _MIN_CONTRAST:
            found.append(f"{name} has a contrast of {_contrast(text, ax):.1f}")
    for (one, box), (other, second) in combinations(texts, 2):
        if _overlap(box, second):
            found.append(f"{one.get_text()[:30]!r} covers {other.get_text()[:30]!r}")
    for text, box in texts:
        if text.axes is ax or text.axes is None:
            found += [f"{text.get_text()[:30]!r} is on {what}" for what in _crossed(ax, text, box)]
    return found


def words(ax: Any) -> list[Text]:
    """Return every text of a picture that is seen."""
    return [text for text in ax.findobj(Text) if text.get_text().strip() and _is_shown(ax, text)]


def _is_shown(ax: Any, text: Text) -> bool:
    if not text.get_visible():
        return False
    hidden = {*ax.xaxis.findobj(Text), *ax.yaxis.findobj(Text)}
    if text in hidden and not ax.axison:
        return False
    for each in (ax, *ax.child_axes):
        for axis, limits in ((each.xaxis, each.get_xlim()), (each.yaxis, each.get_ylim())):
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                if text is tick.label2 or (text is tick.label1 and not tick.label1.get_visible()):
                    return False
                low, high = sorted(limits)
                edge = 1e-9 * (high - low)
                if text is tick.label1 and not low - edge <= tick.get_loc() <= high + edge:
                    return False
    return True


def _box(text: Text) -> Bbox:
    """Return where the words are, without the line that leads from them to a dot."""
    return Text.get_window_extent(text)


def _inside(box: Bbox, room: Bbox) -> bool:
    return bool(
        box.x0 >= room.x0 - _TOLERANCE
        and box.y0 >= room.y0 - _TOLERANCE
        and box.x1 <= room.x1 + _TOLERANCE
        and box.y1 <= room.y1 + _TOLERANCE
    )


def _overlap(one: Bbox, other: Bbox) -> bool:
    across = min(one.x1, other.x1) - max(one.x0, other.x0)
    upwards = min(one.y1, other.y1) - max(one.y0, other.y0)
    return bool(across > _TOLERANCE and upwards > _TOLERANCE)


def _crossed(ax: Any, text: Text, box: Bbox) -> list[str]:
    """Return the lines, dots, bars and arrows that words lie on."""
    inner = Bbox.from_extents(
        box.x0 + _TOLERANCE, box.y0 + 2 * _TOLERANCE, box.x1 - _TOLERANCE, box.y1 - 2 * _TOLERANCE
    )
    found = []
    for line in ax.findobj(Line2D):
        if line in ax.lines and _meets(line.get_transform().transform(line.get_xydata()), inner):
            found.append("a line")
    for dots in ax.findobj(PathCollection):
        places = ax.transData.transform(dots.get_offsets())
        radius = np.sqrt(dots.get_sizes().max()) / 2 * ax.figure.dpi / 72
        wide = inner.padded(radius - _TOLERANCE)
        found += ["a dot"] * sum(wide.contains(*place) for place in places)
    for patch in ax.patches:
        if isinstance(patch, FancyArrowPatch) and _meets(_points(patch), inner):
            found.append("an arrow")
        if isinstance(patch, Rectangle) and _overlap(patch.get_window_extent(), inner):
            found.append("a bar")
    for other in ax.texts:
        arrow = getattr(other, "arrow_patch", None)
        if other is not text and arrow is not None and _meets(_points(arrow), inner):
            found.append("an arrow")
    legend = ax.get_legend()
    if legend is not None and text not in legend.findobj(Text):
        found += ["the legend"] * _overlap(legend.get_window_extent(), inner)
    if legend is not None:
        found += [
            "a bar under the legend"
            for bar in ax.patches
            if text in legend.findobj(Text)
            and _overlap(legend.get_window_extent(), bar.get_window_extent())
        ]
    return found


def _points(arrow: FancyArrowPatch) -> Any:
    path = arrow.get_path()
    return arrow.get_transform().transform(path.interpolated(1).to_polygons(closed_only=False)[0])


def _meets(points: Any, box: Bbox) -> bool:
    """Whether a line through some points runs through a box."""
    for start, end in pairwise(points):
        steps = np.linspace(0, 1, 2 + int(np.hypot(*(end - start)) / 2))[:, None]
        along = start + steps * (end - start)
        if ((along > [box.x0, box.y0]) & (along < [box.x1, box.y1])).all(1).any():
            return True
    return False


def _contrast(text: Text, ax: Any) -> float:
    """Return how far the brightness of words is from that of their ground."""
    box = _box(text)
    ground = to_rgba(ax.get_figure(root=True).get_facecolor())
    frame = ax.get_window_extent()
    middle = ((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
    if ax.axison and frame.contains(*middle):
        ground = to_rgba(ax.get_facecolor())
    for patch in ax.patches:
        if isinstance(patch, FancyBboxPatch) and patch.get_window_extent().contains(*middle):
            ground = to_rgba(patch.get_facecolor())
    light, dark = sorted((_luminance(to_rgba(text.get_color())), _luminance(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: Any) -> float:
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _round(box: Bbox) -> list[int]:
    return [round(side) for side in box.extents]
