"""The options of a call, checked before anything is searched."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from torch import Tensor

from proce.classifier import Classifier, position_of
from proce.errors import SchemaError, SearchError, did_you_mean
from proce.methods.explaining.ranking import Pick, checked_pick
from proce.schema import Codec, Level
from proce.schema.feature import shown

FRONTS_KEPT = 1_000  # rows up to which whole fronts are kept unless asked otherwise


@dataclass(frozen=True, eq=False)
class Options:
    """What one call of ``explain`` asks for; see there."""

    target: Level | None = None
    n: int = 4
    pick: Pick = "closest"
    vary: tuple[str, ...] | None = None
    ranges: Mapping[str, Any] | None = None
    max_changes: int | None = None
    effort: Mapping[str, float] | None = None
    min_probability: float | None = None
    rules: tuple[str, ...] = ()
    max_evaluations: int | None = None
    budget_seconds: float | None = None
    keep_front: bool | None = None

    def __post_init__(self) -> None:
        checked_pick(self.pick)
        for name in ("n", "max_changes", "max_evaluations"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name))
        for name in ("ranges", "effort"):
            _check_mapping(name, getattr(self, name))
        least, budget = self.min_probability, self.budget_seconds
        if least is not None and not (_is_number(least) and 0 < least <= 1):
            raise SearchError(f"min_probability is {least!r}; expected more than 0, at most 1.")
        if budget is not None and not (_is_number(budget) and budget > 0):
            raise SearchError(
                f"budget_seconds is {budget!r}; expected a positive number of seconds."
            )
        for name in ("target", "n", "ranges", "max_changes", "effort", "min_probability"):
            object.__setattr__(self, name, _plain(getattr(self, name)))

    def plain(self) -> dict[str, Any]:
        """Return what was asked for, as values that survive JSON."""
        asked = {name: _plain(getattr(self, name)) for name in self.__dataclass_fields__}
        return {name: value for name, value in asked.items() if value not in (None, [], {})}

    def targets(self, predicted: Tensor, classifier: Classifier) -> Tensor:
        """Return the wanted class of each row, ``(i,)``."""
        if self.target is not None:
            return torch.full_like(predicted, position_of(self.target, classifier.classes))
        if len(classifier.classes) != 2:
            raise SearchError(
                f"the model has the classes {shown(classifier.classes)}, and none is 'the other';"
                " say which is wanted with target=."
            )
        return 1 - predicted

    def efforts(self, codec: Codec) -> Tensor:
        """Return how hard a change of each feature is, ``(f,)``."""
        weights = torch.ones(len(codec.schema), dtype=torch.float64)
        for name, weight in (self.effort or {}).items():
            if name not in codec.schema:
                raise SchemaError(
                    f"effort names {name!r}, which is not a feature; the features are"
                    f" {shown(codec.schema.names)}." + did_you_mean(name, codec.schema.names)
                )
            if not (_is_number(weight) and 0.1 <= weight <= 10):
                raise SearchError(
                    f"the effort of {name!r} is {weight!r}; expected 0.5 (easy) to 4 (hard), 1"
                    " being usual."
                )
            weights[codec.schema.position(name)] = weight
        return weights


def checked_texts(option: str, texts: Iterable[str] | None) -> tuple[str, ...]:
    """Return names or rules as a tuple; a single text is a slip."""
    if texts is None:
        return ()
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise SearchError(f"{option} is {texts!r}; expected a list, such as [{texts!r}].")
    return tuple(texts)


def check_count(name: str, value: Any, least: int = 1) -> None:
    """Refuse what is not a whole number from ``least`` on."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not (whole and value >= least):
        raise SearchError(f"{name} is {value!r}; expected a whole number from {least} on.")


def check_above(name: str, value: Any, least: float, advice: str = "") -> None:
    """Refuse what is not a finite number above ``least``."""
    if not (_is_number(value) and least < value < float("inf")):
        raise SearchError(f"{name} is {value!r}; expected a number above {least:g}{advice}.")


def _check_mapping(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, Mapping):
        example = "(0, 100)" if name == "ranges" else "2"
        raise SearchError(f"{name} is {value!r}; expected {{name: {example}}}, by feature.")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _plain(value: Any) -> Any:
    """Return a value, or the values in a collection, as JSON can hold them."""
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value
