"""One row of the report: decided, to do, what follows, what was fixed, other ways, how sure."""

from collections.abc import Sequence

from proce.explanation.html.markup import figure, folded, listed, paragraph, section, table
from proce.explanation.html.svg import picture
from proce.explanation.plots.changes import plot_changes
from proce.explanation.plots.front import plot_front
from proce.explanation.plots.graph import plot_graph
from proce.explanation.result.explanation import Change, Explanation, Outcome
from proce.explanation.words.cells import Cell
from proce.explanation.words.sentences import (
    MOST_SHOWN,
    consequence,
    instruction,
    learned,
    refit_text,
    told,
)
from proce.explanation.words.values import (
    cell_texts,
    class_text,
    joined,
    name_text,
    percent,
    percents,
    value_text,
)
from proce.schema import Action

_MOST_WAYS = 3  # alternatives shown at once
_MOST_EDGES = 200
_WHO = {Action.FIXED: "fixed", Action.INDIRECT: "only follows"}
_WIDTH = 6.0  # inches of a picture
_LIMITS = {
    "vary": "what may vary, by this request",
    "max_changes": "the number of changes",
    "min_probability": "the probability asked for",
    "fixed": "held fixed by the schema",
    "indirect": "never acted on, by the schema",
    "increase": "may only rise, by the schema",
    "decrease": "may only fall, by the schema",
    "search": "a setting of the search",
}


def row_sections(item: Explanation, ranked: Sequence[Sequence[Cell]], pictures: bool) -> str:
    """Return everything about one row.

    Parameters
    ----------
    item
        The explanation.
    ranked
        The cells of its counterfactuals.
    pictures
        Whether the front and the graph are drawn too.
    """
    cells = ranked[0] if ranked else ()
    lines = told(item, cells)
    by_kind = {kind: [line.text for line in lines if line.kind == kind] for kind in _KINDS}
    parts = [section("What was decided", _decided(item))]
    if cells:
        parts += [
            section(
                "What to do", _to_do(item, cells) + "".join(map(paragraph, by_kind["contrast"]))
            ),
            section("What is expected to follow", _follows(item, cells)),
            section("Before and after", _before_and_after(item, cells)),
        ]
    else:
        parts.append(section("What was found", _without(item, by_kind["outcome"])))
    caution = "".join(paragraph(each, "caution") for each in by_kind["caution"])
    parts += [
        caution,
        section("What was kept fixed", listed(by_kind["fixed"])),
        section("Other ways", _other_ways(item, ranked)),
        section("Near or likely: the trade-off", _front(item) if pictures and cells else ""),
        section("What causes what", _graph(item, pictures)),
        section("How sure this is", listed(_certainty(item, by_kind["certainty"]))),
        section("To know", listed(by_kind["note"])),
    ]
    return "".join(parts)


_KINDS = ("outcome", "contrast", "certainty", "fixed", "note", "caution")


def _decided(item: Explanation) -> str:
    classes = item.context.classes
    now, then = (class_text(classes[at]) for at in (item.predicted, item.target))
    words = f"The model says {now}; the probability of {then} is {percent(item.probability)}."
    if item.outcome is not Outcome.ALREADY_TARGET:
        words += (
            f" Call: what would have had to be different for it to say {then}, with a probability"
            f" of at least {percent(item.needed)}."
        )
    codec = item.context.codec
    values = zip(codec.schema, item.raw.tolist(), codec.span.tolist(), strict=True)
    rows = [
        (name_text(each.name), value_text(each, value, span), _WHO.get(each.action, "may change"))
        for each, value, span in values
    ]
    row = table(
        "Every value, and what the schema lets a person do",
        ("feature", "value", "by the schema"),
        rows,
        " n ",
    )
    return paragraph(words, "lead") + folded("The row as the model saw it", row)


def _to_do(item: Explanation, cells: Sequence[Cell]) -> str:
    acts = [each for each in cells if each.kind in (Change.ACTION, Change.HOLD)]
    words = [instruction(cell, item.context) for cell in acts]
    shown = listed(words[:MOST_SHOWN], "actions", ordered=True)
    rest = words[MOST_SHOWN:]
    if rest:
        more = f"{len(rest)} smaller change{'s' * (len(rest) > 1)}, also needed"
        shown += folded(more, listed(rest))
    return shown


def _follows(item: Explanation, cells: Sequence[Cell]) -> str:
    follows = [consequence(c, item.context) for c in cells if c.kind is Change.CONSEQUENCE]
    if not follows:
        return ""
    shown = listed(follows[:MOST_SHOWN], "follows")
    rest = follows[MOST_SHOWN:]
    return shown + (folded(f"{len(rest)} more", listed(rest, "follows")) if rest else "")


def _before_and_after(item: Explanation, cells: Sequence[Cell]) -> str:
    rows = [
        [name_text(c.feature.name), *_texts(item, c), _KIND_TEXTS[c.kind], *_added(item, c)]
        for c in cells
    ]
    heads = ["feature", "before", "after", "what it is"]
    if item.contributions is not None:
        heads.append("adds to the probability")
    caption = "Where the row is among the training rows, and where it would be."
    height = 1.1 + 0.52 * min(len(cells), 12)
    drawn = picture(
        lambda ax: plot_changes(item, ax),
        (_WIDTH, height),
        f"{caption} The same values are in the table below.",
        f"changes-{item.row}",
    )
    named = table("Every change of the recommended way", heads, rows, " nn n")
    return figure(drawn, caption) + named


