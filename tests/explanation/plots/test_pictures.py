"""Every picture can be read: nothing is cut, covered, crossed, minute or pale, whatever it shows.

The table of cases is made up; what is checked is where the parts of a picture are.
"""

import warnings
from collections.abc import Iterator
from itertools import cycle, product
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.transforms import Bbox

from proce.causal import CausalGraph
from proce.causal.drawing.text_fit import Font
from proce.explanation import Explanations

from .cases import LONG, NAMES, PLOTS, drawn, result_of
from .geometry import faults, words

CLASSES = {
    "short": ("rejected", "approved"),
    "long": ("refused for now and sent to the second desk", "approved under the usual conditions"),
    "odd": ("<i>no</i>", "$yes$ 信用"),
}
GROUND = {"light": "default", "dark": "dark_background"}
WHOLE = Bbox.from_extents(0, 0, 1, 1)


def plotted(plot: str, result: Explanations, ax: Any) -> Any:
    """Draw a picture of a result, or its causal graph alone."""
    if plot != "graph alone":
        return drawn(plot, result, ax)
    context = result.context
    graph = CausalGraph(context.edges, nodes=context.codec.schema.names)
    return graph.plot(ax=ax, title=LONG[2])


def axes_in(place: str, dpi: float) -> tuple[Any, Bbox]:
    """Return new axes somewhere, and the share of the figure that a picture may use."""
    sizes = {"narrow": (3.2, 2.4), "wide": (16, 6), "own layout": (6, 4), "plain": (6.4, 4.8)}
    if place in sizes:
        layout = None if place == "plain" else "constrained"
        return plt.subplots(figsize=sizes[place], dpi=dpi, layout=layout)[1], WHOLE
    if place == "corner of a grid":
        return plt.subplots(2, 2, figsize=(6.4, 4.8), dpi=dpi)[1][1, 0], share(0, 0.53, 0, 0.53)
    if place == "part of a figure":
        part = plt.figure(figsize=(9, 4), dpi=dpi).subfigures(1, 2)[1]
        return part.subplots(), share(0.5, 1, 0, 1)
    assert place == "grid with a layout"
    axes = plt.subplots(2, 2, figsize=(9, 6.6), dpi=dpi, layout="constrained")[1]
    return axes[0, 1], share(0.4, 1, 0.4, 1)


def share(left: float, right: float, low: float, high: float) -> Bbox:
    return Bbox.from_extents(left, low, right, high)


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def assert_readable(
    plot: str, result: Explanations, place: str | None, dpi: float, ground: str
) -> None:
    with plt.style.context(GROUND[ground]), mpl.rc_context({"figure.dpi": dpi}):
        ax, part = (None, WHOLE) if place is None else axes_in(place, dpi)
        picture = plotted(plot, result, ax)
        figure = picture.get_figure(root=True)
        size = figure.bbox.size
        room = Bbox.from_extents(*(part.extents * np.tile(size, 2)))
        assert words(picture), "a picture without words says nothing"
        assert faults(picture, room) == [], (plot, place, dpi, ground)
        plt.close(figure)


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("plot", [*PLOTS, "graph alone"])
def test_a_picture_can_be_read_with_any_names(plot: str, names: str) -> None:
    result = result_of(names, 7, 3, n_front=12, classes=CLASSES[names])
    assert_readable(plot, result, None, 100, "light")
    assert_readable(plot, result, "corner of a grid", 100, "dark")


@pytest.mark.parametrize(
    ("place", "dpi"),
    [
        ("narrow", 72),
        ("wide", 100),
        ("plain", 200),
        ("grid with a layout", 100),
        ("part of a figure", 100),
    ],
)
@pytest.mark.parametrize("plot", [*PLOTS, "graph alone"])
def test_a_picture_can_be_read_in_any_place(plot: str, place: str, dpi: float) -> None:
    assert_readable(plot, result_of("long", 5, 4, n_front=30), place, dpi, "light")


@pytest.mark.parametrize("plot", [*PLOTS, "graph alone"])
def test_a_picture_can_be_read_where_nothing_or_one_thing_changes(plot: str) -> None:
    for ground in GROUND:
        assert_readable(plot, result_of("odd", 4, found=False), None, 100, ground)
    assert_readable(plot, result_of("long", 1, 1, n_rows=1), "narrow", 100, "dark")


@pytest.mark.parametrize("plot", [*PLOTS, "graph alone"])
def test_a_picture_of_many_features_says_what_it_leaves_out(plot: str) -> None:
    result = result_of("short", 40, 8, n_rows=2, n_front=60)
    assert_readable(plot, result, "own layout", 100, "light")
    if plot in {"plot_changes", "plot_cohort", "plot_graph"}:
        said = " ".join(text.get_text() for text in words(plotted(plot, result, None)))
        assert "left out" in said or plot == "plot_graph"
        in_axes = " ".join(
            text.get_text()
            for text in words(plotted(plot, result, plt.subplots(figsize=(4, 3))[1]))
        )
        assert "left out" in in_axes


@pytest.mark.slow
@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("plot", [*PLOTS, "graph alone"])
def test_a_picture_can_be_read_in_every_case(plot: str, names: str) -> None:
    places = [None, "narrow", "wide", "plain", "corner of a grid", "grid with a layout"]
    grounds = cycle(GROUND)
    for n_features, n_ways in product((1, 3, 30, 120), (1, 8)):
        result = result_of(names, n_features, n_ways, n_front=20 * n_ways, classes=CLASSES[names])
        for place, dpi in zip(places, (100, 72, 100, 200, 100, 144), strict=True):
            assert_readable(plot, result, place, dpi, next(grounds))


def test_an_arrow_is_never_swallowed_and_a_number_is_never_cut() -> None:
    result = result_of("long", 8, 1)
    for place in (None, "narrow", "corner of a grid"):
        ax = None if place is None else axes_in(place, 100)[0]
        said = [text.get_text() for text in words(result[0].plot_graph(ax=ax))]
        changes = [text for text in said if text.startswith(("action:", "follows:"))]
        assert changes
        assert all(" → " in text for text in changes)
        numbers = [text for text in changes if "€" in text]
        assert all("…" not in text for text in numbers)


def test_letters_that_no_font_has_are_drawn_as_boxes_and_left_to_the_reader_of_a_page() -> None:
    from proce.causal.drawing.text_fit import fonts_of_the_reader

    private = "\ue123"  # of an area in which no letters are defined
    assert Font(9).drawable(f"a{private}b") == "a□b"
    with fonts_of_the_reader():
        assert Font(9).drawable(f"a{private}b") == f"a{private}b"
    assert Font(9, italic=True).for_text("الدخل") == Font(9)


def test_a_setting_of_the_program_breaks_no_picture() -> None:
    settings: dict[str, Any] = {"axes.grid": True, "font.size": 22, "text.usetex": True}
    with mpl.rc_context(settings):
        ax = result_of("odd", 5).plot_changes()
        assert faults(ax) == []


def test_axes_placed_by_hand_keep_what_is_drawn_inside_them() -> None:
    figure = plt.figure(figsize=(8, 6))
    figure.add_axes((0.0, 0.0, 0.4, 0.4))
    ax = figure.add_axes((0.5, 0.5, 0.45, 0.45))
    room = ax.get_window_extent().frozen()
    result_of("long", 5).plot_changes(ax=ax)
    assert faults(ax, room) == []
