"""Why nothing was found, in words and as data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from proce.arrays import Array
from proce.causal import Actions
from proce.classifier import predict_read_frame
from proce.classifier.classifier import likeliest_other
from proce.explanation import Blocker, Diagnosis
from proce.explanation.record.counterfactuals import ways_text
from proce.explanation.words.cells import plain_value
from proce.explanation.words.values import class_text, percents
from proce.losses import target_probability
from proce.methods.calls.call import Call, as_shown, broken_rules
from proce.methods.diagnosing.blockers import BlockerSearch
from proce.methods.fitting.fitted import FittedParts
from proce.methods.phases.plan import CallSpec
from proce.methods.phases.shortlist import NearestMisses
from proce.objective import CounterfactualProblem, EquationUncertainty
from proce.objective.problem import are_sound
from proce.schema.features.numerals import counted

_UNLIKELY = (
    " A way was found, but by the refits of the equations it is more likely to fail than to work,"
    " so it is not advised."
)


@dataclass(frozen=True)
class ClosestMiss:
    """The candidate of a row that came nearest to its target; empty where none was evaluated."""

    values: Mapping[str, Any] | None = None  # the candidate's values by feature, in raw units
    probability: float | None = None  # the probability of the target
    broken: tuple[str, ...] = ()  # the rules that the candidate breaks
    # rival, rival_probability: of more than two classes, the likeliest other one, in words, and its
    # probability
    rival: str | None = None
    rival_probability: float = 0.0
    is_reached: bool = False  # whether it reaches the target
    # whether it is within all limits and reaches the target, but fails in too many refits of the
    # equations to be advice
    is_unlikely: bool = False


def diagnose(
    call: Call,
    spec: CallSpec,
    rows: Array,
    misses: NearestMisses,
    search: BlockerSearch,
) -> dict[int, Diagnosis]:
    """Return what blocks each of the rows."""
    closest = _closest_misses(call, spec, rows[misses.has(rows)], misses)
    return {
        row: _diagnosis(
            call,
            spec,
            row,
            search.blockers.get(row, []),
            search.n_lifted.get(row),
            closest.get(row, ClosestMiss()),
        )
        for row in rows.tolist()
    }


def _diagnosis(
    call: Call,
    spec: CallSpec,
    row: int,
    blockers: list[Blocker],
    n_tried: int | None,
    closest: ClosestMiss,
) -> Diagnosis:
    target = int(call.target[row])
    decision = spec.without_margin().requirement
    needed = decision.probabilities(len(call.context.classes))[target]
    was_asked = decision.min_probability == needed
    label = class_text(call.context, call.context.classes[target])
    if not bool(spec.fitted.index.sizes[target] > 0):
        return Diagnosis(_unknown_class_text(spec.fitted, label), None, None, needed)
    if closest.is_unlikely or any(blocker.kind == "search" for blocker in blockers):
        told = _UNLIKELY + ways_text(blockers)
    else:
        told = nearness_text(closest, needed, was_asked=was_asked)
        told += _cause_text(blockers, n_tried)
    surely = f" with {percents(needed)[0]} or more" if was_asked else ""
    reason = f"No change was found for which the model says {label}{surely}.{told}"
    return Diagnosis(
        reason,
        closest.values,
        closest.probability,
        needed,
        closest.broken,
        tuple(blockers),
        n_tried or 0,
    )


def _unknown_class_text(fitted: FittedParts, label: str) -> str:
    if fitted.facts.is_constant:
        return f"The model gives the same answer for every row: it never says {label}."
    return (
        f"The model says {label} for none of the {fitted.n_rows:,} rows that the explainer"
        " was fitted with, so there is nothing to move towards."
    )


def nearness_text(closest: ClosestMiss, needed: float, *, was_asked: bool = False) -> str:
    """Return how near the closest miss came to what is needed."""
    rule = f" It breaks the rule '{closest.broken[0]}'." if closest.broken else ""
    chance = closest.probability
    if chance is None:
        return rule
    if closest.is_reached:
        (reached,) = percents(chance, line=needed)
        return f" The closest attempt would be likely enough ({reached}), but is not allowed.{rule}"
    if closest.rival is not None and chance <= closest.rival_probability:
        reached, other = percents(chance, closest.rival_probability)
        return f" The closest attempt reaches {reached}, behind {closest.rival} ({other}).{rule}"
    reached, wanted = percents(chance, needed)
    if chance >= needed:  # at a threshold the second class is said
        return f" The closest attempt reaches {reached}; the model decides so only above it.{rule}"
    line = f"; the model decides so from {wanted} on"
    if was_asked:
        line = f", where {wanted} was asked for"
    return f" The closest attempt reaches {reached}{line}.{rule}"


def _cause_text(blockers: list[Blocker], n_tried: int | None) -> str:
    if blockers:
        return ways_text(blockers)
    if n_tried is None:
        return " What blocks it was not searched: the call ended before."
    if n_tried == 0:
        return " Nothing but the model limits it."
    tried = f"{counted(n_tried, 'limit')} {'was' if n_tried == 1 else 'were'} lifted, one at a time"
    return f" Nor was one found when {tried}; several at once were not tried."


def _closest_misses(
    call: Call, spec: CallSpec, positions: Array, misses: NearestMisses
) -> dict[int, ClosestMiss]:
    """Return for each row the candidate that came nearest, and what the model says of it."""
    if not len(positions):
        return {}
    codec = spec.fitted.codec
    problem = spec.without_margin().problem(
        spec.batch(call.factual[positions], call.target[positions], call.raw[positions])
    )
    genes = misses.genes(positions)[:, :1]
    realised = problem.realise(genes)
    is_unlikely = _is_unlikely(spec, problem, realised)
    shown = as_shown(
        codec,
        realised.point[:, 0],
        call.factual[positions],
        call.raw[positions],
        call.layout,
    )
    answers = predict_read_frame(call.classifier, shown.read)
    chances = target_probability(answers, call.target[positions])
    rivals = likeliest_other(answers, call.target[positions])
    requirement = spec.without_margin().requirement
    is_reached = requirement.is_reached(answers[:, None], call.target[positions])[:, 0]
    result = {}
    for index, row in enumerate(positions.tolist()):
        values = zip(codec.schema, shown.raw[index].tolist(), strict=True)
        result[row] = ClosestMiss(
            {feature.name: plain_value(feature, value) for feature, value in values},
            float(chances[index]),
            broken_rules(spec.rules, call.factual[row], shown.rows[index]),
            *_rival(call, int(rivals[index]), float(answers[index, rivals[index]])),
            is_reached=bool(is_reached[index]),
            is_unlikely=bool(is_unlikely[index]),
        )
    return result


def _is_unlikely(spec: CallSpec, problem: CounterfactualProblem, realised: Actions) -> Array:
    """Return which candidates ``(i, 1)`` are within all limits, but too unlikely to be advice."""
    sets = tuple(own for own in spec.uncertainty if isinstance(own, EquationUncertainty))
    scored = problem.score(realised, with_prototype=False)
    is_allowed = are_sound(scored.violation, realised.count, *np.moveaxis(scored.losses, -1, 0))
    gap = problem.with_uncertainty(sets).robustness_gap(realised, is_allowed)
    return (is_allowed & np.isinf(gap))[:, 0]


def _rival(call: Call, position: int, probability: float) -> tuple[str | None, float]:
    """Return the likeliest other class in words and its probability, where there are several."""
    if call.context.lead is None:
        return None, 0.0
    return class_text(call.context, call.context.classes[position]), probability
