"""In words, what counts as reaching the target: a probability, or a lead over the runner-up."""

from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.chances import decision_line, points_text
from proce.explanation.words.values import percent, percents


def need_text(row: ExplainedRow) -> str:
    """Return what reaches the target: ``with a probability of at least 60% (50% decides)``.

    Of more than two classes the target must lead all others, whatever its probability.
    """
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
    """Return that a probability is aimed for: ``60% aimed for``.

    It is where the model decides and a margin beyond that, or what the caller asked for: who reads
    ``asked for`` where nobody asked looks for a wish that there was not.
    """
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
