"""The ways of one row in the report: the recommended one in full, the others in short."""

from collections.abc import Sequence
from dataclasses import dataclass

from proce.explanation.html.blocks import Facts, FoldedList, fold_after
from proce.explanation.html.strips import Strip, shares_text, strip_of
from proce.explanation.record.context import Context
from proce.explanation.record.outcome import Change
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.cells import ChangedCell
from proce.explanation.words.certainty import doubt_texts
from proce.explanation.words.chances import added_points, then_text
from proce.explanation.words.instructions import (
    consequence,
    effect_text,
    further_text,
    instructions,
    interval_text,
    only_value_text,
    reservation,
)
from proce.explanation.words.sentences import MAX_SHOWN, Line
from proce.explanation.words.values import cell_texts, class_texts, joined, name_text
from proce.explanation.words.waiting import is_waiting
from proce.losses import Loss, chance_of_loss

_MAX_BESIDE = 6  # actions beside the decision; more have the whole width
_SAME = 1e-6  # distances and probabilities this near are one


@dataclass(frozen=True, slots=True)
class Step:
    """A change of a way: a sentence, a picture, and what else is known of it.

    Attributes
    ----------
    text
        What to do, or what is expected to follow.
    strip
        The change as a picture; ``None`` where there is none.
    facts
        Names and values, such as where today's model decides so.
    """

    text: str
    strip: Strip | None
    facts: Facts


@dataclass(frozen=True, slots=True)
class RecommendedWay:
    """The recommended counterfactual of a row.

    Attributes
    ----------
    actions
        What to do.
    contrast
        What the model would have said.
    doubt
        That the way is unsure, and how sure it is; empty where it is sure.
    consequences
        What is expected to follow.
    reservation
        What is to be kept in mind of all that follows; empty where a single sentence says it.
    distance
        How far it is from the row as it is; told where there are other ways to compare it with.
    """

    actions: Sequence[Step]
    contrast: Sequence[str]
    doubt: Sequence[str]
    consequences: FoldedList[Step]
    reservation: str
    distance: str

    @property
    def is_long(self) -> bool:
        """Whether there is more to do than fits beside the decision."""
        return len(self.actions) > _MAX_BESIDE

    @property
    def strips(self) -> list[Strip]:
        """The pictures of its changes."""
        steps = (*self.actions, *self.consequences.shown, *self.consequences.folded)
        return [step.strip for step in steps if step.strip is not None]


@dataclass(frozen=True, slots=True)
class OtherWay:
    """A counterfactual that is not the recommended one.

    Attributes
    ----------
    heading
        Its rank and the probability of the target.
    actions
        What to do, one sentence a feature.
    consequences
        What is expected to follow, in one sentence; ``None`` where nothing follows.
    distance
        How far it is from the row as it is.
    doubt
        That the way is unsure, and how sure it is; empty where it is sure.
    """

    heading: str
    actions: Sequence[str]
    consequences: str | None
    distance: str
    doubt: Sequence[str]


def recommended_way(
    explanation: ExplainedRow, cells: Sequence[ChangedCell], lines: Sequence[Line]
) -> RecommendedWay:
    """Return the recommended counterfactual.

    Parameters
    ----------
    explanation
        The explanation of the row.
    cells
        The changed cells of the recommended counterfactual.
    lines
        The sentences for the row, of which those are shown that say what the model would have
        said, and how unsure the way is.
    """
    context = explanation.context
    by_hand = [cell for cell in cells if cell.kind.by_hand]
    following = [cell for cell in cells if cell.kind is Change.CONSEQUENCE and not is_waiting(cell)]
    actions = [
        Step(text, strip_of(cell, context), _facts(explanation, cell, len(by_hand)))
        for text, cell in zip(instructions(cells, context), by_hand, strict=True)
    ]
    told = [f"{effect_text(cell, context)}." for cell in following]
    reserved = reservation(context) if len(told) > 1 else ""
    if len(told) == 1:
        told = [consequence(following[0], context)]
    consequences = [
        Step(text, strip_of(cell, context), _shares(cell, context))
        for text, cell in zip(told, following, strict=True)
    ]
    return RecommendedWay(
        actions=actions,
        contrast=[line.text for line in lines if line.kind == "contrast"],
        doubt=[line.text for line in lines if line.kind == "doubt"],
        consequences=fold_after(MAX_SHOWN, consequences),
        reservation=reserved and f"{reserved[:1].upper()}{reserved[1:]}.",
        distance=_distance(explanation, 1),
    )


