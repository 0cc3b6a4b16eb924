"""A picture as text for the inside of a page: words stay words, colours follow the page."""

import re
import warnings
from collections.abc import Callable
from html import escape
from io import StringIO
from threading import Lock
from typing import TYPE_CHECKING, Any

from proce.explanation.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ONE_AT_A_TIME = Lock()  # matplotlib's settings are those of the process
_COLOURS = {
    "#000000": "ink",
    style.INK: "ink",
    style.GREY: "grey",
    style.BLUE: "blue",
    style.LINE: "line",
    style.FAINT: "faint",
    style.HALF: "half",
    style.MOST: "most",
    style.TINT: "tint",
    style.PAPER: "paper",
}
_FONT = re.compile(r"'DejaVu Sans'[^;\"]*")
_NAMED = re.compile(r'(\bid="|url\(#|href="#)')
_COLOUR = re.compile("|".join(_COLOURS))
_LEFT_OUT = re.compile(
    r"<metadata>.*?</metadata>|<!--.*?-->|<style[^>]*>.*?</style>|[\x00-\x08\x0b-\x1f\x7f]",
    re.DOTALL,
)


def picture(
    draw: "Callable[[Axes], object]", size: tuple[float, float], label: str, name: str
) -> str:
    """Return what is drawn as an ``<svg>`` that a page can hold.

    Parameters
    ----------
    draw
        Draws into axes.
    size
        In inches.
    label
        What the picture shows, for those who cannot see it.
    name
        Of the picture, unique in its page: names inside it begin with it.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": name}
    buffer = StringIO()
    with _ONE_AT_A_TIME, mpl.rc_context(settings), warnings.catch_warnings():
        # The reader's browser has its own fonts.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        metadata = dict.fromkeys(["Date", "Creator", "Format", "Type"])
        figure.savefig(buffer, format="svg", transparent=True, metadata=metadata)
    text = buffer.getvalue()
    text = _LEFT_OUT.sub("", text[text.index("<svg") :])
    text = _NAMED.sub(rf"\g<1>{name}-", text)
    text = _COLOUR.sub(lambda hit: f"var(--{_COLOURS[hit[0]]})", text)
    text = _FONT.sub("'DejaVu Sans', Verdana, sans-serif", text)  # of the same widths
    start = f'<svg role="img" aria-label="{escape(label, quote=True)}" '
    return re.sub(r"\n\s*", "\n", text.replace("<svg ", start, 1)).strip()
