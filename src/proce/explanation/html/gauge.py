"""The decision as a picture: where the probability stood, what was needed, where it gets to."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from proce.explanation.record.outcome import UNKNOWN_CLASS
from proce.explanation.record.rows import ExplainedRow
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
        ``now``, ``then``, ``near`` (the closest candidate) or ``line`` (what was needed).
    place
        Where it is, from 0 to 1.
    text
        Its label.
    y
        Where the label's middle is, in pixels from the top.
    """

    kind: str
    place: float
    text: str
    y: int

    @property
    def anchor(self) -> str:
        """Which end of the label stands at the mark, so that the label stays in the picture."""
        if self.place < _OUTER_PART:
            return "start"
        return "end" if self.place > 1 - _OUTER_PART else "middle"


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
        From where on the target is reached; 1 where that is not a matter of one probability.
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
    below = [("now", row.probability, f"now {percent(row.probability)}"), *lines]
    under = y + _TRACK_HEIGHT // 2 + _LABEL_HEIGHT // 2
    marks = [Mark(*mark, y=_LABEL_HEIGHT // 2) for mark in above]
    marks += [Mark(*mark, y=under + _LABEL_HEIGHT * nth) for nth, mark in enumerate(below)]
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


def _above(row: ExplainedRow) -> list[tuple[str, float, str]]:
    """Return where the recommended way leads, or how near the search came."""
    if len(row):
        chance = row.probabilities[0].item()
        reached = percent(chance)
        if not row.margin_met and row.context.lead is None:
            reached = percents(chance, row.needed)[0]
        return [("then", chance, f"then {reached}")]
    diagnosis = row.diagnosis
    chance = math.nan if diagnosis is None else diagnosis.probability or math.nan
    if math.isnan(chance) or percent(chance) == percent(row.probability):
        return []
    return [("near", chance, f"closest {percent(chance)}")]


def _lines(row: ExplainedRow) -> list[tuple[str, float, str]]:
    """Return what the probability has to reach; of several classes that is no one number."""
    if row.context.lead is not None and not row.needed:
        return []
    if row.predicted == row.target:
        return []
    needed = row.needed
    if row.diagnosis is not None and row.diagnosis.needed:
        needed = row.diagnosis.needed
    return [("line", needed, f"needed {percent(needed)}")]
