"""Pictures of a row that templates draw: the decision as a gauge, each change on a strip."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from proce.explanation.plots.changes import (
    MIDDLE_HALF,
    NINE_TENTHS,
    bulk_of,
    place_on_range,
)
from proce.explanation.record.context import Context
from proce.explanation.record.counterfactuals import UNKNOWN_CLASS, Change
from proce.explanation.row_view import ChangeView, RowView
from proce.explanation.words.cells import ChangedCell, plain_value
from proce.explanation.words.decision import aim_text, is_more_aimed_for
from proce.explanation.words.values import percent, value_text
from proce.schema import Categorical, Continuous
from proce.schema.codec import scales_of

_LABEL_HEIGHT = 18  # pixels of a line of labels
_TRACK_HEIGHT = 30  # pixels that the track and its marks take
_OUTER_PART = 0.3  # of the track: labels this near to an end grow away from it
_OUTSIDE = 0.02  # how far beyond the line an outlier stands

Part = tuple[float, float]  # of a line: where it begins and where it ends


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark on the track, and its label on a line of its own: no two labels meet."""

    kind: str  # now, then, near (the closest candidate), or line for what decides or is aimed for
    place: float  # from 0 to 1
    text: str
    y: int  # where the label's middle is, in pixels from the top
    anchor: str  # which part of the label stands at the mark: start, middle or end


@dataclass(frozen=True, slots=True)
class Gauge:
    """The probability of the target on a track from 0% to 100%."""

    label: str
    marks: Sequence[Mark]
    start: float  # the part of the track that the recommended way covers
    end: float
    goal: float  # from where on the model decides so; 1 where no one probability decides
    y: int  # the track's middle, in pixels
    height: int


@dataclass(frozen=True, slots=True)
class Strip:
    """A change on the line of its feature, from 0 at the low end to 1 at the high end."""

    label: str
    kind: str  # action, hold or consequence
    now: float
    after: float  # of a hold, where the value would go by itself
    most: Part | None  # where nine of ten training rows lie
    half: Part | None  # where their middle half lies
    low: str
    high: str


def gauge_of(view: RowView) -> Gauge | None:
    """Return the decision of a row as a picture; ``None`` where no probability is known."""
    row = view.row
    if math.isnan(row.probability) or row.target == UNKNOWN_CLASS:
        return None
    above, lines = _above(view), _lines(view)
    y = _LABEL_HEIGHT * len(above) + _TRACK_HEIGHT // 2
    below = [("now", row.probability, f"now {view.now}"), *lines]
    under = y + _TRACK_HEIGHT // 2 + _LABEL_HEIGHT // 2
    leftwards = [all(row.probability < place for _, place, _ in lines), True, False]
    marks = [Mark(*mark, _LABEL_HEIGHT // 2, _middle(mark[1])) for mark in above]
    marks += [
        Mark(*mark, under + _LABEL_HEIGHT * nth, _side(mark[1], leftwards[nth]))
        for nth, mark in enumerate(below)
    ]
    ends = sorted([row.probability, above[0][1] if view.ways else row.probability])
    said = ", ".join(mark.text for mark in [*marks[len(above) :], *marks[: len(above)]])
    return Gauge(
        label=f"The probability of {view.target}: {said}",
        marks=marks,
        start=ends[0],
        end=ends[1],
        goal=min((place for _, place, _ in lines), default=1.0),
        y=y,
        height=y + _TRACK_HEIGHT // 2 + _LABEL_HEIGHT * len(below),
    )


def strip_of(change: ChangeView, context: Context) -> Strip | None:
    """Return a change as a picture; ``None`` for levels without an order."""
    cell = change.cell
    if isinstance(cell.feature, Categorical):
        return None
    holds = cell.kind is Change.HOLD and cell.expected == cell.expected  # not NaN
    after = cell.expected if holds else cell.after
    now = after if plain_value(cell.feature, cell.before) is None else cell.before
    low, high = _end_texts(cell, context)
    return Strip(
        label=f"{change.label} on its way from {change.before} to {change.after}",
        kind=change.mark,
        now=place_on_range(cell, context, now, _OUTSIDE),
        after=place_on_range(cell, context, after, _OUTSIDE),
        most=_band(cell, context, NINE_TENTHS),
        half=_band(cell, context, MIDDLE_HALF),
        low=low,
        high=high,
    )


def legend_of(strips: Collection[Strip]) -> str:
    """Return how to read the strips of a page; empty where there are none."""
    if not strips:
        return ""
    sentences = ["The lines under the sentences run from the low to the high end of the data."]
    if any(strip.most for strip in strips):
        sentences.append(
            "Nine of ten training rows lie in the thin band, the middle half in the thick one."
        )
    sentences.append("A hollow mark is the value now, a full one the value after.")
    if any(strip.kind == "hold" for strip in strips):
        sentences.append("A cross is where a value would go that is to be kept.")
    return " ".join(sentences)


def _middle(place: float) -> str:
    """Return how a label stands over its mark; near an end it grows away from it."""
    if place < _OUTER_PART:
        return "start"
    return "end" if place > 1 - _OUTER_PART else "middle"


def _side(place: float, leftwards: bool) -> str:
    """Return on which side of its mark a label stands, where there is room for it."""
    # What is now stands away from what decides, and that away from what is aimed for: the lines
    # down to the labels of the others do not cross it.
    if leftwards:
        return "end" if place >= _OUTER_PART else "start"
    return "start" if place <= 1 - _OUTER_PART else "end"


def _above(view: RowView) -> list[tuple[str, float, str]]:
    """Return where the recommended way leads, or how near the search came."""
    if view.recommended is not None:
        return [("then", view.recommended.probability, f"then {view.recommended.reached}")]
    known = None if view.diagnosis is None else view.diagnosis.diagnosis.probability
    probability = known or math.nan
    if math.isnan(probability) or percent(probability) == percent(view.row.probability):
        return []
    return [("near", probability, f"closest {percent(probability)}")]


def _lines(view: RowView) -> list[tuple[str, float, str]]:
    """Return from where on the model decides so, and what is aimed for where that is more."""
    row, lines = view.row, []
    if view.decides is not None:
        lines.append(("line", view.decides, f"{percent(view.decides)} decides"))
    if row.predicted != row.target and is_more_aimed_for(row):
        lines.append(("line", row.needed, aim_text(percent(row.needed))))
    return lines


def _end_texts(cell: ChangedCell, context: Context) -> list[str]:
    """Return the values at both ends of the line, of those that were seen."""
    if not isinstance(cell.feature, Continuous):
        return [value_text(cell.feature, rank) for rank in (0, len(cell.feature.levels) - 1)]
    scale = scales_of(context.codec)[cell.feature.name]
    return [value_text(cell.feature, float(end), scale.span) for end in scale.searched]


def _band(cell: ChangedCell, context: Context, n_outside: int) -> Part | None:
    """Return where the training rows lie, but some at either end; ``None`` for levels."""
    ends = bulk_of(cell, context, n_outside)
    if ends is None:
        return None
    first, last = (place_on_range(cell, context, end, 0.0) for end in ends)
    return first, last
