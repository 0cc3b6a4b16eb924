"""Limits lifted one at a time, to see which of them stands in the way."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from proce.explanation import done_by_hand
from proce.explanation.words.cells import plain_value
from proce.methods.calls.options import Options
from proce.methods.fitting.fitted import FittedParts
from proce.schema import Action, Continuous

_QUICK_POPULATION = 60  # candidates of a search with a limit lifted
_RESTRICTED = (Action.INCREASE, Action.DECREASE, Action.FIXED, Action.INDIRECT)


@dataclass(frozen=True, eq=False)
class LiftedLimit:
    """A limit that is lifted, and what to search with instead.

    Attributes
    ----------
    kind, name
        The limit that was lifted, as in a :class:`~proce.explanation.Blocker`.
    fitted, options
        The fitted parts and the options without the limit.
    """

    kind: str
    name: str
    fitted: FittedParts
    options: Options

    def relaxation(
        self, row: Tensor, changes: Tensor, probability: float, vary: tuple[str, ...]
    ) -> str:
        """Return in words how far the limit must give way for a counterfactual to be allowed.

        Parameters
        ----------
        row, changes
            ``(f,)``, a counterfactual without the limit, and what became of each cell.
        probability
            The probability of the target for the counterfactual.
        vary
            The names that the call lets vary.
        """
        schema, by_hand = self.fitted.codec.schema, done_by_hand(changes)
        match self.kind:
            case "rule":
                return f"without the rule '{self.name}'"
            case "search":
                return "if it need not hold when the equations are fitted again"
            case "vary":
                acted_on = torch.nonzero(by_hand).flatten().tolist()
                names = [schema.names[position] for position in acted_on]
                more = [name for name in names if name not in vary]
                return f"if {' and '.join(more)} may vary too"
            case "max_changes":
                return f"with {int(by_hand.sum())} changes"
            case "min_probability":
                return f"with a probability of {probability:.0%}"
        position = schema.position(self.name)
        feature = schema.features[position]
        value = plain_value(feature, self.fitted.codec.to_raw(row)[position].item())
        text = f"{value:,.6g}" if isinstance(feature, Continuous) else repr(value)
        verb = "reach" if self.kind == "range" else "become"
        return f"with {self.name} allowed to {verb} {text}"


def lift_limits(fitted: FittedParts, options: Options) -> Iterator[LiftedLimit]:
    """Yield every limit of an explainer and a call, each lifted alone; likely blockers first."""
    fitted = _with_quick_search(fitted)
    yield from _lift_rules(fitted, options)
    yield from _lift_options(fitted, options)
    yield from _lift_schema_limits(fitted, options)
    if fitted.refits is not None:
        yield LiftedLimit("search", "n_refits", replace(fitted, refits=None), options)


def _with_quick_search(fitted: FittedParts) -> FittedParts:
    settings = fitted.settings
    quick = replace(
        settings,
        population_size=min(_QUICK_POPULATION, settings.population_size),
        n_offspring=min(_QUICK_POPULATION, settings.n_offspring),
    )
    return replace(fitted, settings=quick)


def _lift_rules(fitted: FittedParts, options: Options) -> Iterator[LiftedLimit]:
    for index, (rule, _) in enumerate(fitted.rules):
        others = fitted.rules[:index] + fitted.rules[index + 1 :]
        yield LiftedLimit("rule", rule.text, replace(fitted, rules=others), options)
    for index, text in enumerate(options.rules):
        texts = options.rules[:index] + options.rules[index + 1 :]
        yield LiftedLimit("rule", text, fitted, replace(options, rules=texts))


def _lift_options(fitted: FittedParts, options: Options) -> Iterator[LiftedLimit]:
    ranges = options.ranges or {}
    for name in ranges:
        others = {other: limits for other, limits in ranges.items() if other != name}
        yield LiftedLimit("range", name, fitted, replace(options, ranges=others))
    if options.vary is not None:
        yield LiftedLimit("vary", "", fitted, replace(options, vary=None))
    if options.max_changes is not None:
        yield LiftedLimit("max_changes", "", fitted, replace(options, max_changes=None))
    if options.min_probability is not None:
        yield LiftedLimit("min_probability", "", fitted, replace(options, min_probability=None))


def _lift_schema_limits(fitted: FittedParts, options: Options) -> Iterator[LiftedLimit]:
    schema = fitted.codec.schema
    for feature in schema:
        if feature.action in _RESTRICTED:
            freed = fitted.with_schema(schema.edit(feature.name, action=Action.FREE))
            vary = None if options.vary is None else (*options.vary, feature.name)
            yield LiftedLimit(
                feature.action.value, feature.name, freed, replace(options, vary=vary)
            )
    for feature in schema:
        if isinstance(feature, Continuous) and feature.range is not None:
            low, high = feature.range
            lower = max(2 * low - high, 0.0) if low >= 0 else 2 * low - high  # no debt below 0
            wider = schema.edit(feature.name, range=(lower, 2 * high - low))
            yield LiftedLimit("range", feature.name, fitted.with_schema(wider), options)
