"""Pictures: they take axes and return them, and every word of them can be read."""

from itertools import combinations
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from proce.datasets import load_dataset
from proce.explanation import Explanation, Outcome
from proce.schema import Codec

from ...explained import explained_row
from .. import samples
from ..axes import words
from ..samples import CHANGE_JOB, RAISE_SAVINGS, Way, everything, explanation, explanations, people
from .cases import PLOTS, drawn, result_of
from .geometry import faults

EVERY_KIND: Way = {
    "savings": ("action", 43_500),
    "ratio": ("action", 0.4),
    "education": ("action", "bachelor"),
    "job": ("action", "office"),
    "amount": ("hold", 25_500, 27_000),
    "owns_car": ("hold", False, True),
    "credit_score": ("consequence", 655),
}


@pytest.mark.parametrize("plot", PLOTS)
def test_a_plot_takes_axes_and_returns_them(plot: str) -> None:
    axes = plt.subplots(1, 2)[1]
    assert drawn(plot, everything(), axes[1]) is axes[1]
    assert not axes[0].has_data()
    assert drawn(plot, everything()).figure is not axes[1].figure


def test_a_figure_of_our_own_has_the_usual_size_and_that_of_a_graph_is_as_large_as_the_graph() -> (
    None
):
    for plot in set(PLOTS) - {"plot_graph"}:
        assert drawn(plot, everything()).figure.get_size_inches().tolist() == [6, 4]
    small, large = (
        result_of(n_features=n)[0].plot_graph().figure.get_size_inches() for n in (3, 30)
    )
    assert (small < large).all()


def test_changes_are_in_raw_units_and_named() -> None:
    ax = explanations(explanation(EVERY_KIND)).plot_changes()
    found = words(ax)
    assert {"2,000", "43,500", '"service"', '"office"', "25,500 (would be 27,000)"} <= set(found)
    assert {"savings\naction", "amount\nkeep", "credit score\nfollows"} <= set(found)
    assert "Row ann: rejected → approved (approved: 31% → 62%)" in found
    assert {line.get_marker() for line in ax.lines} >= {"o", "s", "D", "x"}


@pytest.mark.parametrize("size", [(6, 4), (4, 3)])
def test_the_words_for_a_change_stay_inside_the_axes(size: Any) -> None:
    ax = plt.subplots(figsize=size, layout="constrained")[1]
    explanations(explanation(EVERY_KIND)).plot_changes(ax=ax)
    assert faults(ax) == []
    frame, boxes = ax.get_window_extent(), [text.get_window_extent() for text in ax.texts]
    assert all(frame.x0 <= box.x0 < box.x1 <= frame.x1 for box in boxes if box.width)


def test_a_missing_level_starts_where_it_ends() -> None:
    frame = people().assign(education=[None, *people()["education"][1:]])
    item = explanation({"education": ("action", "bachelor")}, frame=frame)
    marks = {x for line in item.plot_changes().lines[1:] for x in line.get_xdata()}
    assert marks == {0.5}


def test_one_explanation_can_be_drawn_and_the_first_found_is_the_default() -> None:
    from proce.explanation.plots.changes import plot_changes

    assert "Row eve:" in plot_changes(everything()[4]).get_title()
    assert "Row eve:" in everything()[1:].plot_changes().get_title()


def test_what_was_not_found_is_said_in_the_picture() -> None:
    item = explanation(diagnosis=samples.diagnosis())
    for plot in ("plot_changes", "plot_front"):
        assert samples.diagnosis().reason in words(drawn(plot, explanations(item)))
    assert "No row has a counterfactual." in words(everything()[1:4].plot_changes())
    assert item.plot_graph().get_title().startswith("Row 0: no way was found;")
    there = explanation(outcome=Outcome.ALREADY_TARGET, predicted=1)
    assert there.plot_graph().get_title().startswith("Row 0: nothing needs to change;")


