"""A table that knows Markdown, LaTeX and csv."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

_LATEX = {"%": r"\%", "&": r"\&", "_": r"\_", "#": r"\#", "±": r"$\pm$", "–": "--", "<": "$<$"}


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a cell, and whether it is the best of its kind."""

    text: str
    best: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table.

    Attributes
    ----------
    name
        Of its files.
    title
        What it shows, in a sentence.
    header
        The columns' names.
    rows
        As many cells each.
    """

    name: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def to_markdown(self) -> str:
        """Return the table for Markdown, best values bold."""
        lines = [" | ".join(self.header), "|".join("---" for _ in self.header)]
        lines += [" | ".join(_bold(cell, "**", "**") for cell in row) for row in self.rows]
        return "\n".join(f"| {line} |" for line in lines) + "\n"

    def to_latex(self) -> str:
        """Return the table for LaTeX with booktabs."""
        columns = "ll" + "r" * (len(self.header) - 2)
        body = [_latex_row([_escaped(name) for name in self.header]), r"\midrule"]
        before = None
        for row in self.rows:
            if before is not None and row[0].text != before:
                body.append(r"\midrule")
            before = row[0].text
            body.append(
                _latex_row([_bold(Cell(_escaped(c.text), c.best), r"\textbf{", "}") for c in row])
            )
        inside = "\n".join(body)
        return (
            f"\\begin{{table}}\n\\centering\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n{inside}\n"
            f"\\bottomrule\n\\end{{tabular}}\n\\caption{{{_escaped(self.title)}}}\n\\end{{table}}\n"
        )

    def to_csv(self) -> str:
        """Return the table as csv; best values end with an asterisk."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows([[_bold(cell, "", "*") for cell in row] for row in self.rows])
        return text.getvalue()


def _bold(cell: Cell, before: str, after: str) -> str:
    return f"{before}{cell.text}{after}" if cell.best and cell.text else cell.text


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)
