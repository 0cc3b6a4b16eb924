"""Every function, class and method that people can call, found by introspection."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

import proce
from proce import methods
from proce.causal.models.columnwise import ColumnEquations

_FOR_MEASURES = ("Evaluation.of",)  # takes what only the measures make
_OPERATORS = ("__getitem__", "__contains__")


@dataclass(frozen=True)
class PublicCall:
    """Something public that takes arguments.

    Attributes
    ----------
    name
        ``evaluate``, ``ProCE`` for its constructor, ``ProCE.explain``.
    function
        What is called; the method of an instance takes ``self``.
    parameters
        The names of its parameters, without ``self``; of ``*edges`` and ``**options`` too.
    needs_instance
        Whether it is a method of an instance.
    """

    name: str
    function: Callable[..., Any]
    parameters: tuple[inspect.Parameter, ...]
    needs_instance: bool


def public_calls() -> tuple[PublicCall, ...]:
    """Return everything that can be called with an argument, each once."""
    values = {name: getattr(proce, name) for name in proce.__all__}
    values |= {name: getattr(methods, name) for name in methods.__all__}
    calls = (call for name in sorted(values) for call in _calls_of(name, values[name]))
    return tuple(call for call in calls if call.parameters)


def _calls_of(name: str, value: Any) -> Iterator[PublicCall]:
    if inspect.isfunction(value):
        yield _call(name, value)
    if not isinstance(value, type) or issubclass(value, BaseException | Enum):
        return
    if not getattr(value, "_is_protocol", False):
        yield _call(name, value)
    for member in dir(value):
        found = inspect.getattr_static(value, member)
        is_function = inspect.isfunction(found) or isinstance(found, classmethod | staticmethod)
        if is_function and (not member.startswith("_") or member in _OPERATORS):
            function = getattr(value, member)
            if str(function.__module__).startswith("proce.") and not hasattr(
                ColumnEquations, member
            ):
                yield _call(f"{name}.{member}", function, inspect.isfunction(found))


def _call(name: str, function: Callable[..., Any], needs_instance: bool = False) -> PublicCall:
    parameters = tuple(inspect.signature(function).parameters.values())
    return PublicCall(name, function, parameters[needs_instance:], needs_instance)
