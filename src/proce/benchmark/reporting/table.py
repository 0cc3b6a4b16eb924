"""A table of text that can be written as Markdown, LaTeX and csv."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

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
