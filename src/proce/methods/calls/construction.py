"""Checks of what a method was made with: when it is fitted, and whether that changed since."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from inspect import signature
from typing import Any

from sklearn.base import BaseEstimator

from proce.arguments import brief, kind_name
from proce.classifier import position_of
from proce.errors import ModelError, NotFittedError, SchemaError, SearchError, did_you_mean
from proce.schema import Level, Schema
from proce.schema.features.brief import MAX_WIDTH
from proce.schema.features.naming import checked_words
from proce.schema.features.numerals import counted
from proce.streams import check_seed

_MAX_PARAMETER_LENGTH = 80  # characters of a parameter at a prompt


def check_construction(schema: Any, settings: Any, settings_type: type, seed: Any) -> None:
    """Refuse a schema, settings or a seed that a method cannot be made with."""
    if schema is not None and not isinstance(schema, Schema):
        raise SchemaError(
            f"schema is {kind_name(schema)}; expected proce.Schema([...]), or None to infer"
            " it from the frame."
        )
    if not isinstance(settings, settings_type):
        raise SearchError(
            f"settings is {kind_name(settings)}; expected {settings_type.__name__}(...)."
        )
    check_seed(seed)


def checked_class_labels(labels: Any, classes: Sequence[Level]) -> dict[Level, str]:
    """Return the words for some of a model's classes, by class, in the order of the classes."""
    if labels is None:
        return {}
    if not isinstance(labels, Mapping):
        raise ModelError(
            f"classes is {brief(labels)}; expected words by class, such as"
            f" {{{classes[0]!r}: 'words'}}."
        )
    words = {
        position_of(label, classes): checked_words(f"classes: the label of {label!r}", text)
        for label, text in labels.items()
    }
    if len(set(words.values())) < len(words):
        raise ModelError("classes gives two classes the same words; give each its own.")
    return {classes[position]: words[position] for position in sorted(words)}


def shown_parameters(method: BaseEstimator) -> str:
    """Return how a method was made: the parameters that are not as by default, in brief."""
    values = method.get_params(deep=False)
    parts = [
        f"{name}={_in_brief(values[name])}"
        for name, parameter in signature(type(method).__init__).parameters.items()
        if name in values and not _same(parameter.default, values[name])
    ]
    line = f"{type(method).__name__}({', '.join(parts)})"
    if len(line) <= MAX_WIDTH:
        return line
    return "\n".join([f"{type(method).__name__}(", *(f"    {part}," for part in parts), ")"])


def _in_brief(value: Any) -> str:
    """Return a parameter on one line; of what is long its kind and its size."""
    try:
        line = " ".join(repr(value).split())
    except Exception:  # a model is the caller's, and so is how it is written
        return f"{type(value).__name__}(…)"
    if len(line) <= _MAX_PARAMETER_LENGTH:
        return line
    if isinstance(value, list | tuple | dict):
        return f"<{type(value).__name__} of {len(value):,}>"
    size = counted(len(value), "feature") if isinstance(value, Schema) else "…"
    return f"{type(value).__name__}({size})"


def require_parameters(method: BaseEstimator, names: Iterable[str]) -> None:
    """Refuse names of parameters that a method does not have."""
    known = method.get_params(deep=True)
    for name in names:
        if name not in known:
            own = method.get_params(deep=False)
            raise SearchError(
                f"{type(method).__name__} has no parameter {name!r}; its parameters are"
                f" {', '.join(own)}." + did_you_mean(name, list(own))
            )


def changed_parameters(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the names of the parameters that are not what they were."""
    return [name for name, value in now.items() if not _same(before.get(name), value)]


def require_fit(method: str, changed: Sequence[str]) -> None:
    """Refuse to go on with what was fitted under other values of some parameters."""
    if not changed:
        return
    named = " and ".join(filter(None, [", ".join(changed[:-1]), changed[-1]]))
    raise NotFittedError(
        f"{named} of this {method} {'were' if len(changed) > 1 else 'was'} set after the fit, and"
        " can take effect only by another: call .fit(X) again."
    )


def _same(one: Any, other: Any) -> bool:
    """Whether two values of a parameter are the same; a model is compared as an object."""
    if one is other:
        return True
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    has_value = isinstance(one, str | int | float | Schema) or is_dataclass(one)
    return has_value and type(one) is type(other) and bool(one == other)
