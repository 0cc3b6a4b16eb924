"""Summaries, tables and figures, from numbers that can be checked by hand."""

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from proce.benchmark import RunFolder
from proce.benchmark.presets import find_preset
from proce.benchmark.reporting.columns import format_number, read_printed_values
from proce.benchmark.reporting.figures import draw_figures, write_figures
from proce.benchmark.reporting.summary import COLUMNS, NOT_APPLICABLE, read_summary, summarise
from proce.benchmark.reporting.tables import Table, TableCell, build_tables, write_tables


def line(variant: str, metric: str, mean: float, **more: Any) -> dict[str, Any]:
    values = dict.fromkeys(COLUMNS, float("nan"))
    values |= {"group": "paper", "dataset": "adult", "classifier": "first", "variant": variant}
    return values | {"metric": metric, "mean": mean, "median": mean, "n": 30, "missing": 0.0} | more


SUMMARY = pd.DataFrame(
    [
        line("ProCE", "target_class_validity", 1.0, sd=0.0),
        line("Wachter", "target_class_validity", 0.9, sd=0.05, difference=-0.1, holm_p=0.004),
        line("FACE", "target_class_validity", 1.0, sd=0.0, difference=0.0),
        line("ProCE", "im1", 2.0),
        line("Wachter", "im1", 0.5, difference=-1.5, holm_p=0.0001),
        line("FACE", "im1", 3.0, difference=1.0, holm_p=0.3),
    ]
)


def cells(table: Table, method: str) -> dict[str, TableCell]:
    (row,) = (row for row in table.rows if row[1].text == method)
    return dict(zip(table.header, row, strict=True))


def test_the_best_is_marked_by_the_data_even_where_proce_loses() -> None:
    table = build_tables(SUMMARY)[0]
    ours, wachter, face = (cells(table, name) for name in ("ProCE", "Wachter", "FACE"))
    assert ours["%Tcv"] == TableCell("100.0 ± 0.0", best=True)
    assert face["%Tcv"].best  # a tie is shared
    assert wachter["%Tcv"] == TableCell("90.0 ± 5.0", best=False)
    assert wachter["IM1"].best
    assert not ours["IM1"].best


def test_values_that_look_equal_share_the_best() -> None:
    """Of numbers three digits are shown, of a share a tenth of a percent."""
    values = {"ProCE": 0.12341, "FACE": 0.12349, "Wachter": 0.1247}
    lines = [line(name, "im1", value) for name, value in values.items()]
    lines += [line(name, "target_class_validity", value / 100) for name, value in values.items()]
    (table,) = build_tables(pd.DataFrame(lines))[:1]
    ours, face, wachter = (cells(table, name) for name in values)
    assert (ours["IM1"].text, face["IM1"].text, wachter["IM1"].text) == ("0.123", "0.123", "0.125")
    assert (ours["IM1"].best, face["IM1"].best, wachter["IM1"].best) == (True, True, False)
    assert ours["%Tcv"] == face["%Tcv"] == wachter["%Tcv"] == TableCell("0.1", best=True)


def test_p_values_and_the_papers_own_figures_stand_beside_ours() -> None:
    table = build_tables(SUMMARY)[0]
    wachter, face = cells(table, "Wachter"), cells(table, "FACE")
    assert wachter["p %Tcv"].text == "0.004"
    assert wachter["p IM1"].text == "< 0.001"
    assert face["p %Tcv"].text == "no difference"
    assert cells(table, "ProCE")["p %Tcv"].text == "–"
    assert wachter["paper %Tcv"].text == "93.95"
    assert wachter["paper IM1"].text == "0.0709 ± 0.158"
    beside = [cell for name, cell in wachter.items() if name.startswith(("p ", "paper"))]
    assert len(beside) == 8
    assert not any(cell.best for cell in beside)


def test_printed_values_are_those_of_the_paper() -> None:
    printed = read_printed_values()
    assert printed["simple_bn", "first", "ProCE", "ccv"][0] == 85.91
    assert printed["law", "second", "DiCE", "ccv"][0] == 87.54
    assert printed["sangiovese", "first", "DiCE", "seconds"] == (13.426, 0.158)
    assert printed["simple_bn", "first", "Wachter", "im2"] == (0.00769, 0.01385)
    assert len(printed) == 2 * 4 * 6 * 5


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1234.5, "1,230"), (0.012345, "0.0123"), (-0.5, "-0.500"), (3e-6, "3e-06")],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert format_number(value) == text


