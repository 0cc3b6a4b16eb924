"""Why nothing was found: the search is run again with one limit lifted at a time."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from proce.classifier import ask_about_changes
from proce.classifier.probe import probe_rows
from proce.explanation import Blocker, Diagnosis
from proce.explanation.words.cells import plain_value
from proce.losses import Loss
from proce.methods.calls.call import Call
from proce.methods.calls.method import Progress
from proce.methods.calls.rules import broken_rules
from proce.methods.explaining.lifted_limits import LiftedLimit, lift_limits
from proce.methods.explaining.solve import FrameRows, check_candidates, solve
from proce.methods.explaining.terms import SearchTerms
from proce.methods.fitting.fitted import FittedParts
from proce.objective import CounterfactualProblem

_MAX_DIAGNOSED_ROWS = 8  # rows of a call whose blockers are searched
_MAX_LIFTED_LIMITS = 16  # limits that are lifted, each with a search of its own
_N_CONSTANT_ROWS = 1_000  # training rows by which a model that never changes its answer is known
_LONGER_SEARCH = Blocker("search", "n_generations", "if the search goes on for longer", 0.0)


@dataclass(frozen=True)
class ClosestMiss:
    """The candidate of a row that came nearest to its target; empty where none was evaluated.

    Attributes
    ----------
    values
        The candidate's values by feature, in raw units.
    probability
        The probability of the target.
    broken
        The rules that the candidate breaks.
    """

    values: Mapping[str, Any] | None = None
    probability: float | None = None
    broken: tuple[str, ...] = ()


def diagnose(
    call: Call, terms: SearchTerms, rows: list[int], misses: Mapping[int, Tensor]
) -> dict[int, Diagnosis]:
    """Return what blocks each of the rows; blockers are searched for the first few rows only.

    Parameters
    ----------
    call, terms
        The call, and the terms under which nothing was found.
    rows
        The positions of the rows without a counterfactual.
    misses
        For the rows that were searched, by position: the candidate ``(f,)`` that came nearest.
    """
    sizes = terms.fitted.index.sizes
    searched = [row for row in rows if bool(sizes[call.target[row]] > 0)][:_MAX_DIAGNOSED_ROWS]
    blockers: dict[int, list[Blocker]] = {row: [] for row in rows}
    n_tried = _search_blockers(call, terms, searched, blockers) if searched else None
    return {
        row: _diagnosis(
            call, terms, row, blockers[row], n_tried if row in searched else None, misses.get(row)
        )
        for row in rows
    }


def _search_blockers(
    call: Call, terms: SearchTerms, rows: list[int], blockers: Mapping[int, list[Blocker]]
) -> int | None:
    """Add the blockers of rows, and return how many limits were lifted.

    The result is ``None`` where the call was over before the first limit was lifted.
    """
    lifted = list(islice(lift_limits(terms.fitted, call.options), _MAX_LIFTED_LIMITS))
    positions = torch.tensor(rows)
    frame_rows = FrameRows(positions, call.raw[positions], call.layout)
    query = terms.query(call.factual[positions], call.target[positions], call.raw[positions])
    with_limits = terms.without_margin().problem(query)
    n_tried = 0
    for limit in lifted:
        call.report(Progress("diagnose", n_tried, len(lifted)))
        if call.over:
            break
        n_tried += 1
        _search_without(call, limit, with_limits, frame_rows, blockers)
    if lifted and not call.over:
        call.report(Progress("diagnose", n_tried, len(lifted)))
    for row in rows:
        blockers[row].sort(key=lambda blocker: blocker.distance)
        longer = [blocker for blocker in blockers[row] if blocker.name == _LONGER_SEARCH.name]
        if longer:  # no limit blocks where a row within all of them exists
            blockers[row][:] = longer
    return n_tried if n_tried or not lifted else None


def _search_without(
    call: Call,
    limit: LiftedLimit,
    with_limits: CounterfactualProblem,
    frame_rows: FrameRows,
    blockers: Mapping[int, list[Blocker]],
) -> None:
    """Search with a limit lifted, and add it as a blocker of the rows that then have a solution.

    Where that solution obeys the limit all the same, a longer search is what the row needs.
    """
    options = replace(limit.options, n=1)
    terms = SearchTerms.read(limit.fitted, options).without_margin()
    problem = terms.problem(with_limits.query)
    solution = solve(problem, frame_rows, limit.fitted, options, budget_seconds=call.seconds_left)
    lines = solution.lines_to_show(1)
    shortlist = solution.shortlist
    columns = (shortlist.owner, shortlist.rows, shortlist.changes)
    owner, solved_rows, changes = (column[lines] for column in columns)
    allowed = check_candidates(with_limits, frame_rows, owner, solved_rows, changes).passed
    for index, line in enumerate(lines.tolist()):
        blocker = Blocker(
            limit.kind,
            limit.name,
            limit.relaxation(
                solved_rows[index],
                changes[index],
                float(solution.check.probabilities[line]),
                call.options.vary or (),
            ),
            float(shortlist.losses[line, Loss.DISTANCE]),
        )
        if limit.kind != "search" and bool(allowed[index]):
            blocker = replace(_LONGER_SEARCH, distance=blocker.distance)
        known = blockers[int(frame_rows.positions[owner[index]])]
        if all((other.kind, other.name) != (blocker.kind, blocker.name) for other in known):
            known.append(blocker)


def _diagnosis(
    call: Call,
    terms: SearchTerms,
    row: int,
    blockers: list[Blocker],
    n_tried: int | None,
    miss: Tensor | None,
) -> Diagnosis:
    target = int(call.target[row])
    decision = terms.without_margin().requirement
    needed = decision.probabilities(len(call.context.classes))[target]
    label = call.context.classes[target]
    if not bool(terms.fitted.index.sizes[target] > 0):
        return Diagnosis(_unknown_class_text(terms.fitted, label), None, None, needed)
    closest = _closest_miss(call, terms, row, miss)
    reason = (
        f"No counterfactual was found for {label!r}."
        + nearness_text(closest, needed)
        + _cause_text(blockers, n_tried)
    )
    return Diagnosis(
        reason,
        closest.values,
        closest.probability,
        needed,
        closest.broken,
        tuple(blockers),
        n_tried or 0,
    )


def _unknown_class_text(fitted: FittedParts, label: Any) -> str:
    if _is_constant(fitted):
        return f"The model gives the same answer for every row: it never says {label!r}."
    return (
        f"The model says {label!r} for none of the {fitted.n_rows:,} rows that the explainer"
        " was fitted with, so there is nothing to move towards."
    )


def nearness_text(closest: ClosestMiss, needed: float) -> str:
    """Return how near the closest miss came to the probability that is needed."""
    rule = f" It breaks the rule '{closest.broken[0]}'." if closest.broken else ""
    chance = closest.probability
    if chance is None:
        return rule
    if chance >= needed:
        return (
            f" The closest candidate would be likely enough ({chance:.0%}), but is not allowed."
            + rule
        )
    digits = 0 if f"{chance:.0%}" != f"{needed:.0%}" else 2
    return (
        f" The closest candidate reaches {chance:.{digits}%}, where {needed:.{digits}%} is needed."
        + rule
    )


def _cause_text(blockers: list[Blocker], n_tried: int | None) -> str:
    if blockers:
        ways = " or ".join(blocker.relaxation for blocker in blockers[:3])
        return f" There is one {ways}."
    if n_tried is None:
        return " What blocks it was not searched, to bound the time."
    if n_tried == 0:
        return " Nothing but the model limits it."
    return f" None was found with any single limit lifted either ({n_tried} were tried)."


def _closest_miss(call: Call, terms: SearchTerms, row: int, miss: Tensor | None) -> ClosestMiss:
    """Return the candidate that came nearest, its probability and the rules that it breaks."""
    if miss is None:
        return ClosestMiss()
    codec = terms.fitted.codec
    own, raw = call.factual[row][None], call.raw[row][None]
    chances = ask_about_changes(call.classifier, miss[None], own, raw, codec)[0]
    values = zip(codec.schema, codec.to_raw(miss).tolist(), strict=True)
    return ClosestMiss(
        {feature.name: plain_value(feature, value) for feature, value in values},
        float(chances[call.target[row]]),
        broken_rules(terms.rules, call.factual[row], miss),
    )


def _is_constant(fitted: FittedParts) -> bool:
    """Whether the model answers the same for all of a sample of training rows."""
    rows = probe_rows(fitted.codec) if fitted.left_out else fitted.rows[:_N_CONSTANT_ROWS]
    chances = fitted.classifier.predict_proba(rows)
    return bool((chances == chances[0]).all())
