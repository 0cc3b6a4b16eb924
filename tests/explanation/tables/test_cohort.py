"""Many explanations: counts, medians, costs by group, against numbers worked out by hand."""

import math
from dataclasses import replace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pytest

from proce.errors import SchemaError, SearchError
from proce.explanation import Explanation, Explanations, Outcome
from proce.explanation.html.report import page_of_rows
from proce.explanation.tables.cohort import change_text, groups_of, level_name, tallies
from proce.losses import Loss
from proce.schema import Categorical, Codec

from ..axes import words
from ..samples import SCHEMA, Way, context, everything, explanation, explanations, people


def costing(cost: float, row: int = 0, way: Way | None = None, **fields: Any) -> Explanation:
    """Return what was found for an applicant, at some distance."""
    losses = np.array([[0.1, 0.1, cost]], dtype=np.float64)
    return explanation(way or {"ratio": ("action", 0.2)}, row=row, losses=losses, **fields)


def four() -> Explanations:
    """Return four rows that raise savings by 1,000, 3,000 and 2,000, or change the job."""
    return explanations(
        explanation({"savings": ("action", 3_000), "credit_score": ("consequence", 650)}, row=0),
        explanation({"savings": ("action", 15_000), "education": ("action", "master")}, row=1),
        explanation({"savings": ("action", 2_700), "amount": ("hold", 3_000, 4_000)}, row=2),
        explanation({"job": ("action", "office"), "savings": ("consequence", 89_000)}, row=3),
        explanation(row=4),
    )


def test_a_summary_counts_actions_holds_and_consequences_apart() -> None:
    table = four().summary().set_index(["feature", "kind"])
    assert list(table.index) == [
        ("savings", "action"),
        ("education", "action"),
        ("job", "action"),
        ("amount", "hold"),
        ("savings", "consequence"),
        ("credit_score", "consequence"),
    ]
    savings = table.loc[("savings", "action")]
    assert (savings["rows"], savings["share"], savings["median_change"]) == (3, 0.75, 2_000)
    assert savings["median_size"] == pytest.approx(2_000 / 90_000)
    assert table.loc[("education", "action"), "median_change"] == 1
    assert table.loc[("education", "action"), "usual"] == '"bachelor" → "master"'
    assert table.loc[("job", "action"), "usual"] == '"service" → "office"'
    assert np.isnan(table.loc[("job", "action"), "median_change"])
    assert np.isnan(table.loc[("amount", "hold"), "median_change"])
    assert table.loc[("savings", "consequence"), "median_change"] == -1_000


def test_what_some_rows_raise_and_others_lower_is_told_apart() -> None:
    """Savings of 2,000, 12,000 and 700: lowered by 500 and 4,000, raised by 1,000."""
    both = explanations(
        explanation({"savings": ("action", 1_500)}, row=0),
        explanation({"savings": ("action", 8_000)}, row=1),
        explanation({"savings": ("action", 1_700)}, row=2),
    )
    line = both.summary().iloc[0]
    assert (line["raised"], line["lowered"]) == (1, 2)
    assert (line["median_raise"], line["median_lowering"]) == (1_000, -4_000)
    assert change_text(both, tallies(both)[0]) == "−4,000 (2 times), +1,000 (1 time)"
    assert "−4,000 (2 times), +1,000 (1 time)" in words(both.plot_cohort())
    assert "−4,000 (2 times), +1,000 (1 time)" in page_of_rows(both, at_most=0)
    savings = four().summary().iloc[0]
    assert (savings["raised"], savings["lowered"], savings["median_raise"]) == (3, 0, 2_000)
    assert np.isnan(savings["median_lowering"])


def test_a_summary_without_a_counterfactual_is_empty() -> None:
    assert len(explanations(explanation()).summary()) == 0
    assert len(explanations().summary()) == 0
    assert len(explanations().summary(by="sex")) == 0


