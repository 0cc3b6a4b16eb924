"""The options of ``explain``, each declared once: default, bounds, help and words of errors."""

# Signatures, the command line, the service's requests and the refusals of other methods read what
# they say of an option from here; neither NumPy nor pandas is loaded for it.

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from proce.arguments import MAX_COUNT, brief, check_count, is_listed, is_number, is_truth, is_whole
from proce.errors import SearchError, UnsupportedOption, did_you_mean
from proce.schema.features.action import MAX_EFFORT, MIN_EFFORT

OfferedPick = Literal["closest", "balanced", "typical"]
Pick = Literal["closest", "balanced", "typical", "first"]
CausalMode = Literal["auto", "hard", "soft", "paper", "off"]


@dataclass(frozen=True)
class Bounds:
    """From where to where a number may be; ``above`` itself is too little."""

    above: float | None = None
    least: float | None = None
    most: float | None = None
    whole: bool = False

    def admit(self, value: Any) -> bool:
        """Whether a value is a number, or a whole one, within the bounds."""
        return (
            (is_whole(value) if self.whole else is_number(value))
            and (self.above is None or value > self.above)
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
        )


@dataclass(frozen=True)
class Option:
    """An option of ``explain``."""

    name: str
    help: str  # what it does, for whoever asks
    expected: str  # what a value is, for whoever gave another
    admits: Callable[[Any], bool]  # whether a value is of its kind
    default: Any = None
    bounds: Bounds | None = None  # those of the number, or of the numbers by feature
    choices: tuple[str, ...] = ()  # the words it knows
    by_feature: bool = False  # whether it is a mapping by feature
    unsupported: str | None = None  # what to do about a method that cannot honour it
    is_for_now: bool = False  # whether it belongs to a call that runs at once, and in one piece
    in_requests: bool = True  # whether the service takes it

    def read(self, value: Any) -> Any:
        """Return a value as a call keeps it, or raise a `SearchError`."""
        if isinstance(self.default, tuple) or (self.name == "vary" and value is not None):
            return checked_texts(self.name, value)
        if value is None and self.default is None:
            return None
        if self.bounds is not None and self.bounds.whole and not self.by_feature:
            check_count(self.name, value, SearchError)
        elif not self.admits(value):
            hint = did_you_mean(value, self.choices) if isinstance(value, str) else ""
            raise SearchError(f"{self.name} is {brief(value)}; expected {self.expected}.{hint}")
        return None if self.by_feature and not value else value


def _number(name: str, help: str, expected: str, bounds: Bounds, **more: Any) -> Option:
    return Option(name, help, expected, bounds.admit, bounds=bounds, **more)


def _count(name: str, help: str, **more: Any) -> Option:
    bounds = Bounds(least=1, most=MAX_COUNT, whole=True)
    return _number(name, help, "a whole number from 1 on", bounds, **more)


def _by_feature(name: str, help: str, example: str, **more: Any) -> Option:
    expected = f"{{name: {example}}}, by feature"
    return Option(
        name, help, expected, lambda value: isinstance(value, Mapping), by_feature=True, **more
    )


_OTHER_MODELS = "Leave it out: it looks at no model but its own."
_PICKS = ", ".join(map(repr, get_args(Pick)))

