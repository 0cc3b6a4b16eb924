"""The overview of a report: how all rows ended, what changes in them, and what it costs whom."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from proce.explanation.html.blocks import Column, Exhibit, Figure, Table
from proce.explanation.html.labels import OUTCOME_WORDS, row_anchor
from proce.explanation.html.svg import PICTURE_WIDTH, picture
from proce.explanation.plots.cohort import gap_text, plot_cohort, plot_groups
from proce.explanation.record.frame import ExplainedFrame
from proce.explanation.record.outcome import Change
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.tables.cohort import change_text, n_found, tallies
from proce.explanation.tables.groups import groups_of
from proce.explanation.words.certainty import is_unsure
from proce.explanation.words.sentences import Line
from proce.explanation.words.values import (
    class_texts,
    joined,
    name_text,
    percent,
    percents,
    share_text,
)
from proce.schema import Action

_MAX_LISTED_ROWS = 500
_MAX_DRAWN_LINES = 12  # the plots draw no more features or groups than this
_KIND_TEXTS = {
    Change.ACTION: "to do",
    Change.HOLD: "to keep",
    Change.CONSEQUENCE: "follows",
}


@dataclass(frozen=True, slots=True)
class Overview:
    """What a report says about all rows together.

    Attributes
    ----------
    summary
        How many rows there are, how they ended, and how many have an article of their own.
    changes
        Which features change how often and by how much; ``None`` where nothing was found.
    groups
        What the recommended ways cost by group; ``None`` where no groups are compared.
    rows
        The list of rows, with links to their articles.
    n_unlisted
        How many rows the list leaves out.
    common
        What is the same for all rows, said once.
    """

    summary: str
    changes: Exhibit | None
    groups: Exhibit | None
    rows: Table
    n_unlisted: int
    common: Sequence[str]


def overview_of(
    explanations: ExplainedFrame,
    n_articles: int,
    by: str | Sequence[Any] | None,
    common: Sequence[Line] = (),
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
        changes=_changes(explanations),
        groups=None if by is None else _groups(explanations, by),
        rows=_row_list(explanations, n_articles),
        n_unlisted=max(0, len(explanations) - _MAX_LISTED_ROWS),
        common=[line.text for line in common],
    )


def _summary(explanations: ExplainedFrame, n_articles: int) -> str:
    counts = explanations.rows.outcome_counts()
    parts = [f"{count:,} {OUTCOME_WORDS[outcome]}" for outcome, count in counts.most_common()]
    summary = f"{len(explanations):,} rows: {joined(parts) or 'none'}."
    if n_articles < len(explanations):
        summary += f" The first {n_articles:,} of them are told in full below."
    return summary


def _changes(explanations: ExplainedFrame) -> Exhibit | None:
    rows = [
        (
            name_text(tally.feature),
            "by waiting" if tally.feature.action is Action.WAITS else _KIND_TEXTS[tally.kind],
            f"{tally.count:,}",
            share_text(tally.share),
            change_text(explanations, tally) or "–",
        )
        for tally in tallies(explanations)
    ]
    if not rows:
        return None
    caption = f"What changes in the recommended ways of {n_found(explanations):,} rows"
    columns = (
        Column("feature"),
        Column("what it is"),
        Column("rows", numeric=True),
        Column("share", numeric=True),
        Column("median, or most frequent", numeric=True),
    )
    n_features = len({row[0] for row in rows})
    svg = picture(
        lambda ax: plot_cohort(explanations, ax),
        (PICTURE_WIDTH, 1.1 + 0.36 * min(_MAX_DRAWN_LINES, n_features)),
        f"{caption}. The same numbers are in the table below.",
        "cohort",
    )
    return Exhibit(Figure(svg, f"{caption}."), Table(caption, columns, rows))


def _groups(explanations: ExplainedFrame, by: str | Sequence[Any]) -> Exhibit:
    groups = groups_of(explanations, by)
    rows = [
        (
            group.name,
            f"{group.n_rows:,}",
            f"{len(group.costs):,}",
            "–" if group.mean is None else f"{group.mean:.3f}",
            gap_text(group),
        )
        for group in groups
    ]
    caption = "Cost by group: the distance of the recommended way from the row as it is"
    columns = (
        Column("group"),
        Column("rows", numeric=True),
        Column("found", numeric=True),
        Column("mean cost", numeric=True),
        Column("gap to the others (95% interval)", numeric=True),
    )
    svg = picture(
        lambda ax: plot_groups(explanations, by, ax),
        (PICTURE_WIDTH, 1.3 + 0.62 * min(_MAX_DRAWN_LINES, len(groups))),
        f"{caption}. The same numbers are in the table below.",
        "groups",
    )
    return Exhibit(Figure(svg, f"{caption}."), Table(caption, columns, rows))


def _row_list(explanations: ExplainedFrame, n_articles: int) -> Table:
    columns = (
        Column("row", numeric=True),
        Column("the model says"),
        Column("asked for"),
        Column("how it ended"),
        Column("probability of what was asked for", numeric=True),
    )
    listed = list(explanations.rows.head(_MAX_LISTED_ROWS))
    return Table(
        "Every row, and how it ended",
        columns,
        [(str(item.row), *class_texts(item), _ending(item), _chance(item)) for item in listed],
        anchors=[row_anchor(item) for item in listed[:n_articles]],
    )


def _chance(explanation: ExplainedRow) -> str:
    """Return the probability of the target, before and after where there is a counterfactual."""
    if not len(explanation):
        return percent(explanation.probability)
    after, before = percents(explanation.probabilities[0].item(), explanation.probability)
    return f"{before} → {after}"


def _ending(item: ExplainedRow) -> str:
    """Return how the search of a row ended, and whether what it found is unsure."""
    unsure = ", but unsure" if len(item) and is_unsure(item) else ""
    return f"{OUTCOME_WORDS[item.outcome]}{unsure}"
