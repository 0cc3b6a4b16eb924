"""Explanations as one page that needs nothing else: for an applicant, or for an auditor."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from markupsafe import Markup

from proce.errors import SearchError
from proce.explanation.html.environment import render, style_string
from proce.explanation.html.graph import GraphReport, graph_report
from proce.explanation.html.overview import Overview, overview_of
from proce.explanation.html.provenance import ProvenanceFacts, provenance_facts
from proce.explanation.html.row import ASKED_AGAIN, NOT_TRIED_AGAIN, RowReport, row_report
from proce.explanation.html.strips import legend_of
from proce.explanation.record.context import Context
from proce.explanation.record.rows import ExplainedFrame, ExplainedRow, ExplainedRows
from proce.explanation.record.view import protected_names
from proce.explanation.words.cells import ChangedCell, ranked_cells
from proce.explanation.words.sentences import Line, common_lines, recommended_lines
from proce.files import require_place, write_text
from proce.paths import path_of
from proce.schema import Layout

_TITLE = "What would have changed the decision"
_MAX_DRAWN_ROWS = 5  # a front and a graph each take a moment to draw, and some room
_FOR_AUDITORS = "For an auditor: this page shows protected features, which no applicant is shown."


@dataclass(frozen=True, slots=True)
class Report:
    """What a report page shows.

    Attributes
    ----------
    title
        The heading of the page.
    note
        For whom the page is; empty where it is for everybody.
    overview
        What is said about all rows together; ``None`` for the report of one row.
    rows
        What is said about each row.
    graph
        The causal graph in words; ``None`` where none was used.
    provenance
        How the result was made; ``None`` for a row without its result.
    """

    title: str
    note: str
    overview: Overview | None
    rows: Sequence[RowReport]
    graph: GraphReport | None
    provenance: ProvenanceFacts | None

    @property
    def running_head(self) -> Markup:
        """The title as a string of the style sheet, for the head of every printed page."""
        return Markup(style_string(self.title))


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
    max_drawn: int = _MAX_DRAWN_ROWS,
) -> str:
    """Return the report of explanations as the text of a page.

    Parameters
    ----------
    explanations, title, at_most, by
        As for :meth:`Explanations.save_html`.
    max_drawn
        The most rows whose front and graph are drawn, which takes a moment each.
    """
    if at_most < 0:
        raise SearchError(f"at_most is {at_most!r}; expected a whole number from 0 on.")
    shown = explanations.rows.head(at_most)
    told = ranked_cells(shown)
    common = common_lines(
        [recommended_lines(row, cells) for row, cells in zip(shown, told, strict=True)]
    )
    has_overview = len(explanations) != 1 or by is not None
    rows = _row_reports(shown, told, common, explanations.layout, max_drawn, listed=has_overview)
    overview = None
    if has_overview:
        rows, shared = _without_shared(rows)
        texts = [*(line.text for line in common), *shared]
        overview = overview_of(explanations, len(shown), by, texts)
    provenance = provenance_facts(explanations.provenance, explanations.context)
    return _page(explanations.context, title, overview, rows, provenance)


def page_of_row(explanation: ExplainedRow, *, title: str | None = None) -> str:
    """Return the report of one explanation as the text of a page."""
    row = explanation.alone()
    rows = _row_reports(row, ranked_cells(row), (), explanation.layout)
    return _page(explanation.context, title, None, rows, None)


def _page(
    context: Context,
    title: str | None,
    overview: Overview | None,
    rows: Sequence[RowReport],
    provenance: ProvenanceFacts | None,
) -> str:
    is_protected = context.view == "auditor" and protected_names(context.codec.schema)
    note = _FOR_AUDITORS if is_protected else ""
    graph = graph_report(context) if any(row.recommended for row in rows) else None
    return render("report.html", Report(title or _TITLE, note, overview, rows, graph, provenance))


def _row_reports(
    rows: ExplainedRows,
    told: Sequence[Sequence[Sequence[ChangedCell]]],
    common: Sequence[Line],
    layout: Layout | None,
    max_drawn: int = _MAX_DRAWN_ROWS,
    *,
    listed: bool = False,
) -> list[RowReport]:
    """Return the reports of rows, given the changed cells of each, without what is common."""
    reports: list[RowReport] = []
    for row, cells_by_rank in zip(rows, told, strict=True):
        lines = [line for line in recommended_lines(row, cells_by_rank) if line not in common]
        draw = sum(report.recommended is not None for report in reports) < max_drawn
        report = row_report(row, cells_by_rank, lines, layout, draw=draw, listed=listed)
        reports.append(report)
    return _with_legend(reports)


def _with_legend(rows: list[RowReport]) -> list[RowReport]:
    """Return the rows, of which the first with pictures says how all of them are read."""
    ways = [row.recommended for row in rows]
    legend = legend_of([strip for way in ways if way is not None for strip in way.strips])
    for number, way in enumerate(ways):
        if way is not None and way.strips:
            return [*rows[:number], replace(rows[number], legend=legend), *rows[number + 1 :]]
    return rows


def _without_shared(rows: Sequence[RowReport]) -> tuple[list[RowReport], list[str]]:
    """Return the rows without what was done for every way alike, and that, to be said once."""
    found = [row.certainty for row in rows if row.recommended]
    shared = [
        text
        for text in (NOT_TRIED_AGAIN, ASKED_AGAIN)
        if len(found) > 1 and all(text in texts for texts in found)
    ]
    kept = [
        replace(row, certainty=[text for text in row.certainty if text not in shared])
        for row in rows
    ]
    return kept, shared


def _place_of(path: str | PathLike[str]) -> Path:
    """Return where to write, checked before any picture is drawn."""
    place = path_of(path)
    require_place(place, "path")
    return place