EXPLAIN_OPTIONS = {
    option.name: option
    for option in (
        Option(
            "target",
            "The wanted class; by default the other class of a binary model.",
            "a class of the model",
            lambda value: True,
        ),
        _count("n", "The most counterfactuals of a row.", default=4),
        Option(
            "pick",
            "Which counterfactual is recommended: the closest, a balanced or the most typical one.",
            f"one of {_PICKS}",
            lambda value: isinstance(value, str) and value in get_args(Pick),
            default="closest",
            choices=get_args(Pick),
            unsupported="Leave it out: its counterfactuals come in the order of its paper.",
        ),
        Option(
            "vary",
            "The features that may be acted on; by default all that may move.",
            "a list of texts",
            is_listed,
        ),
        _by_feature(
            "ranges", "Lowest and highest final value by feature, in raw units.", "(0, 100)"
        ),
        _count(
            "max_changes",
            "The most actions and holds of a counterfactual.",
            unsupported="Leave it out, or name the features that may change with vary=[...].",
        ),
        _by_feature(
            "effort",
            f"How hard a change is for this person, by feature, from {MIN_EFFORT:g} to"
            f" {MAX_EFFORT:g}.",
            "2",
            bounds=Bounds(least=MIN_EFFORT, most=MAX_EFFORT),
            unsupported="Leave it out: its distance knows no effort.",
        ),
        _number(
            "min_probability",
            "The least probability of the target; by default the decision threshold plus the margin"
            " of the settings.",
            "more than 0, at most 1",
            Bounds(above=0, most=1),
            unsupported="Leave it out, or raise the threshold: {method}(..., threshold=...).",
        ),
        Option(
            "rules",
            "Further rules, such as 'cf.age >= x.age'.",
            "a list of texts",
            is_listed,
            default=(),
            unsupported="Give the rules to the method itself: {method}(..., reject_by=[...]).",
        ),
        _count(
            "max_evaluations",
            "The most candidates that a search evaluates for each row.",
            in_requests=False,
        ),
        _number(
            "budget_seconds",
            "The time after which the search ends with what it has found.",
            "a positive number of seconds",
            Bounds(above=0),
            is_for_now=True,
        ),
        Option(
            "progress",
            "A function that is called with a Progress; the call ends where it returns False.",
            "a function of a Progress",
            callable,
            is_for_now=True,
            in_requests=False,
        ),
        Option(
            "keep_front",
            "Whether to keep whole Pareto fronts; by default for up to 1,000 rows.",
            "True or False",
            is_truth,
            unsupported="Leave it out: it searches no Pareto front.",
            in_requests=False,
        ),
        Option(
            "causal",
            "How strictly causes are taken: auto, hard, soft, paper or off; by default as fitted.",
            "a word such as 'hard'",
            lambda value: isinstance(value, str),
            choices=get_args(CausalMode),
            unsupported="Leave it out: it knows no causes.",
        ),
        _number(
            "robust",
            "The share of other models, such as 0.95, under which a counterfactual keeps its"
            " class.",
            "more than 0, at most 1: the share of other models under which a counterfactual keeps"
            " its class, such as 0.95",
            Bounds(above=0, most=1),
            unsupported=_OTHER_MODELS,
        ),
        Option(
            "models",
            "The other models, or how many refits of the explainer's own.",
            "a list of fitted models, or how many refits",
            lambda value: True,
            unsupported=_OTHER_MODELS,
            in_requests=False,
        ),
    )
}


def checked_texts(option: str, texts: Iterable[str] | None) -> tuple[str, ...]:
    """Return names or rules as a tuple; a single text in place of a list is refused."""
    if texts is None:
        return ()
    if isinstance(texts, str):
        raise SearchError(f"{option} is {texts!r}; expected a list, such as [{texts!r}].")
    if not is_listed(texts):
        raise SearchError(f"{option} is {brief(texts)}; expected a list of texts.")
    return tuple(texts)


def check_callback(progress: Any) -> None:
    """Refuse a progress callback that cannot be called."""
    EXPLAIN_OPTIONS["progress"].read(progress)


def refuse_options(method: str, options: Mapping[str, object]) -> None:
    """Refuse what was given to a published method beyond its options: `UnsupportedOption`."""
    # What no method knows is a `TypeError`, as for any function.
    for name in options:
        option = EXPLAIN_OPTIONS.get(name)
        if option is None or option.unsupported is None:
            raise TypeError(f"{method}.explain() got an unexpected keyword argument {name!r}")
        raise UnsupportedOption(
            f"{method} cannot honour {name}, which is an option of ProCE."
            f" {option.unsupported.format(method=method)}"
        )
