"""Mean ranks, worked out by hand."""

from typing import Any

import pandas as pd
import pytest

from proce.benchmark.reporting.ranks import CRITERIA, mean_rank_table
from proce.benchmark.reporting.summary import COLUMNS
from proce.benchmark.reporting.tables import build_tables


def line(variant: str, metric: str, value: float, **more: Any) -> dict[str, Any]:
    values = dict.fromkeys(COLUMNS, float("nan"))
    values |= {"group": "paper", "dataset": "law", "classifier": "first", "variant": variant}
    values |= {"metric": metric, "mean": value, "median": value, "n": 30, "missing": 0.0}
    return values | more


def lines(metric: str, *values: float, **more: Any) -> list[dict[str, Any]]:
    """Return lines of a metric for the rows a, b, c."""
    return [line("abc"[position], metric, value, **more) for position, value in enumerate(values)]


def ranks_of(*lines: dict[str, Any]) -> pd.DataFrame:
    return mean_rank_table(pd.DataFrame(lines))


def test_the_criteria_are_those_that_were_named() -> None:
    titles = [criterion.title for criterion in CRITERIA]
    assert titles == [
        *("validity", "%Ccv", "%Ccv strict", "distance", "looking real"),
        *("recourse success", "robustness", "time"),
    ]


def test_ties_share_and_criteria_count_the_same() -> None:
    """Validity: a and b share 1 and 2. Distance on law: a, b, c; on adult: b, a and c share."""
    table = ranks_of(
        *lines("target_class_validity", 1, 1, 0.5),
        *lines("gower_distance", 0.1, 0.2, 0.3),
        *lines("gower_distance", 0.2, 0.1, 0.2, dataset="adult"),
    )
    assert table["validity"].to_dict() == {"a": 1.5, "b": 1.5, "c": 3}
    assert table["distance"].to_dict() == {"a": 1.75, "b": 1.5, "c": 2.75}
    assert table["mean"].to_dict() == {"a": 1.625, "b": 1.5, "c": 2.875}
    assert table["place"].to_dict() == {"b": 1, "a": 2, "c": 3}
    assert list(table.index) == ["b", "a", "c"]
    assert table["problems"].tolist() == [2, 2, 2]


def test_looking_real_is_the_mean_of_its_four_measures() -> None:
    """By IM1 and IM2 (medians) a is first, by the other two last: (1 + 1 + 2 + 2) / 4."""
    table = ranks_of(
        line("a", "im1", 9.0, median=1.0),
        line("b", "im1", 1.0, median=2.0),
        line("a", "im2", 1.0),
        line("b", "im2", 2.0),
        *(line("a", name, 2.0) for name in ("nearest_target_row", "local_outlier_factor")),
        *(line("b", name, 1.0) for name in ("nearest_target_row", "local_outlier_factor")),
    )
    assert table["looking real"].tolist() == [1.5, 1.5]


def test_success_is_that_of_the_row_of_the_same_name_for_recourse() -> None:
    table = ranks_of(
        *lines("robustness", 0.5, 0.5),
        line("a, recourse", "actionable_success", 0.3, group="recourse"),
        line("b, recourse", "actionable_success", 0.4, group="recourse"),
        line("ceiling, recourse", "actionable_success", 1.0, group="recourse"),
    )
    assert table["recourse success"].to_dict() == {"b": 1, "a": 2}


def test_who_answers_the_easy_ones_alone_is_not_closer() -> None:
    """A quarter at 0.1 and three quarters counted as the farthest of all, 0.4: 0.325 > 0.3."""
    table = ranks_of(
        line("few", "gower_distance", 0.1, missing=0.75),
        line("all", "gower_distance", 0.3),
        line("far", "gower_distance", 0.4),
        line("none", "gower_distance", float("nan"), missing=1.0),
    )
    assert table["distance"].to_dict() == {"all": 1, "few": 2, "far": 3, "none": 4}


def test_a_problem_that_a_row_cannot_be_used_on_counts_neither_way() -> None:
    """On trees only a and c are ranked, 1 and 2, which is 1 and 3 on the scale of three."""
    table = ranks_of(
        *lines("gower_distance", 0.1, 0.2, 0.3),
        line("a", "gower_distance", 0.1, classifier="trees"),
        line("c", "gower_distance", 0.2, classifier="trees"),
        line("b", "not_applicable", float("nan"), classifier="trees", n=0),
    )
    assert table["distance"].to_dict() == {"a": 1, "b": 2, "c": 3}
    assert table["problems"].to_dict() == {"a": 2, "b": 1, "c": 2}


def test_a_row_that_lacks_a_criterion_has_no_place() -> None:
    summary = pd.DataFrame(
        [
            *lines("gower_distance", 0.1, 0.1, 0.3),
            *lines("robustness", 0.9, 0.8),
        ]
    )
    table = mean_rank_table(summary)
    # Among two, ranks 1 and 2 are 1 and 3 on the scale of three.
    assert table["mean"].to_dict() == {"a": 1.25, "b": 2.25, "c": 3}
    assert table["place"].dropna().to_dict() == {"a": 1, "b": 2}
    (shown,) = build_tables(summary)[-1:]
    assert shown.name == "ranks"
    assert [[cell.text for cell in row[:3]] for row in shown.rows] == [
        *(["a", "1", "1.25"], ["b", "2", "2.25"], ["c", "–", "3.00"])
    ]
    assert [row[2].best for row in shown.rows] == [True, False, False]


@pytest.mark.parametrize("part", [[], [line("margin = 0.1", "gower_distance", 0.1)]])
def test_where_nothing_can_be_ranked_there_is_no_table(part: list[dict[str, Any]]) -> None:
    summary = pd.DataFrame(part, columns=list(COLUMNS))
    assert len(mean_rank_table(summary)) == 0
    assert "ranks" not in [table.name for table in build_tables(summary)]
