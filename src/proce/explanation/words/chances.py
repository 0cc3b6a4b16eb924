"""What a model gives its target before and after, rounded never onto or across its decision."""

from proce.classifier.classifier import deciding_chance
from proce.explanation.record.outcome import UNKNOWN_CLASS
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.values import percents
from proce.schema.features.numerals import MINUS, counted


def decision_line(row: ExplainedRow) -> float | None:
    """Return from which probability of its target on a model of two classes decides for it.

    ``None`` where the likeliest of several classes counts, and where the target is not known.
    """
    context = row.context
    if len(context.classes) != 2 or row.target == UNKNOWN_CLASS:
        return None
    return deciding_chance(row.target, context.threshold)


def now_text(row: ExplainedRow) -> str:
    """Return the probability of the target for a row as it is: ``49.6%``, where 50% decides."""
    (text,) = percents(row.probability, line=decision_line(row))
    return text


def then_text(row: ExplainedRow, rank: int = 1) -> str:
    """Return the probability of the target for the counterfactual of a rank."""
    (text,) = percents(row.probabilities[rank - 1].item(), line=decision_line(row))
    return text


def then_and_now(row: ExplainedRow, rank: int = 1) -> tuple[str, str]:
    """Return both probabilities, with decimals where they would read the same."""
    chances = (row.probabilities[rank - 1].item(), row.probability)
    then, now = percents(*chances, line=decision_line(row))
    return then, now


def points_text(share: float) -> str:
    """Return a difference of probabilities: ``20 points``; nothing where there is none."""
    points = float(f"{100 * share:.3g}")
    return counted(points, "point") if points else ""


def added_points(share: float) -> str:
    """Return what an action adds to a probability: ``+1 point``, ``−12 points``.

    Less than half a point is told as that, not as ``+0 points``.
    """
    points = round(100 * share)
    if not points:
        return "none" if not share else "under 1 point"
    return f"{MINUS if points < 0 else '+'}{counted(abs(points), 'point')}"
