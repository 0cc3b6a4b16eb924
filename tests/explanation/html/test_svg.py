"""Pictures of a page: sound XML of their own, whatever words people gave."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import pytest

from proce.causal.drawing.palette import LIGHT
from proce.causal.drawing.text_fit import Font
from proce.explanation.html.svg import picture

from ..plots.cases import ODD, PLOTS, drawn, result_of

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    *ODD,
    "'DejaVu Sans', Verdana; }",
    f"{LIGHT.ink} {LIGHT.blue}",
    'url(#clip) id="a" href="#b"',
    "<svg onload='x'>",
    "<!-- a -- b -->",
    "<style>*{color:red}</style>",
    "]]><script>alert(1)</script>",
    "<metadata>&amp;</metadata>",
    "xlink:href",
    "﷐ \x01\x0b￾￿ \ud800",
    "\n  two\nlines",
)


def tree_of(draw: Any, name: str = "p", label: str = "what it shows") -> ElementTree.Element:
    return ElementTree.fromstring(picture(draw, (6.0, 4.0), label, name))


def words_of(tree: ElementTree.Element) -> list[str]:
    return ["".join(text.itertext()) for text in tree.iter(f"{SVG}text")]


@pytest.mark.parametrize("word", HOSTILE)
def test_a_word_stays_the_word_that_was_given(word: str) -> None:
    def draw(ax: Any) -> None:
        ax.text(0.5, 0.5, **Font(9).settings(word)).set_in_layout(False)
        ax.set_axis_off()

    tree = tree_of(draw, label=word)
    assert visible("".join(words_of(tree))) == visible(word)
    assert tree.get("role") == "img"
    assert visible(str(tree.get("aria-label"))) == visible(word)


def visible(text: str) -> str:
    """Return the letters of a text that can be seen."""
    return "".join(letter for letter in text if letter.isprintable() and not letter.isspace())


def drawing(plot: str) -> Callable[[Any], Any]:
    """Return what draws a picture with odd words into axes."""
    return partial(drawn, plot, result_of("odd", 12, 3, n_front=8))


def test_pictures_hold_no_script_and_borrow_no_name_from_each_other() -> None:
    ids: set[str] = set()
    for name in PLOTS:
        tree = tree_of(drawing(name), name)
        tags = {element.tag.removeprefix(SVG) for element in tree.iter()}
        assert tags <= {"svg", "g", "path", "defs", "clipPath", "rect", "use", "text", "tspan"} | {
            "pattern",
            "image",
        }
        own = [str(element.get("id")) for element in tree.iter() if element.get("id")]
        assert len(own) == len(set(own))
        assert not ids & set(own)
        assert references(tree) <= set(own)
        assert references(tree)
        ids |= set(own)
        assert not any(key.startswith("on") for element in tree.iter() for key in element.attrib)


def references(tree: ElementTree.Element) -> set[str]:
    """Return the names of elements that a picture points to."""
    found = set()
    for element in tree.iter():
        parts = [part.partition(":")[2].strip() for part in element.get("style", "").split(";")]
        for value in (*element.attrib.values(), *parts):
            if value.startswith("url(#"):
                found.add(value[5:-1])
        if element.get("href", "").startswith("#"):
            found.add(element.get("href", "")[1:])
    return found


def test_colours_follow_the_page_and_fonts_are_those_of_the_reader() -> None:
    tree = tree_of(drawing("plot_changes"))
    styles = " ".join(element.get("style", "") for element in tree.iter())
    assert "var(--blue)" in styles
    assert LIGHT.blue not in styles
    families = {
        part.partition(":")[2].strip()
        for text in tree.iter(f"{SVG}text")
        for part in text.get("style", "").split(";")
        if part.strip().startswith("font-family")
    }
    assert families <= {"'DejaVu Sans', Verdana, sans-serif"}
    assert any("信用评分" in word for word in words_of(tree))


def test_the_settings_of_the_program_change_no_picture_of_a_page() -> None:
    draw = drawing("plot_cohort")
    usual = picture(draw, (6.0, 4.0), "", "p")
    other: dict[str, Any] = {"font.size": 30, "axes.facecolor": "black", "text.color": "yellow"}
    with mpl.rc_context(other), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert picture(draw, (6.0, 4.0), "", "p") == usual
        assert mpl.rcParams["font.size"] == 30