def test_the_front_shows_all_three_objectives_and_the_ranks() -> None:
    ways = (RAISE_SAVINGS, CHANGE_JOB, {"ratio": ("action", 0.9)})
    item = explanation(*ways[:2], front=samples.front(*ways))
    ax = explanations(item).plot_front()
    assert {"1", "2"} <= set(words(ax))
    assert "dashed: 60% aimed for" in ax.get_xlabel()
    assert ax.get_title() == "Row ann: ways that were found; the circled ones are told, by rank"
    points = ax.collections[0]
    assert len(points.get_offsets()) == 3
    assert points.get_array().tolist() == item.front.losses[:, 1].tolist()
    (bar,) = ax.child_axes
    assert bar.get_ylabel() == "distance from typical rows of approved"
    assert ax.get_ylabel() == "probability of approved"


def test_counterfactuals_at_one_place_share_a_label() -> None:
    same = np.array([[0.3, 0.1, 0.2]] * 3)
    item = explanation(*[CHANGE_JOB] * 3, losses=same, probabilities=[0.74] * 3)
    ax = explanations(item).plot_front()
    assert "1, 2, 3" in words(ax)
    assert "not kept" in ax.get_title()


def test_the_graph_marks_what_is_done_what_is_kept_and_what_follows() -> None:
    ax = explanation(RAISE_SAVINGS).plot_graph()
    assert {"action: 2,000 → 3,500", "keep: 25,500", "follows: 640 → 655"} <= set(words(ax))
    boxes = [each for each in ax.patches if isinstance(each, FancyBboxPatch)]
    arrows = [each for each in ax.patches if isinstance(each, FancyArrowPatch)]
    assert len(boxes) == 5  # those of the edges; the others neither change nor have an edge
    assert len(arrows) == 3
    assert sum(each.get_linestyle() != "-" and each.get_linestyle() != "solid" for each in boxes)


def test_the_title_of_the_graph_says_whether_anything_follows() -> None:
    assert explanation(RAISE_SAVINGS).plot_graph().get_title() == (
        "Row 0: what to do, and what follows"
    )
    assert explanation(CHANGE_JOB).plot_graph().get_title() == "Row 0: what to do; nothing follows"


def test_without_a_graph_what_changes_is_drawn_alone() -> None:
    shared = samples.context(edges=(), origin=None)
    ax = explanation(CHANGE_JOB, shared=shared).plot_graph()
    assert ax.get_title() == "Row 0: no causal graph, so nothing follows"
    assert "job" in words(ax)
    nothing = explanation(shared=shared).plot_graph()
    assert "No change was found for which the model says approved." in words(nothing)


def loan_explanation() -> Explanation:
    """Return an applicant of the loan data who raises savings."""
    data = load_dataset("loan")
    codec = Codec.fit(data.schema, data.frame)
    factual, raw = codec.encode(data.frame)[0], codec.raw_of_frame(data.frame)[0]
    rows, changes = factual.copy()[None], np.zeros((1, len(factual)), dtype=np.int8)
    for name, change, kind in (("savings", 0.1, 1), ("debt", -0.01, 3), ("credit_score", 0.1, 3)):
        position = data.schema.position(name)
        rows[0, position] += change
        changes[0, position] = kind
    shared = samples.context(codec=codec, edges=data.graph.edges)
    usual = explanation(CHANGE_JOB)
    return explained_row(
        shared, factual, raw, rows, changes, usual.probabilities, usual.losses, probability=0.3
    )


def test_a_graph_of_twelve_features_can_be_read_in_six_by_four_inches() -> None:
    ax = loan_explanation().plot_graph()
    assert faults(ax) == []
    boxes = [p.get_window_extent() for p in ax.patches if isinstance(p, FancyBboxPatch)]
    assert len(boxes) == 12
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_where_the_graph_has_no_room_the_arrows_between_what_changes_stay() -> None:
    ax = plt.subplots(figsize=(3.6, 3), layout="constrained")[1]
    loan_explanation().plot_graph(ax=ax)
    assert ax.get_title().replace("\n", " ").endswith("9 unchanged features left out")
    boxes = [each for each in ax.patches if isinstance(each, FancyBboxPatch)]
    arrows = [each for each in ax.patches if isinstance(each, FancyArrowPatch)]
    assert (len(boxes), len(arrows)) == (3, 3)  # savings to debt and score, debt to score


def test_a_change_too_small_for_an_arrow_says_its_direction() -> None:
    ax = explanations(explanation({"savings": ("action", 1_500)})).plot_changes()
    assert "2,000 → 1,500" in words(ax)