def test_costs_by_group_and_the_gap_to_the_others() -> None:
    """Women: 0.2 and 0.6, one not found; men: 0.1. Who is there already does not count."""
    result = explanations(
        costing(0.2, row=0),
        costing(0.1, row=1),
        costing(0.6, row=2),
        explanation(row=3, outcome=Outcome.ALREADY_TARGET, predicted=1),
        explanation(row=4),
    )
    table = result.summary(by="sex").set_index("group")
    assert table.index.tolist() == ["female", "male"]
    women = table.loc["female"]
    assert (women["rows"], women["found"]) == (3, 2)
    assert women["mean_cost"] == women["median_cost"] == pytest.approx(0.4)
    assert women["gap"] == pytest.approx(0.3)
    assert table.loc["male", "gap"] == pytest.approx(-0.3)
    assert table[["gap_low", "gap_high"]].isna().all(axis=None)  # too few rows


def two_groups(n: int, apart: float) -> tuple[Explanations, list[str]]:
    """Return rows of two groups whose costs are normal with a deviation of 0.1."""
    draw = np.random.default_rng(1)
    labels = ["a", "b"] * n
    costs = [draw.normal(1 + apart * (label == "b"), 0.1) for label in labels]
    frame = people().iloc[[0] * 2 * n]
    rows = costing(0.0, frame=frame).record.take(np.zeros(2 * n, dtype=np.int64))
    losses = rows.counterfactuals.losses.copy()
    losses[:, Loss.DISTANCE] = np.array(costs)
    ways = replace(rows.counterfactuals, losses=losses)
    rows = replace(rows, positions=np.arange(2 * n), counterfactuals=ways)
    return replace(explanations(frame=frame), rows=rows), labels


def test_the_interval_is_that_of_the_difference_of_two_means() -> None:
    """Of 40 rows each: 1.96 * 0.1 * sqrt(2 / 40) = 0.044 to either side."""
    result, labels = two_groups(40, apart=0.5)
    table = result.summary(by=labels).set_index("group")
    gap, low, high = table.loc["b", ["gap", "gap_low", "gap_high"]]
    assert gap == pytest.approx(0.5, abs=0.06)
    assert (high - low) / 2 == pytest.approx(0.044, rel=0.2)
    assert low < gap < high
    assert table.loc["a", "gap"] == pytest.approx(-gap)
    assert table.loc["a", ["gap_low", "gap_high"]].tolist() == [-high, -low]  # one difference


@pytest.mark.parametrize("n_rows", [40, 2_001])
def test_the_interval_is_the_same_each_time_and_for_many_rows_that_of_the_normal(
    n_rows: int,
) -> None:
    result, labels = two_groups(n_rows, apart=0.1)
    first, second = (groups_of(result, labels)[0] for _ in range(2))
    assert first == second
    half_width = 1.96 * 0.1 * math.sqrt(2 / n_rows)
    assert first.gap == pytest.approx(-0.1, abs=1.5 * half_width)
    assert first.low == pytest.approx(first.gap - half_width, abs=0.2 * half_width)
    assert first.high == pytest.approx(first.gap + half_width, abs=0.2 * half_width)


def test_numbers_are_grouped_by_quarters_and_levels_in_their_order() -> None:
    """Of 700, 2,000, 12,000 and 90,000 each is a quarter; 0 shares the first."""
    result = explanations(*(costing(0.1, row) for row in range(5)))
    names = result.summary(by="savings")["group"].tolist()
    assert names == ["up to 700", "over 700 to 2,000", "over 2,000 to 12,000", "over 12,000"]
    assert result.summary(by="savings")["rows"].tolist() == [2, 1, 1, 1]
    assert result.summary(by="education")["group"].tolist() == ["school", "bachelor", "master"]


def test_a_level_keeps_the_quotes_that_it_has_in_the_data() -> None:
    feature = Categorical("region", ('"Mitte"', "Nord", "west"), labels={"west": '"West"'})
    names = [level_name(feature, code) for code in (0, 1, 2, -1)]
    assert names == ['"Mitte"', "Nord", '"West"', "missing"]


def test_missing_values_are_a_group_of_their_own() -> None:
    frame = people().astype({"savings": "float64"})
    frame.loc["ann", "savings"] = float("nan")
    result = explanations(*(costing(0.1, row, frame=frame) for row in range(3)), frame=frame)
    assert result.summary(by="savings")["group"].tolist()[-1] == "missing"
    labels = result.summary(by=["x", None, float("nan")])
    assert labels["group"].tolist() == ["x", "missing"]


