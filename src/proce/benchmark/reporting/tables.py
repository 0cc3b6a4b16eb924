"""The tables of a run, made from its summary alone, as Markdown, LaTeX and csv."""

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from proce.benchmark.folder import RunFolder
from proce.benchmark.plan import DATASETS_WITH_TRUTH
from proce.benchmark.reporting.columns import (
    DISTANCES,
    EQUAL_TERMS,
    LIMITED,
    NO_VALUE,
    OUT_OF_TIME,
    RECOURSE,
    TIMES,
    VALIDITY,
    Column,
    Line,
    as_shown,
)
from proce.benchmark.reporting.ranks import mean_rank_table
from proce.benchmark.reporting.summary import Origin, summarise, write_summary
from proce.files import make_folder, write_text

_LATEX_ESCAPES = {
    "%": r"\%",
    "&": r"\&",
    "_": r"\_",
    "#": r"\#",
    "±": r"$\pm$",
    "–": "--",
    "<": "$<$",
}


@dataclass(frozen=True, slots=True)
class TableCell:
    """The text of a cell, and whether its value is the best of its column."""

    text: str
    best: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table."""

    name: str  # the name of the table's files, without a suffix
    title: str  # a sentence that says what the table shows
    header: tuple[str, ...]  # the names of the columns
    rows: tuple[tuple[TableCell, ...], ...]  # the rows, each with a cell for every column
    divided: bool = True  # whether LaTeX draws a line between rows whose first cells differ

    def to_markdown(self) -> str:
        """Return the table for Markdown, best values bold."""
        lines = [" | ".join(self.header), "|".join("---" for _ in self.header)]
        lines += [" | ".join(_mark_best(cell, "**", "**") for cell in row) for row in self.rows]
        return "\n".join(f"| {line} |" for line in lines) + "\n"

    def to_latex(self) -> str:
        """Return the table for LaTeX with booktabs."""
        columns = "ll" + "r" * (len(self.header) - 2)
        body = [_latex_row([_escape(name) for name in self.header]), r"\midrule"]
        previous = None
        for row in self.rows:
            if self.divided and previous not in (None, row[0].text):
                body.append(r"\midrule")
            previous = row[0].text
            escaped = [TableCell(_escape(cell.text), cell.best) for cell in row]
            body.append(_latex_row([_mark_best(cell, r"\textbf{", "}") for cell in escaped]))
        inside = "\n".join(body)
        return (
            f"\\begin{{table}}\n\\centering\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n{inside}\n"
            f"\\bottomrule\n\\end{{tabular}}\n\\caption{{{_escape(self.title)}}}\n\\end{{table}}\n"
        )

    def to_csv(self) -> str:
        """Return the table as csv; best values end with an asterisk."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows([[_mark_best(cell, "", "*") for cell in row] for row in self.rows])
        return text.getvalue()


def _mark_best(cell: TableCell, before: str, after: str) -> str:
    return f"{before}{cell.text}{after}" if cell.best and cell.text else cell.text


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _escape(text: str) -> str:
    return "".join(_LATEX_ESCAPES.get(character, character) for character in text)


DATASET_TITLES = {
    "simple_bn": "Simple-BN",
    "sangiovese": "Sangiovese",
    "adult": "Adult",
    "law": "Law",
    "loan": "loan",
    "credit_card": "Credit card",
    "german_credit": "German credit",
}
LineKey = tuple[str, str, str, str]  # data set, classifier, variant, metric


def write_tables(path: str | Path) -> list[Path]:
    """Write the summary and every table of a run into its folder ``tables``."""
    folder = RunFolder.open(path)
    out = folder.path / "tables"
    summary = summarise(folder)
    make_folder(out)
    written = [out / "summary.csv"]
    write_summary(written[0], summary, Origin.of(folder), "%.6g")
    for table in build_tables(summary):
        for suffix, text in (
            ("md", table.to_markdown()),
            ("tex", table.to_latex()),
            ("csv", table.to_csv()),
        ):
            written.append(out / f"{table.name}.{suffix}")
            write_text(written[-1], text)
    return written


