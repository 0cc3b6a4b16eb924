"""Why nothing was found: the search is run again with one limit relaxed at a time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from proce.explanation import Blocker, Diagnosis
from proce.methods.fitted import Fitted
from proce.methods.options import Options
from proce.methods.searching import choose, problem_of, search
from proce.schema import Action, Continuous

if TYPE_CHECKING:
    from proce.methods.call import Call

MOST_ROWS = 8  # rows of a call whose blockers are searched
MOST_RELAXATIONS = 16  # searches for them
_ONE_WAY = (Action.INCREASE, Action.DECREASE)


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


def diagnose(call: "Call", rows: list[int]) -> dict[int, Diagnosis]:
    """Return what blocks each of the rows; beyond the first few without searching for it."""
    if not rows:
        return {}
    reached = {row: bool(call.fitted.index.sizes[call.target[row]] > 0) for row in rows}
    searched = [row for row in rows if reached[row]][:MOST_ROWS]
    blockers: dict[int, list[Blocker]] = {row: [] for row in rows}
    tried = 0
    if searched:
        for relaxation in _relaxations(call):
            if tried == MOST_RELAXATIONS or call.over:
                break
            tried += 1
            _try(call, relaxation, searched, blockers)
    for found in blockers.values():
        found.sort(key=lambda blocker: blocker.distance)
    return {row: _told(call, row, blockers[row], tried * (row in searched)) for row in rows}


def _relaxations(call: "Call") -> Iterator[Relaxation]:
    """Yield limits to lift, the likeliest first."""
    fitted, options = call.fitted, call.options
    quick = replace(fitted, settings=replace(fitted.settings, population_size=60, n_offspring=60))
    for at, (rule, _) in enumerate(fitted.rules):
        kept = fitted.rules[:at] + fitted.rules[at + 1 :]
        yield Relaxation("rule", rule.text, replace(quick, rules=kept), options)
    for at, text in enumerate(options.rules):
        kept_texts = options.rules[:at] + options.rules[at + 1 :]
        yield Relaxation("rule", text, quick, replace(options, rules=kept_texts))
    for name in options.ranges or {}:
        others = {each: limits for each, limits in (options.ranges or {}).items() if each != name}
        yield Relaxation("range", name, quick, replace(options, ranges=others))
    if options.vary is not None:
        yield Relaxation("vary", "", quick, replace(options, vary=None))
    if options.max_changes is not None:
        yield Relaxation("max_changes", "", quick, replace(options, max_changes=None))
    if options.min_probability is not None:
        yield Relaxation("min_probability", "", quick, replace(options, min_probability=None))
    for feature in fitted.codec.schema:
        if feature.action in (*_ONE_WAY, Action.FIXED, Action.INDIRECT):
            kind = "fixed" if feature.action is Action.FIXED else feature.action.value
            freed = _freed(quick, feature.name, action=Action.FREE)
            vary = None if options.vary is None else (*options.vary, feature.name)
            yield Relaxation(kind, feature.name, freed, replace(options, vary=vary))
    for feature in fitted.codec.schema:
        if isinstance(feature, Continuous) and feature.range is not None:
            low, high = feature.range
            wide = (low - (high - low), high + (high - low))
            yield Relaxation(
                "range", feature.name, _freed(quick, feature.name, range=wide), options
            )


def _freed(fitted: Fitted, name: str, **changes: Any) -> Fitted:
    """Return what was fitted with a feature edited; equations and latents stay."""
    codec = replace(fitted.codec, schema=fitted.codec.schema.edit(name, **changes))
    scm = None if fitted.scm is None else replace(fitted.scm, codec=codec)
    return replace(fitted, codec=codec, scm=scm)


def _try(
    call: "Call", relaxation: Relaxation, rows: list[int], blockers: Mapping[int, list[Blocker]]
) -> None:
    """Search with a limit lifted, and note it where that is enough."""
    fitted, options = relaxation.fitted, relaxation.options
    query = call.query(torch.tensor(rows))
    problem = problem_of(fitted, options, query, fitted.bound(options.rules), margin=0.0)
    found = search(problem, fitted, options, call.seconds_left)
    for row, chosen in zip(rows, choose(problem, found, replace(options, n=1), None), strict=True):
        if len(chosen.rows):
            text = _words(call, relaxation, chosen.rows[0])
            distance = float(chosen.losses[0, 2])
            blockers[row].append(Blocker(relaxation.kind, relaxation.name, text, distance))


def _words(call: "Call", relaxation: Relaxation, row: Tensor) -> str:
    """Return what would do."""
    name, codec = relaxation.name, relaxation.fitted.codec
    if relaxation.kind == "rule":
        return f"without the rule '{name}'"
    if relaxation.kind in ("vary", "max_changes", "min_probability"):
        return f"without {relaxation.kind}"
    at = codec.schema.position(name)
    feature = codec.schema.features[at]
    value = float(codec.raw_numbers(at, row[at])) if isinstance(feature, Continuous) else None
    to = f"{value:,.6g}" if value is not None else repr(feature.levels[int(row[at])])  # type: ignore[union-attr]
    if relaxation.kind == "range":
        return f"with {name} allowed to reach {to}"
    return f"with {name} allowed to become {to}"


def _told(call: "Call", row: int, blockers: list[Blocker], tried: int) -> Diagnosis:
    item = call.items[row]
    label = call.context.classes[item.target]
    needed = call.context.needed
    if not bool(call.fitted.index.sizes[item.target] > 0):
        reason = (
            f"The model says {label!r} for none of the {len(call.fitted.rows):,} rows it was fitted"
            " with, so there is nothing to move towards."
        )
        if _constant(call.fitted):
            reason = f"The model gives the same answer for every row: it never says {label!r}."
        return Diagnosis(reason, None, None, needed, (), (), 0)
    miss, chance, broken = _closest(call, row)
    start = f"No counterfactual was found for {label!r}."
    near = "" if chance is None else f" The closest candidate reaches {chance:.0%} of {needed:.0%}."
    if broken:
        near += f" It breaks the rule '{broken[0]}'."
    if blockers:
        ways = " or ".join(each.relaxation for each in blockers[:3])
        cause = f" There is one {ways}."
    elif tried:
        cause = f" None was found with any single limit lifted either ({tried} were tried)."
    else:
        cause = " What blocks it was not searched, to bound the time."
    return Diagnosis(start + near + cause, miss, chance, needed, broken, tuple(blockers), tried)


def _closest(call: "Call", row: int) -> tuple[dict[str, Any] | None, float | None, tuple[str, ...]]:
    """Return the nearest miss in raw units, its probability and the rules that it breaks."""
    item = call.items[row]
    if item.miss is None:
        return None, None, ()
    rows = item.miss[None]
    chance = float(call.fitted.classifier.predict_proba(rows)[0, item.target])
    broken = []
    for rule, mechanisms in (*call.fitted.rules, *call.rules):
        if not bool(rule.holds(item.factual[None], rows, mechanisms)[0]):
            broken.append(rule.text)
    raw = call.fitted.codec.raw(rows)[0]
    values = {
        feature.name: float(raw[at])
        if isinstance(feature, Continuous)
        else (feature.levels[int(raw[at])] if raw[at] >= 0 else None)
        for at, feature in enumerate(call.fitted.codec.schema)
    }
    return values, chance, tuple(broken)


def _constant(fitted: Fitted) -> bool:
    """Whether the model answers the same for all of a sample of training rows."""
    chances = fitted.classifier.predict_proba(fitted.rows[:1000])
    return bool((chances == chances[0]).all())