def test_a_table_in_three_formats() -> None:
    table = Table("t", "A & B", ("x", "y"), ((TableCell("a_1"), TableCell("5%", best=True)),))
    assert table.to_markdown() == "| x | y |\n| ---|--- |\n| a_1 | **5%** |\n"
    assert table.to_csv() == "x,y\na_1,5%*\n"
    assert r"a\_1 & \textbf{5\%} \\" in table.to_latex()
    assert r"\caption{A \& B}" in table.to_latex()


def test_a_run_is_summarised(small_run: RunFolder) -> None:
    summary = summarise(small_run)
    values = small_run.metrics()
    own = values[(values["variant"] == "Nearest") & (values["metric"] == "gower_distance")]
    (nearest,) = summary[
        (summary["variant"] == "Nearest") & (summary["metric"] == "gower_distance")
    ].to_dict("records")
    assert nearest["mean"] == pytest.approx(own["value"].mean())
    ours = values[(values["variant"] == "ProCE") & (values["metric"] == "gower_distance")]
    gap = own.set_index("row")["value"] - ours.set_index("row")["value"]
    assert nearest["difference"] == pytest.approx(gap.mean())
    assert set(summary["group"]) == {"paper", "rules"}
    assert "seconds_per_row" in set(summary["metric"])


def test_a_cell_that_failed_counts_against_its_method(small_run: RunFolder, tmp_path: Path) -> None:
    """Or a method that crashes on the hard rows would look better than one that tries."""
    shutil.copytree(small_run.path, tmp_path / "copy")
    folder = RunFolder.open(tmp_path / "copy")
    cell = next(cell for cell in folder.plan.cells() if cell.variant.name == "Nearest")
    shutil.rmtree(folder.path / "cells" / cell.id)
    folder.write(cell, {"status": "failed", "error": "it hung"})
    summary = summarise(folder).query("variant == 'Nearest'").set_index("metric")
    assert summary.loc["target_class_validity", ["n", "mean"]].tolist() == [4, 0.0]
    assert summary.loc["gower_distance", "missing"] == 1.0
    assert summary.loc["target_class_validity", "difference"] == -1.0


def test_tables_and_figures_are_written(small_run: RunFolder) -> None:
    names = {path.name for path in write_tables(small_run.path)}
    assert {"summary.csv", "table1.md", "table1.tex", "table1.csv", "table3.md"} <= names
    again, origin = read_summary(small_run.path / "tables" / "summary.csv")
    assert (origin.plan, origin.repetitions, origin.rows) == ("test", 1, 4)
    tables = build_tables(again)
    own = ["table1", "table3", "equal_terms", "distances", "ranks"]
    assert [table.name for table in tables] == own
    assert len(tables) == len(build_tables(summarise(small_run)))
    drawn = {path.name for path in write_figures(small_run.path)}
    assert {"proximity.png", "proximity.svg"} <= drawn


def test_sensitivity_is_drawn_for_every_setting_of_the_preset(tmp_path: Path) -> None:
    lines = [
        line(variant.name, metric, 0.5, dataset=dataset)
        for variant in find_preset("sensitivity").variants
        for dataset in ("adult", "law")
        for metric in ("continuous_proximity", "im1", "robustness", "seconds_per_row")
    ]
    drawn = {path.name for path in draw_figures(pd.DataFrame(lines), tmp_path)}
    sizes = ("latent_size", "n_neighbours", "population_size", "n_generations")
    settings = (*sizes, "causal_weight", "margin")
    assert drawn == {f"sensitivity_{name}.{kind}" for name in settings for kind in ("png", "svg")}


def test_what_cannot_be_used_is_a_row_of_dashes() -> None:
    """Or a reader would not know whether the method failed, or was forgotten."""
    there = SUMMARY.assign(classifier="trees", dataset="german_credit")
    left_out = line("Wachter", NOT_APPLICABLE, float("nan"), n=0) | {
        "dataset": "german_credit",
        "classifier": "trees",
    }
    summary = pd.concat([there[there["variant"] != "Wachter"], pd.DataFrame([left_out])])
    table = next(table for table in build_tables(summary) if table.name == "trees")
    wachter = cells(table, "Wachter")
    assert {cell.text for name, cell in wachter.items() if name not in ("data set", "method")} == {
        "–"
    }
    ranks = next(table for table in build_tables(summary) if table.name == "ranks")
    assert {row[0].text for row in ranks.rows} == {"ProCE", "FACE"}


def test_rows_that_ran_out_of_time_are_counted_where_there_are_any() -> None:
    late = [line("FACE", "out_of_time_share", 0.25), line("ProCE", "out_of_time_share", 0.0)]
    summary = pd.concat([SUMMARY, pd.DataFrame(late)])
    table = next(table for table in build_tables(summary) if table.name == "out_of_time")
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["Adult", "first", "FACE", "25.0"]
    ]
    assert "out_of_time" not in [table.name for table in build_tables(SUMMARY)]