def test_groups_that_make_no_sense_are_refused() -> None:
    result = everything()
    with pytest.raises(SearchError, match="by has 2 labels; expected one for each of the 5 rows"):
        result.summary(by=["a", "b"])
    with pytest.raises(SchemaError, match="unknown feature 'gender'"):
        result.summary(by="gender")
    many, _ = two_groups(30, 0.0)
    with pytest.raises(SearchError, match="by makes 60 groups; expected at most 50"):
        many.summary(by=list(range(60)))


def test_a_summary_is_in_the_library_that_came_in() -> None:
    frame = pl.from_pandas(people().reset_index(drop=True))
    result = everything(frame=frame)
    assert isinstance(result.summary(), pl.DataFrame)
    assert isinstance(result.summary(by="sex"), pl.DataFrame)


def test_the_cohort_is_drawn_with_shares_and_medians() -> None:
    axes = plt.subplots(1, 2)[1]
    ax = four().plot_cohort(ax=axes[1])
    assert ax is axes[1]
    found = words(ax)
    assert "+2,000; follows −1,000" in found
    assert {"+1 level", '"service" → "office"', "of 4 rows with a counterfactual"} <= set(found)
    assert [bar.get_width() for bar in ax.patches][:2] == [0.75, 0.25]
    legend = ax.get_legend()
    assert legend is not None
    assert [each.get_text() for each in legend.get_texts()] == ["action", "keep", "follows"]
    frame = ax.get_window_extent()
    assert all(text.get_window_extent().x1 <= frame.x1 + 1 for text in ax.texts)


def narrow_axes(width: float = 2.2) -> Any:
    return plt.subplots(figsize=(width, 2.4), layout="constrained")[1]


def test_in_a_narrow_picture_a_change_has_fewer_words_and_no_cut_number() -> None:
    both = explanations(
        explanation({"credit_score": ("action", 600)}, row=0),
        explanation({"credit_score": ("action", 690)}, row=1),
        explanation({"credit_score": ("action", 590)}, row=2),
    )
    assert "−40 (2 times), +10 (1 time)" in words(both.plot_cohort())
    assert "−40, +10" in words(both.plot_cohort(ax=narrow_axes()))


def test_in_a_narrow_picture_names_of_levels_keep_letters_or_are_not_told() -> None:
    jobs = explanations(
        explanation({"job": ("action", "office")}, row=0),
        explanation({"job": ("consequence", "office")}, row=3),
    )
    assert '"service" → "office"; follows "service" → "office"' in words(jobs.plot_cohort())
    for width in (1.6, 2.2, 2.8, 3.4):
        told = words(jobs.plot_cohort(ax=narrow_axes(width)))
        assert not any('"…"' in text for text in told)
    assert '"service" → "office"' in told


def test_time_is_waited_for_in_the_picture_as_in_the_table() -> None:
    schema = SCHEMA.edit("amount", action="waits", unit="years")
    shared = context(codec=Codec.fit(schema, people()))
    way: Way = {"amount": ("action", 25_501)}
    later = explanations(*(explanation(way, row=row, shared=shared) for row in (0, 1)))
    legend = later.plot_cohort().get_legend()
    assert [each.get_text() for each in legend.get_texts()] == ["by waiting"]
    assert "by waiting" in page_of_rows(later, at_most=0)


def test_a_gap_is_never_cut() -> None:
    result, labels = two_groups(4, apart=0.5)
    assert "gap −0.488 (too few rows for an interval)" in words(result.plot_groups(labels))
    for width, told in ((3.6, "gap −0.488 (too few rows)"), (1.8, "gap −0.488")):
        assert told in words(result.plot_groups(labels, ax=narrow_axes(width)))


def test_groups_are_drawn_with_their_gap() -> None:
    result, labels = two_groups(10, apart=0.5)
    ax = result.plot_groups(labels)
    found = words(ax)
    assert "a\n10 of 10 found" in found
    group = groups_of(result, labels)[1]
    assert f"gap {group.gap:+.3f} ({group.low:+.3f} to {group.high:+.3f})" in found
    assert everything().plot_groups("sex").get_title() == "What it costs by sex"


def test_without_anything_found_the_picture_says_so() -> None:
    none = explanations(explanation(), explanation(row=1))
    assert "No row has a counterfactual." in words(none.plot_cohort())
    assert "No row has a counterfactual." in words(none.plot_groups("sex"))
