"""What the model says of a row, what was looked for, and what comes to be: rounded never onto or
across the decision.
"""

from proce.classifier.classifier import deciding_chance
from proce.explanation.record.counterfactuals import UNKNOWN_CLASS, Outcome
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.values import class_texts, percent, percents
from proce.schema.features.numerals import MINUS, counted

OUTCOME_WORDS = {
    Outcome.FOUND: "found",
    Outcome.NOT_FOUND: "not found",
    Outcome.ALREADY_TARGET: "already there",
    Outcome.OUT_OF_TIME: "out of time",
    Outcome.FAILED: "the model failed",
}


def decision_line(row: ExplainedRow) -> float | None:
    """Return from where on a model of two classes decides for the target; or ``None``."""
    context = row.context
    if len(context.classes) != 2 or row.target == UNKNOWN_CLASS:
        return None
    return deciding_chance(row.target, context.threshold)


def now_text(row: ExplainedRow) -> str:
    """Return the probability of the target for a row as it is: ``49.6%``, where 50% decides."""
    (text,) = percents(row.probability, line=decision_line(row))
    return text


def then_text(row: ExplainedRow, rank: int = 1) -> str:
    """Return the probability of a counterfactual; one short of the aim does not read as the aim."""
    probabilities = [row.probabilities[rank - 1].item()]
    if not row.margin_met and row.context.lead is None:
        probabilities.append(row.needed)
    return percents(*probabilities, line=decision_line(row))[0]


def then_and_now(row: ExplainedRow, rank: int = 1) -> tuple[str, str]:
    """Return both probabilities, with decimals where they would read the same."""
    probabilities = (row.probabilities[rank - 1].item(), row.probability)
    then, now = percents(*probabilities, line=decision_line(row))
    return then, now


def points_text(share: float) -> str:
    """Return a difference of probabilities: ``20 points``; nothing where there is none."""
    points = float(f"{100 * share:.3g}")
    return counted(points, "point") if points else ""


def added_points(share: float) -> str:
    """Return what an action adds to a probability: ``+1 point``, ``−12 points``."""
    points = round(100 * share)
    if not points:
        return "none" if not share else "under 1 point"
    return f"{MINUS if points < 0 else '+'}{counted(abs(points), 'point')}"


def need_text(row: ExplainedRow) -> str:
    """Return what reaches the target: ``with a probability of at least 60% (50% decides)``."""
    parts = []
    if row.context.lead is not None:
        lead = points_text(row.context.lead)
        parts.append(f"ahead of every other class{f' by at least {lead}' if lead else ''}")
    if row.context.lead is None or row.needed:
        needed, decides = _needed_and_line(row)
        told = f"with a probability of at least {needed}"
        parts.append(told if decides is None else f"{told} ({decides} decides)")
    return " and ".join(parts)


def aim_text(needed: str) -> str:
    """Return that a probability is aimed for: ``60% aimed for``."""
    # It is where the model decides and a margin beyond that, or what the caller asked for: who
    # reads 'asked for' where nobody asked looks for a wish that there was not.
    return f"{needed} aimed for"


def is_more_aimed_for(row: ExplainedRow) -> bool:
    """Return whether a higher probability is aimed for than the one from which on is decided."""
    return row.needed > (decision_line(row) or 0.0)


def _needed_and_line(row: ExplainedRow) -> tuple[str, str | None]:
    """Return the probability that is aimed for, and where the model decides if that is lower."""
    line = decision_line(row)
    if line is None or not is_more_aimed_for(row):
        return percent(row.needed), None
    needed, decides = percents(row.needed, line)
    return needed, decides


def decision_text(row: ExplainedRow) -> str:
    """Return what the model says of a row, and what was looked for."""
    predicted, target = class_texts(row)
    decision = f"The model says {predicted}; the probability of {target} is {now_text(row)}."
    if row.predicted == UNKNOWN_CLASS:
        decision = "What the model says of this row is not known."
    if row.outcome is Outcome.ALREADY_TARGET or row.target == UNKNOWN_CLASS:
        return decision
    return (
        f"{decision} Looked for: what would have had to be different for it to say {target},"
        f" {need_text(row)}."
    )
