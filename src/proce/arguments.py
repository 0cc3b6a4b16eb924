"""Arguments are checked against the annotations of the parameters that take them.

An annotation is a promise to the reader; here it is one to the caller too. What is of another kind
is refused with the name of the parameter, the value and what was expected, before any work begins.
Kinds are shallow: whether a value of the right kind makes sense, and what a list or a mapping may
hold, is for the function itself to say.
"""

import inspect
import math
import sys
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache, wraps
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from proce.errors import ProceError

Given = ParamSpec("Given")
Returned = TypeVar("Returned")
MAX_COUNT = 10**9  # what can be counted in the memory of a machine
MIN_EFFORT, MAX_EFFORT = 0.1, 10.0  # how hard a change of a feature is; 1 is usual
_MAX_CHARACTERS = 60  # of a value in a message


class Kind:
    """What values an annotation admits, and the words for them."""

    def __init__(self, admits: Callable[[Any], bool], words: str) -> None:
        self.admits, self.words = admits, words

    def check(self, name: str, value: Any, error: type[ProceError]) -> None:
        """Refuse a value that is not of this kind."""
        if not self.admits(value):
            raise error(f"{name} is {brief(value)}; expected {self.words}.")


def checked(
    error: type[ProceError],
) -> Callable[[Callable[Given, Returned]], Callable[Given, Returned]]:
    """Return a decorator that refuses arguments of another kind than a function's annotations."""

    def decorate(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
        @wraps(function)
        def call(*args: Given.args, **kwargs: Given.kwargs) -> Returned:
            positional, by_name = _kinds_of_parameters(function)
            for (name, kind), value in zip(positional, args, strict=False):
                if kind is not None:
                    kind.check(name, value, error)
            for name, value in kwargs.items():
                kind = by_name.get(name)
                if kind is not None:
                    kind.check(name, value, error)
            return function(*args, **kwargs)

        return call

    return decorate


def check_fields(record: object, error: type[ProceError]) -> None:
    """Refuse a dataclass of which a field is of another kind than its annotation."""
    made: Any = type(record)
    for name, kind in _kinds_of_fields(made):
        kind.check(name, getattr(record, name), error)


def check_count(
    name: str, value: Any, error: type[ProceError], minimum: int = 1, maximum: int = MAX_COUNT
) -> None:
    """Refuse what is not a whole number from ``minimum`` to ``maximum``."""
    if is_whole(value) and minimum <= value <= maximum:
        return
    is_large = is_whole(value) and value > maximum
    ends = f"from {minimum} to {maximum:,}" if is_large else f"from {minimum} on"
    raise error(f"{name} is {brief(value)}; expected a whole number {ends}.")


def check_between(
    name: str, value: Any, error: type[ProceError], low: float, high: float = math.inf
) -> None:
    """Refuse what is not a finite number from ``low`` to ``high``."""
    if is_number(value) and low <= value <= high and value < math.inf:
        return
    ends = f"{low:g} or more" if high == math.inf else f"{low:g} to {high:g}"
    raise error(f"{name} is {brief(value)}; expected {ends}.")


def brief(value: Any) -> str:
    """Return a value as it is written in code, cut where it is long; a plain object by its type."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # the value is the caller's, and so is how it is written
        text = ""
    if not text or " at 0x" in text or isinstance(value, type):
        name = value.__name__ if isinstance(value, type) else type(value).__name__
        return f"the type {name}" if isinstance(value, type) else f"an object of type {name}"
    return text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"


def kind_name(value: Any) -> str:
    """Return the type of a value in words: ``a list``, ``an int``, or ``None`` for nothing."""
    return "None" if value is None else with_article(type(value).__name__)


def with_article(name: str) -> str:
    """Return a name with its article: ``a list``, ``an int``; ``an ndarray`` as it is spoken."""
    return f"{'an' if name.startswith((*'aeiouAEIO', 'nd')) else 'a'} {name}"


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number; a truth value is none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether a value is a number, whole or not, finite or not; a truth value is none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_truth(value: Any) -> bool:
    """Whether a value is True or False, of Python or of NumPy."""
    numpy = sys.modules.get("numpy")  # without which nobody has a value of its kind
    return isinstance(value, bool) or (numpy is not None and isinstance(value, numpy.bool_))


@cache
def _kinds_of_parameters(
    function: Any,
) -> tuple[list[tuple[str, Kind | None]], dict[str, Kind | None]]:
    """Return the kinds of a function's arguments, by place and by name."""
    parameters = inspect.signature(function).parameters.values()
    kinds = {p.name: _kind_of_written(p.annotation, function.__globals__) for p in parameters}
    positional = [(p.name, kinds[p.name]) for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    return positional, kinds


@cache
def _kinds_of_fields(record: Any) -> list[tuple[str, Kind]]:
    names = vars(sys.modules[record.__module__])
    kinds = ((own.name, _kind_of_written(own.type, names)) for own in fields(record) if own.init)
    return [(name, kind) for name, kind in kinds if kind is not None]


def _kind_of_written(annotation: Any, names: dict[str, Any]) -> Kind | None:
    """Return the kind of an annotation that may be written as text.

    A text that only a type checker can read admits everything.
    """
    if isinstance(annotation, str):
        try:
            holder = SimpleNamespace(__annotations__={"own": annotation})
            annotation = get_type_hints(holder, names, include_extras=True)["own"]
        except (NameError, TypeError):
            return None
    return None if annotation is inspect.Parameter.empty else kind_of(annotation)


def kind_of(annotation: Any) -> Kind | None:
    """Return what an annotation admits; ``None`` where it admits everything."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return next((note for note in args[1:] if isinstance(note, Kind)), kind_of(args[0]))
    if isinstance(annotation, Hashable) and annotation in _PLAIN:
        return _PLAIN[annotation]
    if origin in (Union, UnionType):
        kinds = [kind_of(part) for part in args]
        return None if None in kinds else _any_of([kind for kind in kinds if kind is not None])
    if origin is Literal:
        return _choice(args)
    if origin in (tuple, list, Sequence):
        return Kind(_is_list, "a list")
    if origin is Iterable:
        return Kind(is_listed, "a list")
    known = origin or annotation
    if known is Mapping:
        return Kind(lambda value: isinstance(value, Mapping), "a mapping, such as {name: value}")
    if known is Callable:
        return Kind(callable, "a function")
    if known in (Path, PathLike):
        return None  # proce.paths says what is wrong with one
    if isinstance(known, type) and not _is_protocol(known):
        return Kind(lambda value: isinstance(value, known), with_article(known.__name__))
    return None


def _any_of(kinds: Sequence[Kind]) -> Kind:
    words = [kind.words for kind in kinds]
    return Kind(lambda value: any(kind.admits(value) for kind in kinds), _or(words))


def _choice(values: tuple[Any, ...]) -> Kind:
    """Return the kind of some words; which of them it knows is for the function itself to say."""

    def admits(value: Any) -> bool:
        return any(isinstance(value, type(known)) for known in values)

    return Kind(admits, _or([repr(value) for value in values]))


def is_listed(value: Any) -> bool:
    """Whether a value holds others one after another; a text or a mapping does not."""
    if isinstance(value, str | bytes | Mapping) or getattr(value, "ndim", 1) == 0:
        return False
    return isinstance(value, Iterable)


def _is_list(value: Any) -> bool:
    return is_listed(value) and hasattr(value, "__len__")


def _is_protocol(known: type) -> bool:
    """Whether a type is a protocol that cannot be asked whether something keeps to it."""
    checkable = getattr(known, "_is_runtime_protocol", False)
    return bool(getattr(known, "_is_protocol", False)) and not checkable


def _or(words: Sequence[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


_PLAIN: dict[Any, Kind | None] = {
    Any: None,
    object: None,
    NoneType: Kind(lambda value: value is None, "None"),
    bool: Kind(is_truth, "True or False"),
    int: Kind(is_whole, "a whole number"),
    float: Kind(is_number, "a number"),
    str: Kind(lambda value: isinstance(value, str), "a text"),
}


def _draws(value: Any) -> bool:
    return value is None or (hasattr(value, "get_figure") and hasattr(value, "set_axis_off"))


MaybeAxes = Annotated[Any, Kind(_draws, "the axes of a matplotlib figure, or None for new ones")]
