"""The overview of a report: how all rows ended, what changes in them, and what it costs whom."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from proce.explanation.html.blocks import Bar, Column, Table
from proce.explanation.html.labels import OUTCOME_WORDS, row_anchor, row_label
from proce.explanation.plots.cohort import gap_text
from proce.explanation.record.outcome import UNKNOWN_CLASS, Change
from proce.explanation.record.rows import ExplainedFrame, ExplainedRow
from proce.explanation.tables.cohort import change_text, n_found, tallies
from proce.explanation.tables.groups import groups_of
from proce.explanation.words.cells import ChangedCell, ranked_cells
from proce.explanation.words.certainty import is_unsure
from proce.explanation.words.chances import now_text, then_and_now
from proce.explanation.words.values import (
    class_texts,
    joined,
    name_text,
    share_text,
)
from proce.schema import Action
from proce.schema.features.numerals import counted

_MAX_LISTED_ROWS = 500
_MAX_NAMES = 3  # features in the list of rows
_KIND_TEXTS = {
    Change.ACTION: "to do",
    Change.HOLD: "to keep",
    Change.CONSEQUENCE: "follows",
}


@dataclass(frozen=True, slots=True)
class Ending:
    """How some of the rows ended.

    Attributes
    ----------
    kind
        The outcome, as a word for the style sheet.
    text
        How many rows, and how they ended.
    start, share
        Where their part of the bar begins and how long it is, from 0 to 1.
    """

    kind: str
    text: str
    start: float
    share: float


@dataclass(frozen=True, slots=True)
class Overview:
    """What a report says about all rows together.

    Attributes
    ----------
    summary
        How many rows there are, and how many have an article of their own.
    endings
        How they ended, the most frequent first.
    changes
        Which features change how often and by how much; ``None`` where nothing was found.
    groups
        What the recommended ways cost by group; ``None`` where no groups are compared.
    rows
        The list of rows, with links to their articles.
    unlisted
        How many rows the list leaves out; empty where it has all.
    common
        What is the same for all rows, said once.
    """

    summary: str
    endings: Sequence[Ending]
    changes: Table | None
    groups: Table | None
    rows: Table
    unlisted: str
    common: Sequence[str]


def overview_of(
    explanations: ExplainedFrame,
    n_articles: int,
    by: str | Sequence[Any] | None,
    common: Sequence[str] = (),
) -> Overview:
    """Return the overview of a report.

    Parameters
    ----------
    explanations
        The explanations of all rows.
    n_articles
        How many of the first rows have an article of their own in the page.
    by
        A feature, or a label for each row, whose groups' costs are compared; ``None`` for none.
    common
        The sentences that are the same for all rows.
    """
    return Overview(
        summary=_summary(explanations, n_articles),
        endings=_endings(explanations),
        changes=_changes(explanations),
        groups=None if by is None else _groups(explanations, by),
        rows=_row_list(explanations, n_articles),
        unlisted=_unlisted(len(explanations) - _MAX_LISTED_ROWS),
        common=common,
    )


def _summary(explanations: ExplainedFrame, n_articles: int) -> str:
    n_rows = len(explanations)
    summary = counted(n_rows, "row")
    if n_articles < n_rows:
        summary += f", of which the first {n_articles:,} are told in full below"
    return f"{summary}."


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
            "by waiting" if tally.feature.action is Action.WAITS else _KIND_TEXTS[tally.kind],
            f"{tally.count:,}",
            Bar(0.0, tally.share, share_text(tally.share)),
            change_text(explanations, tally) or "–",
        )
        for tally in tallies(explanations)
    ]
    if not rows:
        return None
    columns = (
        Column("feature"),
        Column("what it is"),
        Column("rows", numeric=True),
        Column("share", numeric=True),
        Column("median, or most frequent", numeric=True),
    )
    caption = f"In the recommended ways of {counted(n_found(explanations), 'row')}"
    return Table(caption, columns, rows)


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
    listed = list(explanations.rows.head(_MAX_LISTED_ROWS))
    wanted = dict.fromkeys(class_texts(item)[1] for item in listed)
    asked = next(iter(wanted)) if len(wanted) == 1 else "what was asked for"
    told = ranked_cells(explanations.rows.head(_MAX_LISTED_ROWS))
    rows: list[Sequence[str | Bar]] = []
    for item, cells in zip(listed, told, strict=True):
        predicted, target = class_texts(item)
        rows.append(
            (
                row_label(item, explanations.layout),
                predicted,
                *([target] if len(wanted) > 1 else []),
                _ending(item),
                _names(cells[0] if cells else ()),
                _chance(item),
            )
        )
    columns = (
        Column("row"),
        Column("the model says"),
        *([Column("asked for")] if len(wanted) > 1 else []),
        Column("how it ended"),
        Column("by changing"),
        Column(f"probability of {asked}", numeric=True),
    )
    anchors = [row_anchor(item) for item in listed[:n_articles]]
    caption = f"How the search for {asked} ended" if len(wanted) == 1 else "How each row ended"
    return Table(caption, columns, rows, anchors)


def _unlisted(n_rows: int) -> str:
    """Return how many rows the list leaves out; empty where it leaves out none."""
    if n_rows <= 0:
        return ""
    return f"{counted(n_rows, 'more row')} {'is' if n_rows == 1 else 'are'} not listed."


def _names(cells: Sequence[ChangedCell]) -> str:
    """Return what is acted on in the recommended way of a row."""
    names = [name_text(cell.feature) for cell in cells if cell.kind is Change.ACTION]
    return joined(names, _MAX_NAMES) or "–"


def _chance(item: ExplainedRow) -> str | Bar:
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
