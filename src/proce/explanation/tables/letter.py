"""The draft of a letter about one decision: its reasons, and all that the variant with them has."""

from collections.abc import Sequence
from typing import Literal

from proce.explanation.record.outcome import UNKNOWN_CLASS, Change, Outcome
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.cells import ChangedCell, row_cells
from proce.explanation.words.certainty import doubt_texts
from proce.explanation.words.chances import then_and_now
from proce.explanation.words.robustness import is_less_robust, robustness_texts
from proce.explanation.words.sentences import sentences
from proce.explanation.words.values import change_texts, class_texts, joined, name_text

DRAFT = "draft: a variant that the model decides otherwise is not by itself a legal reason"
Measure = Literal["probability", "distance"]


def letter_text(
    row: ExplainedRow, reasons: Sequence[str], told: Sequence[int], measure: Measure
) -> str:
    """Return the draft of a letter about an explained row.

    Parameters
    ----------
    row
        The row.
    reasons
        The principal reasons, numbered, the weightiest first.
    told
        The positions of the features that the reasons tell.
    measure
        By what the reasons were put in order.
    """
    draft = f"{DRAFT[:1].upper()}{DRAFT[1:]}. To be checked by a person before it is sent."
    return "\n\n".join([draft, *_paragraphs(row, reasons, told, measure)]) + "\n"


def _paragraphs(
    row: ExplainedRow, reasons: Sequence[str], told: Sequence[int], measure: Measure
) -> list[str]:
    predicted, target = class_texts(row)
    if row.predicted == UNKNOWN_CLASS:
        return [f"No reasons can be drafted. {sentences(row)[0]}"]
    opening = f"The model said {predicted}."
    if row.outcome is Outcome.ALREADY_TARGET:
        return [f"{opening} There is nothing to give reasons for."]
    if not len(row):
        return [f"{opening} No reasons can be drafted. {sentences(row)[0]}"]
    cells = row_cells(row)[0]
    variant = _rest_of_variant(row, cells, told)
    if not reasons:
        return [
            f"{opening} It would have said {target} after several changes together, none of which"
            " matters by itself; no principal reason can be named.",
            *variant,
        ]
    then, now = then_and_now(row)
    measured = "by how much the probability falls when that change alone is taken back"
    if measure == "distance":
        measured = "by the size of the change"
    return [
        f"{opening} The principal reasons, the weightiest first:",
        "\n".join(reasons),
        f"The order was found by comparing this application with a variant of it for which the"
        f" model says {target} ({then}; it was {now}): {measured}. The reasons describe the model;"
        " they are not a promise.",
        *variant,
        *doubt_texts(row, cells, subject="That variant")[:1],
        *(robustness_texts(row, subject="That variant") if is_less_robust(row) else []),
    ]


def _rest_of_variant(
    row: ExplainedRow, cells: Sequence[ChangedCell], told: Sequence[int]
) -> list[str]:
    """Return what else the variant has beside the reasons: further changes, and what follows."""
    done = [cell for cell in cells if cell.kind.by_hand and cell.position not in told]
    following = [cell for cell in cells if cell.kind is Change.CONSEQUENCE]
    texts = []
    if done:
        texts.append(f"Also in that variant: {joined([_state(row, cell) for cell in done])}.")
    if following:
        listed = joined([_state(row, cell) for cell in following])
        texts.append(f"Expected to follow in that variant: {listed}.")
    return [" ".join(texts)] if texts else []


def _state(row: ExplainedRow, cell: ChangedCell) -> str:
    name, (before, after) = name_text(cell.feature), change_texts(cell, row.context)
    if cell.kind is Change.HOLD:
        return f"{name} stays at {before}"
    return f"{name} is {after} (it is {before} now)"