def other_way(explanation: ExplainedRow, rank: int, cells: Sequence[ChangedCell]) -> OtherWay:
    """Return the counterfactual of a rank from 2 on, whose changed cells are given."""
    consequences = [
        f"{name_text(cell.feature)} {' → '.join(_before_after(explanation, cell))}"
        for cell in cells
        if cell.kind is Change.CONSEQUENCE and not is_waiting(cell)
    ]
    target = class_texts(explanation)[1]
    return OtherWay(
        heading=f"Way {rank}: {target} with {then_text(explanation, rank)}",
        actions=instructions(cells, explanation.context),
        consequences=(
            f"Expected to follow: {joined(consequences, MAX_SHOWN)}." if consequences else None
        ),
        distance=_distance(explanation, rank),
        doubt=doubt_texts(explanation, cells, rank),
    )


def outdone_text(explanation: ExplainedRow) -> str:
    """Return which ways are told although others are both nearer and likelier; empty for none.

    The ways behind the recommended one are chosen to differ from those before them, so that a
    person who cannot do one thing finds another; such a way need not lie on the front.
    """
    ranks = [rank for rank in range(2, len(explanation) + 1) if _is_outdone(explanation, rank)]
    if not ranks:
        return ""
    noun = "way" if len(ranks) == 1 else "ways"
    told = joined(list(map(str, ranks)), len(ranks))
    return f"Others are both nearer and likelier than {noun} {told}, told for being different."


def _is_outdone(explanation: ExplainedRow, rank: int) -> bool:
    """Whether the front has a way that is both nearer and likelier than the one of a rank."""
    if explanation.front is None:
        return False
    losses, own_losses = explanation.front.losses, explanation.losses[rank - 1]
    is_nearer = losses[:, Loss.DISTANCE] < own_losses[Loss.DISTANCE] - _SAME
    chances = chance_of_loss(losses[:, Loss.PREDICTION])
    is_likelier = chances > explanation.probabilities[rank - 1] + _SAME
    return bool((is_nearer & is_likelier).any())


def _facts(explanation: ExplainedRow, cell: ChangedCell, n_actions: int) -> list[tuple[str, str]]:
    """Return what else is known of an action: what it adds is told where it is not the only one."""
    facts = []
    interval = interval_text(cell, explanation.context)
    only = only_value_text(cell, explanation.context)
    if interval is not None:
        told = f"{interval}{further_text(cell)}"
        facts.append(("today's model decides so between", told))
    elif only is not None:
        facts.append(("today's model decides so", f"at {only} alone"))
    if explanation.contributions is not None and n_actions > 1 and cell.kind is Change.ACTION:
        added = added_points(explanation.contributions[0, cell.position].item())
        facts.append(("adds to the probability", added))
    return [*facts, *_shares(cell, explanation.context)]


def _shares(cell: ChangedCell, context: Context) -> list[tuple[str, str]]:
    shares = shares_text(cell, context)
    return [] if shares is None else [("share of the training rows", shares)]


def _distance(explanation: ExplainedRow, rank: int) -> str:
    return f"{explanation.losses[rank - 1, Loss.DISTANCE].item():.2f}"


def _before_after(explanation: ExplainedRow, cell: ChangedCell) -> tuple[str, str]:
    return cell_texts(cell, explanation.context.codec.span[cell.position].item())
