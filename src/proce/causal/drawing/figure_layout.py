"""How title, caption and names are fitted into the part of a figure that a picture has.

Axes that stand in a grid of a figure share it with others: a picture stays within its part.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from proce.causal.drawing.palette import palette_around
from proce.causal.drawing.text_fit import Font

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.gridspec import SubplotSpec
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

POINTS = 72.0  # per inch
MIN_SIZE = 6.0  # points: smaller text is not read
LINE_HEIGHT = 1.25  # of the size of a text
_MARGIN = 4.0  # points between a picture and the edge of its part of the figure
_SMALL_WIDTH, _SMALL_HEIGHT = 260.0, 190.0  # points: a smaller picture has a smaller title
_MAX_TITLE_LINES = 3
_MAX_CAPTION_SHARE = 0.3  # of the height
_PADS = 16.0  # points between title, axes, names of ticks and caption
_MAX_ROUNDS = 3  # of wrapping lines and working out the layout


@dataclass(frozen=True)
class FigureLayout:
    """Axes, and the part of their figure that they have for themselves, in pixels."""

    ax: "Axes"
    box: "Bbox"

    @classmethod
    def of(cls, ax: "Axes") -> "FigureLayout":
        """Return the room of axes: up to the middle between them and the next ones in a grid."""
        from matplotlib.transforms import Bbox

        whole, spec = ax.figure.bbox, ax.get_subplotspec()
        if spec is not None:
            (left, right), (low, high) = _limits(spec, ax)
            x, y = whole.x0, whole.y0
            return cls(
                ax,
                Bbox.from_extents(
                    x + left * whole.width,
                    y + low * whole.height,
                    x + right * whole.width,
                    y + high * whole.height,
                ),
            )
        alone = len(_figure(ax).axes) == 1
        return cls(ax, whole.frozen() if alone else ax.get_window_extent().frozen())

    @property
    def width(self) -> float:
        """The width that a picture may have, in points."""
        return float(self.box.width * self._per_pixel - 2 * _MARGIN)

    @property
    def height(self) -> float:
        """The height that a picture may have, in points."""
        return float(self.box.height * self._per_pixel - 2 * _MARGIN)

    @property
    def _per_pixel(self) -> float:
        return POINTS / self.ax.figure.dpi

    @property
    def _title_font(self) -> Font:
        return Font(8.0 if self.width < _SMALL_WIDTH or self.height < _SMALL_HEIGHT else 10.0)

    def height_around(self, title: str, caption: str, font: Font) -> float:
        """Return the height of title, caption and the names below an axis, in points."""
        words = self._wrapped(title, caption, font, self.width)
        n_title, n_caption = (text.count("\n") + 1 for text in words)
        sizes = n_title * self._title_font.size + (n_caption + 1) * font.size
        return LINE_HEIGHT * sizes + _PADS

    def fit_around(
        self,
        title: str,  # the words above; wrapped where they are wider than the picture
        caption: str,  # the words below, also wrapped
        font: Font,  # the font of the caption
    ) -> None:
        """Write title and caption, and make room for them and for the names beside the axes."""
        ax, width, written = self.ax, self.width, None
        color = palette_around(ax).ink
        for _ in range(_MAX_ROUNDS):
            words = self._wrapped(title, caption, font, width)
            if words == written:
                break
            written = words
            _write(ax.title, words[0], self._title_font, color)
            _write(ax.xaxis.label, words[1], font, color)
            picture = self._settled()
            frame = ax.get_window_extent()
            width = min(width, picture.width * self._per_pixel)
            middle = ((picture.x0 + picture.x1) / 2 - frame.x0) / frame.width
            ax.title.set_x(middle)
            ax.xaxis.label.set_x(middle)

    def fit_whole(self, title: str) -> "Bbox":
        """Write a title, give axes without ticks all other room, and return where they are."""
        self.ax.set_axis_off()
        self.fit_around(title, "", Font(MIN_SIZE))
        return self.ax.get_window_extent()

    def write_instead(self, reason: str) -> "Axes":
        """Say in the middle of the picture why there is nothing to draw, and return the axes."""
        ax = self.ax
        ax.set_axis_off()
        self._settled()
        frame = ax.get_window_extent()
        width = frame.width * self._per_pixel - 2 * _MARGIN
        height = frame.height * self._per_pixel - 2 * _MARGIN
        for size in (10.0, 8.0, 7.0, MIN_SIZE):
            font, max_lines = Font(size), max(1, int(height / (LINE_HEIGHT * size)))
            words = font.wrapped(reason, width, max_lines)
            if "…" not in words:
                break
        text = ax.text(
            0.5,
            0.5,
            **font.settings(words),
            ha="center",
            va="center",
            transform=ax.transAxes,
            color=palette_around(ax).ink,
        )
        text.set_in_layout(False)
        return ax

    def _wrapped(self, title: str, caption: str, font: Font, width: float) -> tuple[str, str]:
        """Return title and caption in lines; of a caption that is too long the first ones."""
        max_lines = max(1, int(_MAX_CAPTION_SHARE * self.height / (LINE_HEIGHT * font.size)))
        lines = [font.wrapped(line, width, max_lines) for line in caption.split("\n")]
        return (
            self._title_font.wrapped(title, width, _MAX_TITLE_LINES),
            "\n".join("\n".join(lines).split("\n")[:max_lines]),
        )

    def _settled(self) -> "Bbox":
        """Work out the layout, and return where axes and the names beside them are, in pixels."""
        figure = _figure(self.ax)
        figure.draw_without_rendering()
        if figure.get_layout_engine() is None:
            self._place()
            figure.draw_without_rendering()
        return _extent(self.ax)

    def _place(self) -> None:
        """Move axes that no layout moves so that all around them stays in their room."""
        from matplotlib.transforms import Bbox

        ax, room, margin = self.ax, self.box, _MARGIN / self._per_pixel
        frame, extent = ax.get_window_extent(), _extent(ax)
        wanted = Bbox.from_extents(
            room.x0 + margin + max(0.0, frame.x0 - extent.x0),
            room.y0 + margin + max(0.0, frame.y0 - extent.y0),
            room.x1 - margin - max(0.0, extent.x1 - frame.x1),
            room.y1 - margin - max(0.0, extent.y1 - frame.y1),
        )
        if wanted.x1 > wanted.x0 and wanted.y1 > wanted.y0:
            ax.set_position(wanted.transformed(ax.figure.transSubfigure.inverted()))


def _limits(spec: "SubplotSpec", ax: "Axes") -> tuple[tuple[float, float], tuple[float, float]]:
    """Return from where to where a place in a grid reaches, across and upwards."""
    outer = spec.get_topmost_subplotspec()
    across, upwards = ((0.0, 1.0), (0.0, 1.0)) if outer is spec else _limits(outer, ax)
    figure: Any = ax.figure
    low, high, left, right = spec.get_gridspec().get_grid_positions(figure)
    columns = _cuts(list(left), list(right), across)
    rows = _cuts(list(low)[::-1], list(high)[::-1], upwards)[::-1]
    return (
        (columns[spec.colspan.start], columns[spec.colspan.stop]),
        (rows[spec.rowspan.stop], rows[spec.rowspan.start]),
    )


def _cuts(
    starts: Sequence[float], ends: Sequence[float], outer: tuple[float, float]
) -> list[float]:
    """Return where a line is cut between places that start and end somewhere on it."""
    inner = [(end + start) / 2 for (_, end), (start, _) in pairwise(zip(starts, ends, strict=True))]
    return [outer[0], *inner, outer[1]]


def _figure(ax: "Axes") -> Any:
    return ax.get_figure(root=True)


def _extent(ax: "Axes") -> "Bbox":
    extent = ax.get_tightbbox(for_layout_only=True)
    assert extent is not None, "axes that are drawn have an extent"
    return extent


def _write(text: "Text", words: str, font: Font, color: str) -> None:
    settings = font.settings(words)
    text.set(text=settings.pop("s"), color=color, **settings)
