"""Pictures as SVG elements of a page: words stay words, colours follow the page.

What matplotlib draws is read as a tree, and only attributes of its elements are rewritten: a word
that a person gave is text of the tree, whatever it looks like.
"""

import warnings
from collections.abc import Callable
from io import StringIO
from threading import Lock
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from markupsafe import Markup

from proce.causal.drawing.palette import LIGHT
from proce.causal.drawing.text_fit import fonts_of_the_reader

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURE_WIDTH = 6.0  # inches
_DRAWING = Lock()  # matplotlib's settings are shared by the whole process
_NAMESPACE = "http://www.w3.org/2000/svg"
_LEFT_OUT = {"metadata", "style", "script"}
_VARIABLE_OF_COLOUR = {
    "#000000": "ink",
    LIGHT.ink: "ink",
    LIGHT.grey: "grey",
    LIGHT.blue: "blue",
    LIGHT.line: "line",
    LIGHT.faint: "faint",
    LIGHT.half: "half",
    LIGHT.most: "most",
    LIGHT.tint: "tint",
    LIGHT.paper: "paper",
}
_FONTS_OF_PAGE = "'DejaVu Sans', Verdana, sans-serif"  # their letters are equally wide
_REFUSED = dict.fromkeys([*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF])  # by XML


def picture(
    draw: "Callable[[Axes], object]", size: tuple[float, float], label: str, name: str
) -> Markup:
    """Return a drawing as an ``<svg>`` element that a page can hold."""
    root = ElementTree.fromstring(_sound(_drawn(draw, size, name)))
    _leave_out(root)
    for element in root.iter():
        element.tag = _local(element.tag)
        for attribute, value in list(element.attrib.items()):
            del element.attrib[attribute]
            element.set(_local(attribute), _rewritten(_local(attribute), value, name))
        if element.tag != "text" and element.text is not None:
            element.text = element.text.strip()
        element.tail = "\n"
    attributes = {
        "xmlns": _NAMESPACE,
        "role": "img",
        "aria-label": _sound(label),
        "style": "stroke-linejoin: round; stroke-linecap: butt",
    }
    root.attrib = attributes | root.attrib
    # The tree escapes every word and every attribute that it writes.
    return Markup(ElementTree.tostring(root, encoding="unicode").strip())


def _sound(text: str) -> str:
    """Return a text without what XML refuses: control signs and half characters."""
    return text.translate(_REFUSED).encode("utf-8", "ignore").decode("utf-8")


def _local(name: str) -> str:
    """Return the name of an element or an attribute without its namespace."""
    return name.rpartition("}")[2]


def _leave_out(element: ElementTree.Element) -> None:
    """Take away what a page needs not: notes on the file, and rules that reach beyond it."""
    for child in list(element):
        if _local(child.tag) in _LEFT_OUT:
            element.remove(child)
        else:
            _leave_out(child)


def _rewritten(attribute: str, value: str, name: str) -> str:
    """Return the value of an attribute, with the names, colours and fonts of the page."""
    if attribute == "id":
        return f"{name}-{value}"
    if attribute == "style":
        parts = (part.partition(":") for part in value.split(";") if part.strip())
        return "; ".join(
            f"{key.strip()}: {_rewritten(key.strip(), given.strip(), name)}"
            for key, _, given in parts
        )
    if attribute == "font-family":
        return _FONTS_OF_PAGE
    if attribute == "font":  # style, weight and size before the families
        size, _, _ = value.partition("px ")
        return f"{size}px {_FONTS_OF_PAGE}"
    if attribute == "href" and value.startswith("#"):
        return f"#{name}-{value[1:]}"
    if value.startswith("url(#"):
        return f"url(#{name}-{value.removeprefix('url(#')}"
    if value in _VARIABLE_OF_COLOUR:
        return f"var(--{_VARIABLE_OF_COLOUR[value]})"
    return value


def _drawn(draw: "Callable[[Axes], object]", size: tuple[float, float], name: str) -> str:
    """Return the text of an SVG file, drawn with matplotlib's own settings: the same every time."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": name}
    buffer = StringIO()
    with _DRAWING, mpl.rc_context(), warnings.catch_warnings(), fonts_of_the_reader():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        mpl.rcdefaults()
        mpl.rcParams.update(settings)
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        metadata = dict.fromkeys(["Date", "Creator", "Format", "Type"])
        figure.savefig(buffer, format="svg", transparent=True, metadata=metadata)
    return buffer.getvalue()
