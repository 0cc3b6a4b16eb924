"""Every place where a result is told in words."""

import re
from collections.abc import Iterator
from html import unescape

from proce.explanation import Explanations
from proce.explanation.html.notebook import html_of_rows
from proce.explanation.html.report import page_of_rows
from proce.explanation.receipts import Answer
from proce.explanation.record.rows import ExplainedFrame
from proce.explanation.record.view import shown_row
from proce.explanation.tables.cohort import change_text, tallies
from proce.explanation.words.decision import decision_text
from proce.server.explainer_api.presenters.ways import ways_of


def sentences_of(result: Explanations) -> Iterator[tuple[str, str]]:
    """Yield texts that are whole sentences, each with where it stands."""
    for view in ("applicant", "auditor"):
        for row in result:
            shown = shown_row(row, view)
            yield "decision", decision_text(shown)
            for rank in range(1, max(2, len(row) + 1)):
                for text in row.sentences(rank, view):
                    yield "sentences", text
            yield from _of_cards(result, row.index, view)
    for reasons in result.reasons():
        for reason in reasons:
            yield "reason", reason.text
    for row in range(len(result)):
        *paragraphs, last = result.reasons().letter(row).strip().split("\n\n")
        for paragraph in (*paragraphs, last):
            if not paragraph.endswith(":"):
                yield "letter", re.sub(r"^\d\. ", "", paragraph)


def other_texts_of(result: Explanations, *, with_page: bool) -> Iterator[tuple[str, str]]:
    """Yield labels, tables, pages and what objects show of themselves."""
    for row in result:
        yield "str", str(row)
        yield "repr", repr(row)
        for rank, chance in enumerate(row.probabilities.tolist(), 1):
            yield "verdict", str(Answer(rank, "a", "b", row.probability, chance))
    yield "repr", repr(result)
    for text in _nodes(html_of_rows(result)):
        yield "notebook", text
    for tally in tallies(result):
        yield "median", change_text(result, tally)
    if with_page:
        for view in ("applicant", "auditor"):
            for text in _nodes(page_of_rows(result._shown(view), max_drawn=0)):
                yield "page", text


def _nodes(page: str) -> list[str]:
    """Return the texts between the tags of a page, without its style and its pictures' drawing."""
    told = re.sub(r"(?s)<(style|script|svg)\b.*?</\1>", "", page)
    texts = (" ".join(unescape(text).split()) for text in re.split(r"<[^>]+>", told))
    return [text for text in texts if text]


def _of_cards(result: Explanations, index: int, view: str) -> Iterator[tuple[str, str]]:
    shown: ExplainedFrame = result._shown(view)  # type: ignore[arg-type]
    card = ways_of(shown, list(shown)[index], {})
    yield "card", card["decision"]["sentence"]
    for way in card["ways"]:
        for change in way["changes"]:
            yield "card", change["sentence"]
        for line in way["lines"]:
            yield "card", line["text"]
