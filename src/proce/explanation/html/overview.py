"""The overview of a report: how all rows ended, what changes in them, and what it costs whom."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from proce.explanation.html.blocks import Bar, Column, Table
from proce.explanation.plots.cohort import gap_text
from proce.explanation.record.counterfactuals import UNKNOWN_CLASS, Change
from proce.explanation.record.rows import ExplainedFrame, ExplainedRow
from proce.explanation.tables.cohort import change_text, groups_of, n_found, tallies
from proce.explanation.words.cells import ChangedCell, recommended_cells
from proce.explanation.words.certainty import is_unsure
from proce.explanation.words.decision import OUTCOME_WORDS, now_text, then_and_now
from proce.explanation.words.values import class_texts, joined, name_text, row_label, share_text
from proce.schema.features.numerals import counted

_MAX_LISTED_ROWS = 500
_MAX_NAMES = 3  # features in the list of rows
_KIND_TEXTS = {
    "action": "to do",
    "wait": "by waiting",
    "hold": "to keep",
    "consequence": "follows",
}


@dataclass(frozen=True, slots=True)
class Ending:
    """How some of the rows ended, as a part of a bar from 0 to 1."""

    kind: str  # the outcome, as a word for the style sheet
    text: str
    start: float
    share: float


@dataclass(frozen=True, slots=True)
class Overview:
    """What a report says about all rows together."""

    summary: str
    endings: Sequence[Ending]  # the most frequent first
    changes: Table | None  # None where nothing was found
    groups: Table | None  # None where no groups are compared
    rows: Table
    unlisted: str  # how many rows the list leaves out
    common: Sequence[str]  # the sentences that are the same for all rows


def row_anchor(row: ExplainedRow) -> str:
    """Return the id of a row's article in the page."""
    return f"row-{row.row}"


def overview_of(
    explanations: ExplainedFrame,
    n_articles: int,
    by: str | Sequence[Any] | None,
    common: Sequence[str] = (),
) -> Overview:
    """Return the overview of a report whose first so many rows have an article of their own."""
    return Overview(
        summary=_summary(len(explanations), n_articles),
        endings=_endings(explanations),
        changes=_changes(explanations),
        groups=None if by is None else _groups(explanations, by),
        rows=_row_list(explanations, n_articles),
        unlisted=_unlisted(len(explanations) - _MAX_LISTED_ROWS),
        common=common,
    )


def _summary(n_rows: int, n_articles: int) -> str:
    rest = f", of which the first {n_articles:,} are told in full below"
    return f"{counted(n_rows, 'row')}{rest if n_articles < n_rows else ''}."


def _endings(explanations: ExplainedFrame) -> list[Ending]:
    endings, start = [], 0.0
    for outcome, count in explanations.rows.outcome_counts().most_common():
        share = count / len(explanations)
        text = f"{count:,} {OUTCOME_WORDS[outcome]}"
        endings.append(Ending(outcome.value.replace("_", "-"), text, start, share))
        start += share
    return endings


def _changes(explanations: ExplainedFrame) -> Table | None:
    rows = [
        (
            name_text(tally.feature),
            _KIND_TEXTS[tally.mark],
            f"{tally.count:,}",
            Bar(0.0, tally.share, share_text(tally.share)),
            change_text(explanations, tally) or "–",
        )
        for tally in tallies(explanations)
    ]
    columns = (
        Column("feature"),
        Column("what it is"),
        Column("rows", numeric=True),
        Column("share", numeric=True),
        Column("median, or most frequent", numeric=True),
    )
    caption = f"In the recommended ways of {counted(n_found(explanations), 'row')}"
    return Table(caption, columns, rows) if rows else None


def _groups(explanations: ExplainedFrame, by: str | Sequence[Any]) -> Table:
    groups = groups_of(explanations, by)
    largest = max((group.mean or 0.0 for group in groups), default=0.0) or 1.0
    rows = [
        (
            group.name,
            f"{group.n_rows:,}",
            f"{len(group.costs):,}",
            "–" if group.mean is None else Bar(0.0, group.mean / largest, f"{group.mean:.3f}"),
            gap_text(group),
        )
        for group in groups
    ]
    columns = (
        Column("group"),
        Column("rows", numeric=True),
        Column("found", numeric=True),
        Column("mean cost", numeric=True),
        Column("gap to the others (95% interval)", numeric=True),
    )
    return Table("The distance of the recommended way from the row as it is", columns, rows)


def _row_list(explanations: ExplainedFrame, n_articles: int) -> Table:
    """Return the list of rows; what was asked for is a column where it differs."""
    head = explanations.rows.head(_MAX_LISTED_ROWS)
    listed = list(head)
    wanted = dict.fromkeys(class_texts(item)[1] for item in listed)
    is_shared = len(wanted) == 1
    asked = next(iter(wanted)) if is_shared else "what was asked for"
    rows: list[Sequence[str | Bar]] = []
    for item, cells in zip(listed, recommended_cells(head), strict=True):
        predicted, target = class_texts(item)
        label = row_label(item, explanations.layout)
        own = [] if is_shared else [target]
        rows.append((label, predicted, *own, _ending(item), _names(cells), _probability(item)))
    columns = (
        Column("row"),
        Column("the model says"),
        *([Column("asked for")] if len(wanted) > 1 else []),
        Column("how it ended"),
        Column("by changing"),
        Column(f"probability of {asked}", numeric=True),
    )
    anchors = [row_anchor(item) for item in listed[:n_articles]]
    caption = f"How the search for {asked} ended" if is_shared else "How each row ended"
    return Table(caption, columns, rows, anchors)


def _unlisted(n_rows: int) -> str:
    """Return how many rows the list leaves out; empty where it leaves out none."""
    verb = "is" if n_rows == 1 else "are"
    return f"{counted(n_rows, 'more row')} {verb} not listed." if n_rows > 0 else ""


def _names(cells: Sequence[ChangedCell]) -> str:
    """Return what is acted on in the recommended way of a row."""
    names = [name_text(cell.feature) for cell in cells if cell.kind is Change.ACTION]
    return joined(names, _MAX_NAMES) or "–"


def _probability(item: ExplainedRow) -> str | Bar:
    """Return the probability of the target, before and after where there is a counterfactual."""
    if math.isnan(item.probability) or item.target == UNKNOWN_CLASS:
        return now_text(item)
    if not len(item):
        return Bar(0.0, item.probability, now_text(item))
    then, now = then_and_now(item)
    return Bar(item.probability, item.probabilities[0].item(), f"{now} → {then}")


def _ending(item: ExplainedRow) -> str:
    """Return how the search of a row ended, and whether what it found is unsure."""
    unsure = ", but unsure" if len(item) and is_unsure(item) else ""
    return f"{OUTCOME_WORDS[item.outcome]}{unsure}"
