"""What the bars of a cohort say: which kind a change is, and how large it usually is."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from proce.causal.drawing.letters import Font
from proce.causal.drawing.palette import palette_inside
from proce.explanation.plots.lines import Label, fitting_labels, write_label
from proce.explanation.plots.style import KIND_WORDS, MAX_LABEL_LENGTH, WAITING_WORD, arrow_text
from proce.explanation.record.outcome import Change
from proce.explanation.record.rows import ExplainedFrame
from proce.explanation.tables.cohort import Tally, brief_change_text, change_text
from proce.schema import Action

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TALLY_WORDS = (
    KIND_WORDS[Change.ACTION],
    WAITING_WORD,
    KIND_WORDS[Change.HOLD],
    KIND_WORDS[Change.CONSEQUENCE],
)
_MIN_OF_SEVERAL = 20  # characters of a change of levels that stands beside another one
_MIN_ALONE = 11  # characters of one that stands alone


def tally_word(tally: Tally) -> str:
    """Return what became of a feature, in a word or two: time is waited for, not done."""
    return WAITING_WORD if tally.feature.action is Action.WAITS else KIND_WORDS[tally.kind]


def write_change(
    ax: "Axes", font: Font, result: ExplainedFrame, tallies: Sequence[Tally], y: float
) -> None:
    """Write above a bar as much of the usual changes as has room; a number is never cut."""
    for text in _texts(result, tallies):
        placed = fitting_labels(ax, font, Label(0.0, text))
        if placed is not None:
            write_label(ax, font, placed[0], y, palette_inside(ax).ink)
            return


def _texts(result: ExplainedFrame, tallies: Sequence[Tally]) -> Iterator[str]:
    """Return the usual changes in fewer and fewer words.

    Names of levels are shortened, then numbers lose how often they are, then the first kind is told
    alone.
    """
    for told, shortest in ((tallies, _MIN_OF_SEVERAL), (tallies[:1], _MIN_ALONE)):
        for length in range(2 * MAX_LABEL_LENGTH, shortest - 1, -1):
            yield _joined(result, told, change_text, length)
        yield _joined(result, told, brief_change_text, shortest)


def _joined(
    result: ExplainedFrame,
    tallies: Sequence[Tally],
    words: Callable[[ExplainedFrame, Tally], str],
    max_length: int,
) -> str:
    """Return the usual change of each kind, names of levels in so many letters at most."""
    parts = []
    for tally in tallies:
        text = words(result, tally)
        if text and tally.median_change is None:
            before, _, after = text.partition(" → ")
            text = arrow_text(before, after, max_length)
        follows = tally_word(tally) == KIND_WORDS[Change.CONSEQUENCE]
        parts += [f"follows {text}" if follows else text] if text else []
    return "; ".join(parts)
