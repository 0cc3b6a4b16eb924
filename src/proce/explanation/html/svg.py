"""Pictures as SVG elements of a page: words stay words, colours follow the page."""

import re
import warnings
from collections.abc import Callable
from html import escape
from io import StringIO
from threading import Lock
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from proce.explanation.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURE_WIDTH = 6.0  # inches
_DRAWING = Lock()  # matplotlib's settings are shared by the whole process
_VARIABLE_OF_COLOUR = {
    "#000000": "ink",
    style.INK: "ink",
    style.GREY: "grey",
    style.BLUE: "blue",
    style.RANGE_LINE: "line",
    style.FAINT: "faint",
    style.MIDDLE_HALF: "half",
    style.NINE_TENTHS: "most",
    style.TINT: "tint",
    style.PAPER: "paper",
}
_COLOUR = re.compile("|".join(_VARIABLE_OF_COLOUR))
_FONT = re.compile(r"'DejaVu Sans'[^;\"]*")
_FONTS_OF_PAGE = "'DejaVu Sans', Verdana, sans-serif"  # their letters are equally wide
_ID = re.compile(r'(\bid="|url\(#|href="#)')
_UNWANTED = re.compile(
    r"<metadata>.*?</metadata>|<!--.*?-->|<style[^>]*>.*?</style>|[\x00-\x08\x0b-\x1f\x7f]",
    re.DOTALL,
)


def picture(
    draw: "Callable[[Axes], object]", size: tuple[float, float], label: str, name: str
) -> Markup:
    """Return a drawing as an ``<svg>`` element that a page can hold.

    Parameters
    ----------
    draw
        A function that draws into the axes it is given.
    size
        The width and the height in inches.
    label
        A text that says what the picture shows, for people who cannot see it.
    name
        The name of the picture, unique in its page; every id in the picture begins with it.
    """
    text = _drawn(draw, size, name)
    text = _UNWANTED.sub("", text[text.index("<svg") :])
    text = _ID.sub(rf"\g<1>{name}-", text)
    text = _COLOUR.sub(lambda colour: f"var(--{_VARIABLE_OF_COLOUR[colour[0]]})", text)
    text = _FONT.sub(_FONTS_OF_PAGE, text)
    start = f'<svg role="img" aria-label="{escape(label, quote=True)}" '
    # Matplotlib escapes the words it writes; the label is escaped here.
    return Markup(re.sub(r"\n\s*", "\n", text.replace("<svg ", start, 1)).strip())


def _drawn(draw: "Callable[[Axes], object]", size: tuple[float, float], name: str) -> str:
    """Return the text of an SVG file, the same for the same drawing and name."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": name}
    buffer = StringIO()
    with _DRAWING, mpl.rc_context(settings), warnings.catch_warnings():
        # The reader's browser has its own fonts.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        metadata = dict.fromkeys(["Date", "Creator", "Format", "Type"])
        figure.savefig(buffer, format="svg", transparent=True, metadata=metadata)
    return buffer.getvalue()
