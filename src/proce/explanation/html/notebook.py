"""Explanations in a notebook: a table with the changes marked, without scripts.

A change is told by weight, arrow and word, never by colour alone; colours are those of the
page, light or dark.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

from proce.explanation.record.context import Context
from proce.explanation.result.explanation import Change, Explanation, Outcome
from proce.explanation.result.explanations import Explanations
from proce.explanation.words.cells import Cell, cells_of
from proce.explanation.words.sentences import lines
from proce.explanation.words.values import cell_texts, class_text, percents, value_text

MOST_ROWS = 20
_MOST_FEATURES = 12  # beyond, only those that change are shown
_LINE = "1px solid rgba(128,128,128,.3)"
_CELL = f"padding:.25em .6em;border:0;border-bottom:{_LINE};vertical-align:top;text-align:left"
_SMALL = "font-size:.9em"
_MARKS = {
    Change.ACTION: "background:rgba(66,133,244,.16)",
    Change.HOLD: "background:rgba(66,133,244,.16)",
    Change.CONSEQUENCE: "background:rgba(128,128,128,.14)",
}
OUTCOME_WORDS = {
    Outcome.FOUND: "found",
    Outcome.NOT_FOUND: "not found",
    Outcome.ALREADY_TARGET: "already there",
    Outcome.OUT_OF_TIME: "out of time",
}
_LEGEND = (
    "<b>2 → 3</b> to do &nbsp;·&nbsp; <b>= 2</b> to keep, although it would change &nbsp;·&nbsp;"
    " <i>2 ⇢ 3</i> expected to follow"
)


def to_html(result: Explanations) -> str:
    """Return a table of the recommended counterfactuals; alternatives are folded away."""
    if len(result) == 1:
        return _page(_story(result[0]), result.items, result.layout)
    counts = {outcome: sum(item.outcome is outcome for item in result) for outcome in Outcome}
    summary = ", ".join(f"{count} {OUTCOME_WORDS[each]}" for each, count in counts.items() if count)
    return _page(_p(f"{len(result)} rows: {summary or 'none'}."), result.items, result.layout)


def explanation_html(explanation: Explanation) -> str:
    """Return one explanation: its sentences, then the table."""
    return _page(_story(explanation), (explanation,), None)


def _story(explanation: Explanation) -> str:
    """Return the sentences, the actions bold and the consequences indented."""
    styles = {"action": "font-weight:600", "consequence": "margin-left:1.5em"}
    return "".join(_p(escape(each.text), styles.get(each.kind, "")) for each in lines(explanation))


def _p(content: str, style: str = "") -> str:
    return f"<p style='margin:.3em 0;{style}'>{content}</p>"


def _page(opening: str, items: Sequence[Explanation], layout: Any) -> str:
    shown = items[:MOST_ROWS]
    if not shown:
        return opening
    ranked = cells_of(shown)
    features = _features(shown[0].context, ranked)
    first = [(item, 1, cells[:1]) for item, cells in zip(shown, ranked, strict=True)]
    others = [
        (item, rank, [cells])
        for item, each in zip(shown, ranked, strict=True)
        for rank, cells in enumerate(each[1:], 2)
    ]
    parts = [opening, _table(first, features, layout)]
    if any(ranked):
        parts.append(_p(_LEGEND, _SMALL))
    if others:
        parts.append(
            f"<details><summary>{len(others)} alternative{'s' * (len(others) > 1)}</summary>"
            f"{_table(others, features, layout)}</details>"
        )
    parts += [_p(each, _SMALL) for each in _left_out(items, features)]
    return f"<div style='font-variant-numeric:tabular-nums'>{''.join(parts)}</div>"


def _left_out(items: Sequence[Explanation], features: Sequence[int]) -> list[str]:
    rows = len(items) - MOST_ROWS
    columns = len(items[0].context.codec.schema) - len(features)
    notes = []
    if rows > 0:
        some = f"{rows} more row{'s' * (rows > 1)}"
        notes.append(f"{some} not shown here: to_frame() and outcomes() have all of them.")
    if columns:
        notes.append(f"{columns} feature{'s' * (columns > 1)} without changes here left out.")
    return notes


def _features(context: Context, ranked: Sequence[Sequence[Sequence[Cell]]]) -> list[int]:
    """Return the positions of the features shown: first those that the recommended ways change,
    then those of the alternatives, then, unless they are many, all others.
    """
    best = {cell.position for each in ranked for cells in each[:1] for cell in cells}
    changed = {cell.position for each in ranked for cells in each for cell in cells}
    every = range(len(context.codec.schema))
    others = [at for at in every if at not in changed] if len(every) <= _MOST_FEATURES else []
    return sorted(best) + sorted(changed - best) + others


def _table(
    ways: Sequence[tuple[Explanation, int, Sequence[Sequence[Cell]]]],
    features: Sequence[int],
    layout: Any,
) -> str:
    schema = ways[0][0].context.codec.schema
    titles = ["row", "way", "the model says", *(schema.names[at] for at in features)]
    head = "".join(f"<th style='{_CELL};font-weight:600'>{escape(title)}</th>" for title in titles)
    body = "".join(_line(item, rank, cells, features, layout) for item, rank, cells in ways)
    return (
        "<div style='overflow-x:auto'><table style='border-collapse:collapse;"
        f"font-size:inherit;color:inherit'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _line(
    item: Explanation,
    rank: int,
    ranked: Sequence[Sequence[Cell]],
    features: Sequence[int],
    layout: Any,
) -> str:
    label = _label(item, layout)
    if not ranked:
        why = escape(lines(item)[0].text)
        cells = [label, "–", _says(item, None)]
        plain = "".join(_td(each) for each in cells)
        return f"<tr>{plain}<td style='{_CELL}' colspan='{max(1, len(features))}'>{why}</td></tr>"
    marked = {cell.position: cell for cell in ranked[0]}
    texts = [label, str(rank), _says(item, rank)]
    plain = "".join(_td(each) for each in texts)
    values = "".join(_value(item, at, marked.get(at)) for at in features)
    return f"<tr>{plain}{values}</tr>"


def _label(item: Explanation, layout: Any) -> str:
    """Return the position, and the index label of pandas where it is another."""
    index = None if layout is None else layout.take([item.row]).index
    if index is None or str(index[0]) == str(item.row):
        return str(item.row)
    return f"{item.row} ({escape(str(index[0]))})"


def _says(item: Explanation, rank: int | None) -> str:
    classes = item.context.classes
    now, then = (escape(class_text(classes[at])) for at in (item.predicted, item.target))
    if rank is None:
        return now
    new, old = percents(item.probabilities[rank - 1].item(), item.probability)
    return f"{now} → <b>{then}</b><br><small>{then}: {old} → {new}</small>"


def _value(item: Explanation, at: int, cell: Cell | None) -> str:
    span = item.context.codec.span[at].item()
    if cell is None:
        feature = item.context.codec.schema.features[at]
        text = escape(_bare(value_text(feature, item.raw[at].item(), span)))
        return _td(f"<span style='opacity:.65'>{text}</span>")
    before, after = (escape(_bare(text)) for text in cell_texts(cell, span))
    text = {
        Change.ACTION: f"<b>{before} → {after}</b>",
        Change.HOLD: f"<b>= {before}</b>",
        Change.CONSEQUENCE: f"<i>{before} ⇢ {after}</i>",
    }[cell.kind]
    return _td(text, _MARKS[cell.kind])


def _bare(text: str) -> str:
    """Return a level without its quotes: a cell of a table needs none."""
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] == '"' else text


def _td(content: str, style: str = "") -> str:
    return f"<td style='{_CELL};white-space:nowrap;{style}'>{content}</td>"
