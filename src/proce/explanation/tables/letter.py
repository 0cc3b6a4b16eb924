"""The draft of a letter about one decision: its reasons, and all that the variant with them has."""

from collections.abc import Sequence
from typing import Literal

from proce.explanation.record.outcome import UNKNOWN_CLASS, Change, Outcome
from proce.explanation.row_view import ChangeView, RowView, WayView
from proce.explanation.words.certainty import doubt_texts
from proce.explanation.words.robustness import is_less_robust, robustness_texts
from proce.explanation.words.values import joined

DRAFT = "draft: a variant that the model decides otherwise is not by itself a legal reason"
Measure = Literal["probability", "distance"]


def letter_text(
    view: RowView, reasons: Sequence[str], told: Sequence[int], measure: Measure
) -> str:
    """Return the draft of a letter: numbered reasons, and the features that they tell of."""
    draft = f"{DRAFT[:1].upper()}{DRAFT[1:]}. To be checked by a person before it is sent."
    return "\n\n".join([draft, *_paragraphs(view, reasons, told, measure)]) + "\n"


def _paragraphs(
    view: RowView, reasons: Sequence[str], told: Sequence[int], measure: Measure
) -> list[str]:
    row, way, nothing = view.row, view.recommended, "No reasons can be drafted."
    if row.predicted == UNKNOWN_CLASS:
        return [f"{nothing} {view.lines[0].text}"]
    opening = f"The model said {view.predicted}."
    if row.outcome is Outcome.ALREADY_TARGET:
        return [f"{opening} There is nothing to give reasons for."]
    if way is None:
        return [f"{opening} {nothing} {view.lines[0].text}"]
    variant = _rest_of_variant(way, told)
    if not reasons:
        return [
            f"{opening} It would have said {view.target} after several changes together, none of"
            " which matters by itself; no principal reason can be named.",
            *variant,
        ]
    measured = "by how much the probability falls when that change alone is taken back"
    if measure == "distance":
        measured = "by the size of the change"
    cells = [step.change.cell for step in way.steps]
    return [
        f"{opening} The principal reasons, the weightiest first:",
        "\n".join(reasons),
        f"The order was found by comparing this application with a variant of it for which the"
        f" model says {view.target} ({way.then}; it was {way.now}): {measured}. The reasons"
        " describe the model; they are not a promise.",
        *variant,
        *doubt_texts(row, cells, subject="That variant")[:1],
        *(robustness_texts(row, subject="That variant") if is_less_robust(row) else []),
    ]


def _rest_of_variant(way: WayView, told: Sequence[int]) -> list[str]:
    """Return what else the variant has beside the reasons: further changes, and what follows."""
    changes = [step.change for step in way.steps]
    done = [c for c in changes if c.cell.kind.by_hand and c.cell.position not in told]
    following = [change for change in changes if change.cell.kind is Change.CONSEQUENCE]
    texts = []
    if done:
        texts.append(f"Also in that variant: {joined([_state(change) for change in done])}.")
    if following:
        listed = joined([_state(change) for change in following])
        texts.append(f"Expected to follow in that variant: {listed}.")
    return [" ".join(texts)] if texts else []


def _state(change: ChangeView) -> str:
    if change.cell.kind is Change.HOLD:
        return f"{change.label} stays at {change.before}"
    return f"{change.label} is {change.after} (it is {change.before} now)"
