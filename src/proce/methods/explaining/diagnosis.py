"""Why nothing was found: the search is run again with one limit relaxed at a time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from proce.classifier.probe import probe_rows
from proce.explanation import Blocker, Change, Diagnosis
from proce.explanation.words.cells import plain
from proce.methods.calls.method import Progress
from proce.methods.calls.options import Options
from proce.methods.explaining.last_check import checked, within_limits
from proce.methods.explaining.problem import problem_of, search
from proce.methods.explaining.shortlist import choose
from proce.methods.fitting.fitted import Fitted
from proce.objective import CounterfactualProblem, Requirement
from proce.schema import Action, Continuous

if TYPE_CHECKING:
    from proce.methods.explaining.proce_call import ProceCall

MOST_ROWS = 8  # rows of a call whose blockers are searched
MOST_RELAXATIONS = 16  # searches for them
_QUICK = 60  # candidates of such a search
_LONGER = "n_generations"
_RESTRICTED = (Action.INCREASE, Action.DECREASE, Action.FIXED, Action.INDIRECT)


@dataclass(frozen=True, eq=False)
class Relaxation:
    """A limit lifted.

    Attributes
    ----------
    kind, name
        What was lifted, as in a :class:`~proce.explanation.Blocker`.
    fitted, options
        What to search with instead.
    """

    kind: str
    name: str
    fitted: Fitted
    options: Options


def diagnose(call: "ProceCall", rows: list[int]) -> dict[int, Diagnosis]:
    """Return what blocks each of the rows; beyond the first few without searching for it."""
    if not rows:
        return {}
    reached = {row: bool(call.fitted.index.sizes[call.target[row]] > 0) for row in rows}
    searched = [row for row in rows if reached[row]][:MOST_ROWS]
    blockers: dict[int, list[Blocker]] = {row: [] for row in rows}
    relaxations = list(islice(_relaxations(call), MOST_RELAXATIONS)) if searched else []
    tried = 0
    for relaxation in relaxations:
        call.tell(Progress("diagnose", tried, len(relaxations)))
        if call.over:
            break
        tried += 1
        _try(call, relaxation, searched, blockers)
    if relaxations and not call.over:
        call.tell(Progress("diagnose", tried, len(relaxations)))
    for row, found in blockers.items():
        found.sort(key=lambda blocker: blocker.distance)
        missed = [each for each in found if each.name == _LONGER]
        blockers[row] = missed or found  # no limit blocks where a row within all of them exists
    looked = searched if tried or not relaxations else []
    return {row: _told(call, row, blockers[row], tried if row in looked else None) for row in rows}


def _relaxations(call: "ProceCall") -> Iterator[Relaxation]:
    """Yield limits to lift, the likeliest first."""
    fitted, options = _quick(call.fitted), call.options
    for at, (rule, _) in enumerate(fitted.rules):
        kept = fitted.rules[:at] + fitted.rules[at + 1 :]
        yield Relaxation("rule", rule.text, replace(fitted, rules=kept), options)
    for at, text in enumerate(options.rules):
        kept_texts = options.rules[:at] + options.rules[at + 1 :]
        yield Relaxation("rule", text, fitted, replace(options, rules=kept_texts))
    for name in options.ranges or {}:
        others = {each: limits for each, limits in (options.ranges or {}).items() if each != name}
        yield Relaxation("range", name, fitted, replace(options, ranges=others))
    if options.vary is not None:
        yield Relaxation("vary", "", fitted, replace(options, vary=None))
    if options.max_changes is not None:
        yield Relaxation("max_changes", "", fitted, replace(options, max_changes=None))
    if options.min_probability is not None:
        yield Relaxation("min_probability", "", fitted, replace(options, min_probability=None))
    for feature in fitted.codec.schema:
        if feature.action in _RESTRICTED:
            freed = fitted.edited(feature.name, action=Action.FREE)
            vary = None if options.vary is None else (*options.vary, feature.name)
            yield Relaxation(feature.action.value, feature.name, freed, replace(options, vary=vary))
    for feature in fitted.codec.schema:
        if isinstance(feature, Continuous) and feature.range is not None:
            low, high = feature.range
            lower = max(2 * low - high, 0.0) if low >= 0 else 2 * low - high  # no debt below 0
            wider = fitted.edited(feature.name, range=(lower, 2 * high - low))
            yield Relaxation("range", feature.name, wider, options)
    if fitted.refits is not None:
        yield Relaxation("search", "n_refits", replace(fitted, refits=None), options)


def _quick(fitted: Fitted) -> Fitted:
    settings = fitted.settings
    sizes = {
        name: min(_QUICK, getattr(settings, name)) for name in ("population_size", "n_offspring")
    }
    return replace(fitted, settings=replace(settings, **sizes))


def _try(
    call: "ProceCall",
    relaxation: Relaxation,
    rows: list[int],
    blockers: Mapping[int, list[Blocker]],
) -> None:
    """Search with a limit lifted, and note it where that is enough and was needed."""
    fitted, options = relaxation.fitted, replace(relaxation.options, n=1)
    part = torch.tensor(rows)
    query = call.query(part)
    as_asked = problem_of(call.fitted, call.options, query, call.rules, margin=0.0)
    problem = problem_of(fitted, options, query, fitted.bound(options.rules), margin=0.0)
    found = search(problem, part, fitted, options, call.seconds_left)
    chosen = choose(problem, found, options, fitted.refits)
    passed = checked(problem, chosen, call.layout, call.raw[part])
    for at, row in enumerate(rows):
        for best in torch.nonzero(passed[at].passed).flatten().tolist()[:1]:
            candidate, changes = chosen[at].rows[best], chosen[at].changes[best]
            chance = float(passed[at].probabilities[best])
            kind, name = relaxation.kind, relaxation.name
            text = _words(call, relaxation, candidate, changes, chance)
            if kind != "search" and _obeys(as_asked.take(torch.tensor([at])), candidate, changes):
                kind, name, text = "search", _LONGER, "if the search goes on for longer"
            if not any((each.kind, each.name) == (kind, name) for each in blockers[row]):
                blockers[row].append(Blocker(kind, name, text, float(chosen[at].losses[best, 2])))


def _obeys(problem: CounterfactualProblem, row: Tensor, changes: Tensor) -> bool:
    """Whether a row needs no relaxation: the search could have come upon it as things are."""
    rows, query = row[None], problem.query
    fine = bool(within_limits(problem, rows, changes[None]))
    chances = problem.classifier.predict_proba(rows)
    fine &= bool(problem.requirement.shortfall(chances[:, None], query.target) <= 0)
    rules = problem.rules
    return fine and all(bool(rule.holds(query.factual, rows, needs)) for rule, needs in rules)


def _words(
    call: "ProceCall", relaxation: Relaxation, row: Tensor, changes: Tensor, chance: float
) -> str:
    """Return what would do."""
    kind, name, schema = relaxation.kind, relaxation.name, relaxation.fitted.codec.schema
    by_hand = (changes == Change.ACTION) | (changes == Change.HOLD)
    if kind == "rule":
        return f"without the rule '{name}'"
    if kind == "search":
        return "if it need not hold when the equations are fitted again"
    if kind == "vary":
        acted_on = [schema.names[at] for at in torch.nonzero(by_hand).flatten().tolist()]
        more = [each for each in acted_on if each not in (call.options.vary or ())]
        return f"if {' and '.join(more)} may vary too"
    if kind == "max_changes":
        return f"with {int(by_hand.sum())} changes"
    if kind == "min_probability":
        return f"with a probability of {chance:.0%}"
    at = schema.position(name)
    feature = schema.features[at]
    value = plain(feature, relaxation.fitted.codec.to_raw(row)[at].item())
    shown = f"{value:,.6g}" if isinstance(feature, Continuous) else repr(value)
    return f"with {name} allowed to {'reach' if kind == 'range' else 'become'} {shown}"


def _told(call: "ProceCall", row: int, blockers: list[Blocker], tried: int | None) -> Diagnosis:
    item = call.items[row]
    label, needed = call.context.classes[item.target], _needed(call, item.target)
    if not bool(call.fitted.index.sizes[item.target] > 0):
        reason = (
            f"The model says {label!r} for none of the {call.fitted.n_rows:,} rows it was fitted"
            " with, so there is nothing to move towards."
        )
        if _constant(call.fitted):
            reason = f"The model gives the same answer for every row: it never says {label!r}."
        return Diagnosis(reason, None, None, needed, (), (), 0)
    miss, chance, broken = _closest(call, row)
    start = f"No counterfactual was found for {label!r}."
    near = ""
    if chance is not None:
        near = _nearness(chance, needed)
    if broken:
        near += f" It breaks the rule '{broken[0]}'."
    if blockers:
        ways = " or ".join(each.relaxation for each in blockers[:3])
        cause = f" There is one {ways}."
    elif tried:
        cause = f" None was found with any single limit lifted either ({tried} were tried)."
    elif tried == 0:
        cause = " Nothing but the model limits it."
    else:
        cause = " What blocks it was not searched, to bound the time."
    reason, tried = start + near + cause, tried or 0
    return Diagnosis(reason, miss, chance, needed, broken, tuple(blockers), tried)


def _nearness(chance: float, needed: float) -> str:
    if chance >= needed:
        return f" The closest candidate would be likely enough ({chance:.0%}), but is not allowed."
    digits = 0 if f"{chance:.0%}" != f"{needed:.0%}" else 2
    return (
        f" The closest candidate reaches {chance:.{digits}%}, where {needed:.{digits}%} is needed."
    )


def _needed(call: "ProceCall", target: int) -> float:
    """Return the probability that counts: that of the decision, or more where it was asked for."""
    classifier = call.fitted.classifier
    requirement = Requirement(classifier.threshold, 0.0, call.options.min_probability)
    return requirement.probabilities(len(classifier.classes))[target]


def _closest(
    call: "ProceCall", row: int
) -> tuple[dict[str, Any] | None, float | None, tuple[str, ...]]:
    """Return the nearest miss in raw units, its probability and the rules that it breaks."""
    item = call.items[row]
    if item.miss is None:
        return None, None, ()
    rows = item.miss[None]
    chance = float(call.fitted.classifier.predict_proba(rows)[0, item.target])
    rules = (*call.fitted.rules, *call.rules)
    broken = [
        rule.text for rule, needs in rules if not bool(rule.holds(item.factual[None], rows, needs))
    ]
    codec = call.fitted.codec
    raw = codec.to_raw(rows)[0].tolist()
    values = {f.name: plain(f, value) for f, value in zip(codec.schema, raw, strict=True)}
    return values, chance, tuple(broken)


def _constant(fitted: Fitted) -> bool:
    """Whether the model answers the same for all of a sample of training rows."""
    rows = probe_rows(fitted.codec) if fitted.left_out else fitted.rows[:1000]
    chances = fitted.classifier.predict_proba(rows)
    return bool((chances == chances[0]).all())
