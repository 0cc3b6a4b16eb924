"""The report's beginning and end: all rows at a glance, and how it was made."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from proce.explanation.html.markup import Markup, figure, folded, paragraph, section, table, text
from proce.explanation.html.notebook import OUTCOME_WORDS
from proce.explanation.html.svg import picture
from proce.explanation.plots.cohort import gap_text, plot_cohort, plot_groups
from proce.explanation.result.explanation import Change, Explanation
from proce.explanation.result.explanations import Explanations
from proce.explanation.tables.cohort import change_text, n_found, tallies
from proce.explanation.tables.groups import groups_of
from proce.explanation.words.values import (
    class_text,
    joined,
    name_text,
    percent,
    percents,
    share_text,
)

_MOST_LISTED = 500  # rows in the list of all
_MOST_GROUPS = 12
_KIND_TEXTS = {
    Change.ACTION: "to do",
    Change.HOLD: "to keep",
    Change.CONSEQUENCE: "follows",
}


def overview_sections(result: Explanations, n_shown: int, by: str | Sequence[Any] | None) -> str:
    """Return what all rows have in common.

    Parameters
    ----------
    result
        The explanations.
    n_shown
        How many of them are told one by one.
    by
        What to compare the costs by, if anything.
    """
    counts = Counter(item.outcome for item in result)
    told = [f"{count:,} {OUTCOME_WORDS[each]}" for each, count in counts.most_common()]
    words = f"{len(result):,} rows: {joined(told) or 'none'}."
    if n_shown < len(result):
        words += f" The first {n_shown:,} of them are told in full below."
    parts = [paragraph(words, "lead"), _features(result)]
    if by is not None:
        parts.append(section("What it costs whom", _groups(result, by)))
    parts.append(section("Every row", _listed(result, n_shown)))
    return section("All rows", "".join(parts), level=2)


def made_sections(result: Explanations | Explanation) -> str:
    """Return settings and provenance."""
    if isinstance(result, Explanation):
        return paragraph(
            "Settings, versions and seed are kept with the whole result, not with a single row."
        )
    made = result.provenance
    graph = made.graph or "none"
    facts = {
        "method": made.method,
        "causal mode": made.mode,
        "causal graph": graph,
        "seed": str(made.seed),
        "training rows": f"{made.training_rows:,}",
        "their SHA-256": made.training_hash,
        "searched": f"{made.evaluations:,} candidates, in at most {made.generations:,} generations",
        "time": f"{made.elapsed_seconds:.1f} seconds",
    }
    return (
        _facts(facts)
        + section("What was asked", _facts(made.options))
        + folded("All settings", _facts(made.settings))
        + folded("Versions", _facts(made.versions))
        + paragraph(
            "Rows, settings and seed give the same result again with the same versions.", "small"
        )
    )


def _features(result: Explanations) -> str:
    lines = [
        (
            name_text(tally.feature.name),
            _KIND_TEXTS[tally.kind],
            f"{tally.count:,}",
            share_text(tally.share),
            change_text(result, tally) or "–",
        )
        for tally in tallies(result)
    ]
    if not lines:
        return ""
    caption = f"What changes in the recommended ways of {n_found(result):,} rows"
    heads = ("feature", "what it is", "rows", "share", "median, or most frequent")
    n_features = len({line[0] for line in lines})
    drawn = picture(
        lambda ax: plot_cohort(result, ax),
        (6.0, 1.1 + 0.36 * min(12, n_features)),
        f"{caption}. The same numbers are in the table below.",
        "cohort",
    )
    shown = figure(drawn, f"{caption}.") + table(caption, heads, lines, "  nnn")
    return section("What changes, how often and by how much", shown)


def _groups(result: Explanations, by: str | Sequence[Any]) -> str:
    groups = groups_of(result, by)
    lines = [
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
    heads = ("group", "rows", "found", "mean cost", "gap to the others (95% interval)")
    drawn = picture(
        lambda ax: plot_groups(result, by, ax),
        (6.0, 1.3 + 0.62 * min(_MOST_GROUPS, len(groups))),
        f"{caption}. The same numbers are in the table below.",
        "groups",
    )
    note = (
        "A row for which nothing was found has no cost: a group with fewer of them found may look"
        " cheaper than it is. A gap is a difference, not its cause."
    )
    return figure(drawn, f"{caption}.") + table(caption, heads, lines, " nnnn") + paragraph(note)


def _listed(result: Explanations, n_shown: int) -> str:
    classes = result.context.classes
    lines = []
    for place, item in enumerate(result.items[:_MOST_LISTED]):
        number = str(item.row)
        if place < n_shown:
            number = Markup(f'<a href="#row-{item.row}">{item.row}</a>')
        now, then = (class_text(classes[at]) for at in (item.predicted, item.target))
        chance = percent(item.probability)
        if len(item):
            new, old = percents(item.probabilities[0].item(), item.probability)
            chance = f"{old} → {new}"
        lines.append((number, now, then, OUTCOME_WORDS[item.outcome], chance))
    heads = (
        "row",
        "the model says",
        "asked for",
        "how it ended",
        "probability of what was asked for",
    )
    shown = table("Every row, and how it ended", heads, lines, "n   n")
    more = len(result) - len(lines)
    return shown + (paragraph(f"{more:,} more rows are not listed.") if more > 0 else "")


def _facts(facts: Mapping[str, Any]) -> str:
    """Return names and values, values in values as well."""
    pairs = "".join(
        f"<dt>{text(str(name).replace('_', ' '))}</dt><dd>{text(_value(value))}</dd>"
        for name, value in facts.items()
    )
    return f"<dl>{pairs}</dl>" if pairs else ""


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        inside = [f"{str(name).replace('_', ' ')} {_value(each)}" for name, each in value.items()]
        return ", ".join(inside) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(_value, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)
