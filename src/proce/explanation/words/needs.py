"""In words, what counts as reaching the target: a probability, or a lead over the runner-up."""

from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.values import percent, percents


def need_text(row: ExplainedRow) -> str:
    """Return what was asked for: ``with a probability of at least 60%``.

    Of more than two classes the target must lead all others, whatever its probability.
    """
    parts = []
    if row.context.lead is not None:
        lead = points_text(row.context.lead)
        parts.append(f"ahead of every other class{f' by at least {lead}' if lead else ''}")
    if row.context.lead is None or row.needed:
        parts.append(f"with a probability of at least {percent(row.needed)}")
    return " and ".join(parts)


def reached_text(row: ExplainedRow, rank: int = 1) -> str:
    """Return what the counterfactual of a rank reaches, beside what was asked for."""
    chance = row.probabilities[rank - 1].item()
    if row.context.lead is None:
        reached, needed = percents(chance, row.needed)
        return f"The probability is {reached}, where {needed} was asked for."
    return f"The probability is {percent(chance)}, {need_text(row)}, as was asked for."


def points_text(share: float) -> str:
    """Return a difference of probabilities: ``20 points``; nothing where there is none."""
    points = f"{100 * share:.3g}"
    return "" if points == "0" else f"{points} point{'s' * (points != '1')}"