_KIND_TEXTS = {
    Change.ACTION: "to do",
    Change.HOLD: "to keep, although it would change",
    Change.CONSEQUENCE: "expected to follow",
}


def _texts(item: Explanation, cell: Cell) -> tuple[str, str]:
    return cell_texts(cell, item.context.codec.span[cell.position].item())


def _added(item: Explanation, cell: Cell) -> list[str]:
    """Return what an action adds, as a column of its own where that is known."""
    if item.contributions is None:
        return []
    points = 100 * item.contributions[0, cell.position].item()
    return [f"{points:+.0f} points".replace("-", "−") if cell.kind is Change.ACTION else ""]


def _without(item: Explanation, outcome: Sequence[str]) -> str:
    parts = [paragraph(each, "lead") for each in outcome]
    diagnosis = item.diagnosis
    if diagnosis is None:
        return "".join(parts)
    blocks = [
        (
            _LIMITS.get(b.kind, b.kind),
            b.name if b.kind == "rule" else name_text(b.name),
            b.relaxation,
        )
        for b in diagnosis.blockers
    ]
    if blocks:
        heads = ("limit", "of", "there is a way")
        parts.append(table("What stands in the way, the smallest step first", heads, blocks))
    if diagnosis.closest_miss:
        values = [
            (name_text(name), _plain(value)) for name, value in diagnosis.closest_miss.items()
        ]
        miss = table("The candidate that came nearest", ("feature", "value"), values, " n")
        parts.append(folded("The candidate that came nearest", miss))
    return "".join(parts)


def _plain(value: object) -> str:
    if value is None:
        return "missing"
    return f"{value:,.6g}" if isinstance(value, int | float) and value is not True else str(value)


def _other_ways(item: Explanation, ranked: Sequence[Sequence[Cell]]) -> str:
    ways = [_way(item, rank, cells) for rank, cells in enumerate(ranked[1:], 2)]
    rest = ways[_MOST_WAYS:]
    more = folded(f"{len(rest)} more", "".join(rest)) if rest else ""
    return "".join(ways[:_MOST_WAYS]) + more


def _way(item: Explanation, rank: int, cells: Sequence[Cell]) -> str:
    acts = [instruction(c, item.context) for c in cells if c.kind is not Change.CONSEQUENCE]
    follows = [
        f"{name_text(c.feature.name)} {' → '.join(_texts(item, c))}"
        for c in cells
        if c.kind is Change.CONSEQUENCE
    ]
    chance = percent(item.probabilities[rank - 1].item())
    target = class_text(item.context.classes[item.target])
    near = (
        f"{item.losses[rank - 1, 2].item():.2f}, where the first has {item.losses[0, 2].item():.2f}"
    )
    inside = listed(acts)
    if follows:
        inside += paragraph(f"Expected to follow: {joined(follows, MOST_SHOWN)}.", "follows")
    inside += paragraph(f"Distance {near}.", "small")
    return section(f"Way {rank}: {target} with {chance}", inside, level=4)


def _front(item: Explanation) -> str:
    caption = (
        "Each dot is a way that was found; none is better than another in everything. Further left"
        " is nearer to the row as it is, further up is likelier. Ways with a number are told here."
    )
    label = f"{caption} There are {len(item.front or item)} of them."
    drawn = picture(lambda ax: plot_front(item, ax), (_WIDTH, 3.6), label, f"front-{item.row}")
    return figure(drawn, caption)


def _graph(item: Explanation, pictures: bool) -> str:
    context = item.context
    if not context.edges:
        return paragraph("No causal graph was used: what else would change is left out.")
    source = "It was given by a person."
    if learned(context):
        source = f"It was learned from data ({context.origin}) and may be wrong."
    elif context.origin is None:
        source = "Where it came from is not recorded."
    words = f"The causal graph has {len(context.edges)} arrows from cause to effect. {source}"
    effects: dict[str, list[str]] = {}
    for cause, effect in context.edges[:_MOST_EDGES]:
        effects.setdefault(name_text(cause), []).append(name_text(effect))
    arrows = [f"{cause} affects {joined(each)}." for cause, each in effects.items()]
    drawn = ""
    if pictures:
        caption = "Arrows lead from cause to effect; along thick ones something follows."
        svg = picture(
            lambda ax: plot_graph(item, ax),
            (_WIDTH, 4.2),
            f"{caption} The arrows are listed below.",
            f"graph-{item.row}",
        )
        drawn = figure(svg, caption)
    more = len(context.edges) - _MOST_EDGES
    if more > 0:
        arrows.append(f"And {more} more arrows.")
    return paragraph(words) + drawn + folded("All arrows", listed(arrows))


def _certainty(item: Explanation, assumed: Sequence[str]) -> list[str]:
    if not len(item):
        return list(assumed)
    told = list(assumed)
    reached, needed = percents(item.probabilities[0].item(), item.needed)
    if item.margin_met:
        told.insert(0, f"The probability is {reached}, where {needed} was asked for.")
    if item.refits is not None and item.context.n_refits == int(item.refits[0]):
        told.append(refit_text(item))
    if item.refits is None and item.context.edges:
        told.append("The equations behind the consequences were not tried again on other rows.")
    told.append("The model was asked again about exactly the values shown here.")
    return told
