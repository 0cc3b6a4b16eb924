"""Every function, class and method that people can call, found by introspection."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

import proce
from proce import methods
from proce.causal import Additive, Choice, Multiplicative, Ordered, Ranked
from proce.explanation.tables.reasons import Reasons
from proce.latent import AutoEncoderSettings, VariationalSettings
from proce.training_settings import TrainingSettings

_FOR_MEASURES = ("Evaluation.of",)  # takes what only the measures make
_FOR_SEARCHES = (  # by position and column, without checks
    "StructuralCausalModel.check_given",
    "StructuralCausalModel.is_known",
    "StructuralCausalModel.kept_chances",
    "StructuralCausalModel.unknown_noise",
    "StructuralCausalModel.noise_of",
    "StructuralCausalModel.outcome",
    "StructuralCausalModel.program_of",
)
_RETURNED = {"Reasons": Reasons}  # what public calls return: people call its methods only
# What people make to give to public calls: equations of their own, and how networks learn.
_GIVEN: tuple[type, ...] = (
    Additive,
    AutoEncoderSettings,
    Choice,
    Multiplicative,
    Ordered,
    Ranked,
    TrainingSettings,
    VariationalSettings,
)
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
    """Return everything that can be called with an argument, each once.

    What several classes share is called on ProCE, or on Nearest.
    """
    values = {name: getattr(proce, name) for name in proce.__all__}
    values |= {name: getattr(methods, name) for name in methods.__all__}
    order = sorted(values, key=lambda name: (name != "ProCE", name != "Nearest", name))
    calls = [call for name in order for call in _calls_of(name, values[name])]
    calls += [call for name, kind in _RETURNED.items() for call in _methods_of(name, kind)]
    calls += [_call(kind.__name__, kind) for kind in _GIVEN]
    different = {_code_of(call.function): call for call in reversed(calls)}
    return tuple(call for call in reversed(different.values()) if call.parameters)


def _calls_of(name: str, value: Any) -> Iterator[PublicCall]:
    if inspect.isfunction(value):
        yield _call(name, value)
    if not isinstance(value, type) or issubclass(value, BaseException | Enum):
        return
    if not getattr(value, "_is_protocol", False):
        yield _call(name, value)
    yield from _methods_of(name, value)


def _methods_of(name: str, value: type) -> Iterator[PublicCall]:
    for member in dir(value):
        found = inspect.getattr_static(value, member)
        is_function = inspect.isfunction(found) or isinstance(found, classmethod | staticmethod)
        if is_function and (not member.startswith("_") or member in _OPERATORS):
            function = getattr(value, member)
            ours = str(function.__module__).startswith("proce.")
            full = f"{name}.{member}"
            if ours and full not in (*_FOR_MEASURES, *_FOR_SEARCHES):
                yield _call(full, function, inspect.isfunction(found))


def _code_of(function: Callable[..., Any]) -> Any:
    """Return what runs when a function, a method or a class is called."""
    made = function.__init__ if isinstance(function, type) else function
    return inspect.unwrap(getattr(made, "__func__", made))


def _call(name: str, function: Callable[..., Any], needs_instance: bool = False) -> PublicCall:
    parameters = tuple(inspect.signature(function).parameters.values())
    return PublicCall(name, function, parameters[needs_instance:], needs_instance)