def build_tables(summary: pd.DataFrame) -> list[Table]:
    """Return every table that a summary has the values for."""
    tables = []
    for name, classifier, words in (
        ("table1", "first", "the 1st classifier"),
        ("table2", "second", "the 2nd classifier"),
        ("trees", "trees", "boosted trees"),
    ):
        title = f"Validity and interpretability on {words}; p-values against ProCE"
        tables.append(_fill(name, title, summary, "paper", VALIDITY, classifier))
    with_truth = summary["dataset"].isin(DATASETS_WITH_TRUTH)
    late = summary[(summary["metric"] == "out_of_time_share") & (summary["mean"] > 0)]
    tables += [
        _fill("table3", "Seconds per explained row, one thread", summary, "paper", TIMES),
        _fill("equal_terms", "All under the same rules", summary, "rules", EQUAL_TERMS),
        _fill("distances", "Proximity, sparsity, plausibility", summary, "paper", DISTANCES),
        _fill(
            "recourse", "Advice taken in the true world", summary[with_truth], "recourse", RECOURSE
        ),
        _fill(
            "limited",
            "Advice within what people can act on",
            summary[~with_truth],
            "recourse",
            LIMITED,
        ),
        _fill("out_of_time", "Rows that were given up for their time", late, None, OUT_OF_TIME),
        _rank_table(summary),
    ]
    return [table for table in tables if table.rows]


def _rank_table(summary: pd.DataFrame) -> Table:
    """Return the table of mean ranks, in which 1 is best."""
    ranks = mean_rank_table(summary)
    best = ranks.drop(columns=["place", "problems"], errors="ignore").round(2).min()
    rows = []
    for name, line in ranks.round(2).iterrows():
        place = f"{line['place']:.0f}" if math.isfinite(line["place"]) else NO_VALUE
        cells = [
            TableCell(f"{line[title]:.2f}", line[title] == best[title])
            if math.isfinite(line[title])
            else TableCell(NO_VALUE)
            for title in best.index
        ]
        problems = TableCell(f"{line['problems']:.0f}")
        rows.append((TableCell(str(name)), TableCell(place), *cells, problems))
    header = ("method", "place", "mean rank", *best.index[1:], "problems")
    title = "Mean ranks over all data sets and classifiers, 1 is best"
    return Table("ranks", title, header, tuple(rows), divided=False)


def _fill(
    name: str,
    title: str,
    summary: pd.DataFrame,
    group: str | None,
    columns: Sequence[Column],
    classifier: str | None = None,
) -> Table:
    """Return a table with a row per data set, classifier (unless one is given) and variant.

    A variant that cannot be used somewhere has a dash in every column there.
    """
    part = summary if group is None else summary[summary["group"] == group]
    part = part if classifier is None else part[part["classifier"] == classifier]
    lines: dict[LineKey, Line] = {
        (line["dataset"], line["classifier"], line["variant"], line["metric"]): line
        for line in part.to_dict("records")
    }
    keys = sorted(dict.fromkeys(key[:3] for key in lines), key=_order)
    worlds = dict.fromkeys(key[:2] for key in keys)
    best = {
        (world, column): _best_value(lines, column, world) for world in worlds for column in columns
    }
    rows = []
    for dataset, classifier_name, variant in keys:
        names = [DATASET_TITLES.get(dataset, dataset), variant]
        if classifier is None:
            names.insert(1, classifier_name)
        cells = [TableCell(text) for text in names]
        for column in columns:
            line = lines.get((dataset, classifier_name, variant, column.metric))
            cells.append(_table_cell(line, column, best[(dataset, classifier_name), column]))
        rows.append(tuple(cells))
    key_names = ("data set", "method") if classifier else ("data set", "classifier", "method")
    return Table(name, title, (*key_names, *(column.title for column in columns)), tuple(rows))


def _order(key: tuple[str, str, str]) -> tuple[int, str]:
    """Return what rows are sorted by: the paper's order of data sets, then the classifier."""
    dataset, classifier, _ = key
    order = list(DATASET_TITLES)
    return (order.index(dataset) if dataset in order else len(order), classifier)


def _table_cell(line: Line | None, column: Column, best: float | None) -> TableCell:
    if line is None:
        return TableCell(NO_VALUE)
    return TableCell(column.show(line), best is not None and _value(line, column) == best)


def _best_value(lines: dict[LineKey, Line], column: Column, world: tuple[str, str]) -> float | None:
    """Return the best value of a column among the variants of one data set and classifier."""
    if column.better is None:
        return None
    values = [
        _value(line, column)
        for key, line in lines.items()
        if key[:2] == world and key[3] == column.metric
    ]
    known = [value for value in values if value is not None]
    return column.better(known) if known else None


def _value(line: Line, column: Column) -> float | None:
    """Return a value rounded as it is shown, so that values that look equal share the best."""
    value = as_shown(column.metric, line[column.statistic])
    return value if math.isfinite(value) else None
