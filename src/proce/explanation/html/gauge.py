"""The decision as a picture: where the probability stood, what was needed, where it gets to."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from proce.explanation.record.outcome import UNKNOWN_CLASS
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.chances import decision_line, now_text, then_text
from proce.explanation.words.needs import aim_text, is_more_aimed_for
from proce.explanation.words.values import class_texts, percent, percents

_LABEL_HEIGHT = 18  # pixels of a line of labels
_TRACK_HEIGHT = 30  # pixels that the track and its marks take
_OUTER_PART = 0.3  # of the track: labels this near to an end grow away from it


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark on the track, and its label on a line of its own: no two labels meet.

    Attributes
    ----------
    kind
        ``now``, ``then``, ``near`` (the closest candidate), or ``line`` for what decides and what
        is aimed for.
    place
        Where it is, from 0 to 1.
    text
        Its label.
    y
        Where the label's middle is, in pixels from the top.
    anchor
        Which part of the label stands at the mark: ``start``, ``middle`` or ``end``.
    """

    kind: str
    place: float
    text: str
    y: int
    anchor: str


@dataclass(frozen=True, slots=True)
class Gauge:
    """The probability of the target on a track from 0% to 100%.

    Attributes
    ----------
    label
        The picture in words.
    marks
        What stands on the track.
    start, end
        The part of the track that the recommended way covers; empty where nothing was found.
    goal
        From where on the model decides so; 1 where that is not a matter of one probability.
    y, height
        Where the track's middle is, and how high the picture is, in pixels.
    """

    label: str
    marks: Sequence[Mark]
    start: float
    end: float
    goal: float
    y: int
    height: int


def gauge_of(row: ExplainedRow) -> Gauge | None:
    """Return the decision of a row as a picture; ``None`` where no probability is known."""
    if math.isnan(row.probability) or row.target == UNKNOWN_CLASS:
        return None
    above, lines = _above(row), _lines(row)
    y = _LABEL_HEIGHT * len(above) + _TRACK_HEIGHT // 2
    below = [("now", row.probability, f"now {now_text(row)}"), *lines]
    under = y + _TRACK_HEIGHT // 2 + _LABEL_HEIGHT // 2
    leftwards = [all(row.probability < place for _, place, _ in lines), True, False]
    marks = [Mark(*mark, _LABEL_HEIGHT // 2, _middle(mark[1])) for mark in above]
    marks += [
        Mark(*mark, under + _LABEL_HEIGHT * nth, _side(mark[1], leftwards[nth]))
        for nth, mark in enumerate(below)
    ]
    ends = sorted([row.probability, above[0][1] if len(row) else row.probability])
    said = ", ".join(mark.text for mark in [*marks[len(above) :], *marks[: len(above)]])
    return Gauge(
        label=f"The probability of {class_texts(row)[1]}: {said}",
        marks=marks,
        start=ends[0],
        end=ends[1],
        goal=min((place for _, place, _ in lines), default=1.0),
        y=y,
        height=y + _TRACK_HEIGHT // 2 + _LABEL_HEIGHT * len(below),
    )


def _middle(place: float) -> str:
    """Return how a label stands over its mark; near an end it grows away from it."""
    if place < _OUTER_PART:
        return "start"
    return "end" if place > 1 - _OUTER_PART else "middle"


def _side(place: float, leftwards: bool) -> str:
    """Return on which side of its mark a label stands, where there is room for it.

    What is now stands away from what decides, and that away from what is aimed for: the lines
    down to the labels of the others do not cross it.
    """
    if leftwards:
        return "end" if place >= _OUTER_PART else "start"
    return "start" if place <= 1 - _OUTER_PART else "end"


def _above(row: ExplainedRow) -> list[tuple[str, float, str]]:
    """Return where the recommended way leads, or how near the search came."""
    if len(row):
        return [("then", row.probabilities[0].item(), f"then {_reached(row)}")]
    chance = math.nan if row.diagnosis is None else row.diagnosis.probability or math.nan
    if math.isnan(chance) or percent(chance) == percent(row.probability):
        return []
    return [("near", chance, f"closest {percent(chance)}")]


def _reached(row: ExplainedRow) -> str:
    """Return what the recommended way reaches; less than is aimed for does not read as that."""
    if row.margin_met or row.context.lead is not None:
        return then_text(row)
    return percents(row.probabilities[0].item(), row.needed)[0]


def _lines(row: ExplainedRow) -> list[tuple[str, float, str]]:
    """Return from where on the model decides so, and what is aimed for where that is more.

    Of several classes the likeliest counts, which is no matter of one probability.
    """
    decides = decision_line(row)
    lines = []
    if decides is not None:
        lines.append(("line", decides, f"{percent(decides)} decides"))
    if row.predicted != row.target and is_more_aimed_for(row):
        lines.append(("line", row.needed, aim_text(percent(row.needed))))
    return lines
