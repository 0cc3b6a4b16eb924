"""Explanations as one page that needs nothing else: for an applicant, or for an auditor."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from proce.errors import SearchError
from proce.explanation.html.markup import section, text
from proce.explanation.html.overview import made_sections, overview_sections
from proce.explanation.html.report_css import CSS
from proce.explanation.html.row import row_sections
from proce.explanation.result.explanation import Explanation
from proce.explanation.result.explanations import Explanations
from proce.explanation.words.cells import cells_of
from proce.explanation.words.values import class_text
from proce.files import require_place, write_text

TITLE = "What would have changed the decision"
_PICTURED = 5  # rows whose front and graph are drawn: each takes a moment and some room


def save_html(
    result: Explanations | Explanation,
    path: str | PathLike[str],
    *,
    title: str | None = None,
    at_most: int = 20,
    by: str | Sequence[Any] | None = None,
) -> Path:
    """Write the report of explanations, or of one; see :meth:`Explanations.save_html`."""
    place = Path(path)
    require_place(place, "path")
    write_text(place, to_page(result, title=title, at_most=at_most, by=by))
    return place


def to_page(
    result: Explanations | Explanation,
    *,
    title: str | None = None,
    at_most: int = 20,
    by: str | Sequence[Any] | None = None,
) -> str:
    """Return the report as the text of a page."""
    if at_most < 0:
        raise SearchError(f"at_most is {at_most!r}; expected a whole number from 0 on.")
    title = title or TITLE
    items = (result,) if isinstance(result, Explanation) else result.items
    shown = items[:at_most]
    parts = []
    if isinstance(result, Explanations) and (len(items) != 1 or by is not None):
        parts.append(overview_sections(result, len(shown), by))
    layout = result.layout if isinstance(result, Explanations) else None
    for place, (item, ranked) in enumerate(zip(shown, cells_of(shown), strict=True)):
        inside = row_sections(item, ranked, pictures=place < _PICTURED)
        heading = f"<h2>{text(row_title(item, layout))}</h2>"
        look = ' class="after"' if parts else ""
        parts.append(f'<article id="row-{item.row}"{look}>{heading}{inside}</article>')
    parts.append(section("How this was made", made_sections(result), level=2))
    return _page(title, "".join(parts))


def row_title(item: Explanation, layout: Any) -> str:
    """Return the heading of a row: its place, its label, and what happened."""
    classes = item.context.classes
    now, then = (class_text(classes[at]) for at in (item.predicted, item.target))
    index = None if layout is None else layout.take([item.row]).index
    label = "" if index is None or str(index[0]) == str(item.row) else f" ({index[0]})"
    ended = {"found": f"from {now} to {then}", "already_target": f"{now} already"}
    without = {"not_found": f"no way to {then} found", "out_of_time": "the time ran out"}
    told = ended.get(item.outcome.value) if len(item) else None
    told = told or (ended | without)[item.outcome.value]
    return f"Row {item.row}{label}: {told}"


def _page(title: str, inside: str) -> str:
    name = text(title)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\';'
        " style-src 'unsafe-inline'; img-src data:\">\n"
        f"<title>{name}</title>\n<style>\n{CSS}\n</style>\n</head>\n<body>\n"
        f"<header><h1>{name}</h1></header>\n<main>\n{inside}\n</main>\n</body>\n</html>\n"
    )
