"""Explanations as one page that needs nothing else: for an applicant, or for an auditor."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from proce.errors import SearchError
from proce.explanation.html.environment import render
from proce.explanation.html.overview import Overview, overview_of
from proce.explanation.html.provenance import ProvenanceFacts, provenance_facts
from proce.explanation.html.row import Drawn, RowReport, row_report
from proce.explanation.record.frame import ExplainedFrame
from proce.explanation.record.rows import ExplainedRow, ExplainedRows
from proce.explanation.words.cells import ChangedCell, ranked_cells
from proce.explanation.words.sentences import Line, common_lines, recommended_lines
from proce.files import require_place, write_text
from proce.schema import Layout

_TITLE = "What would have changed the decision"
_MAX_DRAWN_ROWS = 5  # a front and a graph each take a moment to draw, and some room


@dataclass(frozen=True, slots=True)
class Report:
    """What a report page shows.

    Attributes
    ----------
    title
        The heading of the page.
    overview
        What is said about all rows together; ``None`` for the report of one row.
    rows
        What is said about each row.
    provenance
        How the result was made; ``None`` for a row without its result.
    """

    title: str
    overview: Overview | None
    rows: Sequence[RowReport]
    provenance: ProvenanceFacts | None


def save_page_of_rows(
    explanations: ExplainedFrame,
    path: str | PathLike[str],
    *,
    title: str | None = None,
    at_most: int = 20,
    by: str | Sequence[Any] | None = None,
) -> Path:
    """Write the report of explanations to a file; see :meth:`Explanations.save_html`."""
    place = _place_of(path)
    write_text(place, page_of_rows(explanations, title=title, at_most=at_most, by=by))
    return place


def save_page_of_row(
    explanation: ExplainedRow, path: str | PathLike[str], *, title: str | None = None
) -> Path:
    """Write the report of one explanation to a file; see :meth:`Explanation.save_html`."""
    place = _place_of(path)
    write_text(place, page_of_row(explanation, title=title))
    return place


def page_of_rows(
    explanations: ExplainedFrame,
    *,
    title: str | None = None,
    at_most: int = 20,
    by: str | Sequence[Any] | None = None,
    max_drawn: int | None = None,
) -> str:
    """Return the report of explanations as the text of a page.

    Parameters
    ----------
    explanations, title, at_most, by
        As for :meth:`Explanations.save_html`.
    max_drawn
        The most rows that have pictures, which take a moment each; ``None`` for the changes of
        every row that is told, and the front and the graph of the first five.
    """
    if at_most < 0:
        raise SearchError(f"at_most is {at_most!r}; expected a whole number from 0 on.")
    shown = explanations.rows.head(at_most)
    told = ranked_cells(shown)
    common = common_lines(
        [recommended_lines(row, cells) for row, cells in zip(shown, told, strict=True)]
    )
    overview = None
    if len(explanations) != 1 or by is not None:
        overview = overview_of(explanations, len(shown), by, common)
    rows = _row_reports(shown, told, common, explanations.layout, max_drawn)
    provenance = provenance_facts(explanations.provenance)
    return render("report.html", Report(title or _TITLE, overview, rows, provenance))


def page_of_row(explanation: ExplainedRow, *, title: str | None = None) -> str:
    """Return the report of one explanation as the text of a page."""
    row = explanation.alone()
    rows = _row_reports(row, ranked_cells(row), (), layout=None)
    return render("report.html", Report(title or _TITLE, None, rows, None))


def _row_reports(
    rows: ExplainedRows,
    told: Sequence[Sequence[Sequence[ChangedCell]]],
    common: Sequence[Line],
    layout: Layout | None,
    max_drawn: int | None = None,
) -> list[RowReport]:
    """Return the reports of rows, given the changed cells of each, without what is common."""
    reports = []
    for number, (row, cells_by_rank) in enumerate(zip(rows, told, strict=True)):
        lines = [line for line in recommended_lines(row, cells_by_rank) if line not in common]
        is_drawn = max_drawn is None or number < max_drawn
        drawn = Drawn(is_drawn, is_drawn and number < _MAX_DRAWN_ROWS)
        reports.append(row_report(row, cells_by_rank, lines, layout, drawn))
    return reports


def _place_of(path: str | PathLike[str]) -> Path:
    """Return where to write, checked before any picture is drawn."""
    place = Path(path)
    require_place(place, "path")
    return place
