"""The features of a row, and how a person may act on each."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from proce.errors import SchemaError
from proce.schema.features.action import MAX_EFFORT, MIN_EFFORT
from proce.schema.features.action import Action as Action
from proce.schema.features.brief import brief_repr
from proce.schema.features.checks import (
    check_name,
    checked_action,
    checked_columns,
    checked_range,
    finite_number,
)
from proce.schema.features.levels import Level, checked_avoid, checked_labels, checked_levels
from proce.schema.features.naming import checked_unit, checked_words
from proce.schema.features.time_units import time_unit

MIN_CHANGE = 1e-3  # of the range: what a number without a step is told to; half of it is none


@dataclass(frozen=True, slots=True, repr=False)
class Continuous:
    """A number.

    Parameters
    ----------
    name
        The column's name.
    range
        The permitted values ``(low, high)`` in raw units, ends included; ``None`` leaves
        the limits to the training rows.
    step
        Values are shown as multiples of it: 1 for whole numbers, 100 for round dollars.
        ``None`` for any value.
    action
        How the feature may move.
    label
        The feature's name for people; ``None`` splits the column's name into words.
    unit
        What stands beside a number: ``$`` before it, ``months`` behind it; see
        :func:`proce.schema.features.naming.with_unit`.
    effort
        How hard a change usually is, from 0.1 (easy) to 10 (hard); a call may say otherwise.
    protected
        Whether nobody is advised about it: it is never acted on or held, and only an auditor's
        view shows it.
    """

    name: str
    range: tuple[float, float] | None = None
    step: float | None = None
    action: Action = Action.FREE
    _: KW_ONLY
    label: str | None = None
    unit: str | None = None
    effort: float = 1.0
    protected: bool = False

    def __post_init__(self) -> None:
        _check_common(self)
        if self.range is not None:
            object.__setattr__(self, "range", checked_range(self.name, self.range))
        if self.step is not None:
            step = finite_number(self.name, "step", self.step)
            if step <= 0:
                raise SchemaError(
                    f"feature {self.name!r}: step is {step:g}; expected a positive number,"
                    " such as 1 for whole numbers. Use step=None for any value."
                )
            object.__setattr__(self, "step", step)
        if self.action is Action.WAITS and time_unit(self.unit) is None:
            raise SchemaError(
                f"feature {self.name!r} waits, and its unit is {self.unit!r}; expected a unit of"
                " time: years, months, weeks or days. Without a unit it is counted in years."
            )

    @property
    def integer(self) -> bool:
        """Whether all values are whole numbers."""
        return self.step is not None and float(self.step).is_integer()

    @property
    def columns(self) -> tuple[str, ...]:
        """The frame columns that hold this feature."""
        return (self.name,)

    @property
    def can_be_acted_on(self) -> bool:
        """Whether a person can act on the feature, or hold it."""
        return self.action.is_possible and not self.protected

    @property
    def kind(self) -> str:
        """The word for this type in tables and JSON."""
        return "continuous"

    def __repr__(self) -> str:
        return brief_repr(self, "name")


@dataclass(frozen=True, slots=True, repr=False)
class Ordinal:
    """Levels with an order, the lowest first; ``action="increase"`` means towards the last.

    Parameters
    ----------
    name
        The column's name.
    levels
        All permitted values.
    action
        How the feature may move.
    label
        The feature's name for people; ``None`` splits the column's name into words.
    unit
        What stands beside a number: ``$`` before it, ``months`` behind it; see
        :func:`proce.schema.features.naming.with_unit`.
    effort
        How hard a change usually is, from 0.1 (easy) to 10 (hard); a call may say otherwise.
    protected
        Whether nobody is advised about it: it is never acted on or held, and only an auditor's
        view shows it.
    labels
        Words for some of the levels, by level.
    avoid
        Levels that are never advised, such as ``"unemployed"``; who has one may keep it.
    """

    name: str
    levels: tuple[Level, ...]
    action: Action = Action.FREE
    _: KW_ONLY
    label: str | None = None
    unit: str | None = None
    effort: float = 1.0
    protected: bool = False
    labels: Mapping[Any, str] = field(default_factory=dict, hash=False)
    avoid: tuple[Level, ...] = ()

    def __post_init__(self) -> None:
        _check_common(self)
        _check_levels(self)
        _refuse_waiting(self)

    @property
    def columns(self) -> tuple[str, ...]:
        """The frame columns that hold this feature."""
        return (self.name,)

    @property
    def can_be_acted_on(self) -> bool:
        """Whether a person can act on the feature, or hold it."""
        return self.action.is_possible and not self.protected

    @property
    def kind(self) -> str:
        """The word for this type in tables and JSON."""
        return "ordinal"

    def __repr__(self) -> str:
        return brief_repr(self, "name", "levels")


@dataclass(frozen=True, slots=True, repr=False)
class Categorical:
    """Levels without an order, in one column or one-hot over several that move together.

    Parameters
    ----------
    name
        The feature's name; the column's too, unless it is one-hot.
    levels
        All permitted values.
    action
        ``free``, ``indirect`` or ``fixed``: without an order nothing can increase.
    one_hot
        For a one-hot feature, the column of each level, in the order of ``levels``.
    label
        The feature's name for people; ``None`` splits the column's name into words.
    unit
        What stands beside a number: ``$`` before it, ``months`` behind it; see
        :func:`proce.schema.features.naming.with_unit`.
    effort
        How hard a change usually is, from 0.1 (easy) to 10 (hard); a call may say otherwise.
    protected
        Whether nobody is advised about it: it is never acted on or held, and only an auditor's
        view shows it.
    labels
        Words for some of the levels, by level.
    avoid
        Levels that are never advised, such as ``"unemployed"``; who has one may keep it.
    """

    name: str
    levels: tuple[Level, ...]
    action: Action = Action.FREE
    one_hot: tuple[str, ...] = ()
    _: KW_ONLY
    label: str | None = None
    unit: str | None = None
    effort: float = 1.0
    protected: bool = False
    labels: Mapping[Any, str] = field(default_factory=dict, hash=False)
    avoid: tuple[Level, ...] = ()

    def __post_init__(self) -> None:
        _check_common(self)
        _check_levels(self)
        object.__setattr__(self, "one_hot", checked_columns(self.name, self.one_hot))
        _refuse_waiting(self)
        if self.action in (Action.INCREASE, Action.DECREASE):
            raise SchemaError(
                f"feature {self.name!r}: {self.action.value!r} needs an order, and a categorical"
                " feature has none. Declare it Ordinal, or choose free, indirect or fixed."
            )
        if self.one_hot and len(self.one_hot) != len(self.levels):
            raise SchemaError(
                f"feature {self.name!r}: {len(self.one_hot)} one-hot columns for"
                f" {len(self.levels)} levels; expected one column per level, in the same order."
            )
        if len(set(self.one_hot)) != len(self.one_hot):
            raise SchemaError(
                f"feature {self.name!r}: a one-hot column is named twice; name each once."
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """The frame columns that hold this feature."""
        return self.one_hot or (self.name,)

    @property
    def can_be_acted_on(self) -> bool:
        """Whether a person can act on the feature, or hold it."""
        return self.action.is_possible and not self.protected

    @property
    def kind(self) -> str:
        """The word for this type in tables and JSON."""
        return "categorical"

    def __repr__(self) -> str:
        return brief_repr(self, "name", "levels")


Feature = Continuous | Ordinal | Categorical


def _check_common(feature: Feature) -> None:
    """Check what every type of feature has, and keep it in its plain form."""
    check_name(feature.name)
    name, label, unit = feature.name, feature.label, feature.unit
    effort = finite_number(name, "effort", feature.effort)
    if not MIN_EFFORT <= effort <= MAX_EFFORT:
        raise SchemaError(
            f"feature {name!r}: effort is {effort:g}; expected {MIN_EFFORT:g} (easy) to"
            f" {MAX_EFFORT:g} (hard), 1 being usual."
        )
    if not isinstance(feature.protected, bool):
        raise SchemaError(
            f"feature {name!r}: protected is {feature.protected!r}; expected true or false."
        )
    plain = {
        "action": checked_action(name, feature.action),
        "label": None if label is None else checked_words(f"feature {name!r}: label", label),
        "unit": None if unit is None else checked_unit(name, unit),
        "effort": effort,
    }
    for field_name, value in plain.items():
        object.__setattr__(feature, field_name, value)


def _refuse_waiting(feature: "Ordinal | Categorical") -> None:
    if feature.action is Action.WAITS:
        raise SchemaError(
            f"feature {feature.name!r}: only a number can wait, and this feature has levels."
            " Declare it Continuous, or choose another action."
        )


def _check_levels(feature: "Ordinal | Categorical") -> None:
    """Check the levels and what is said of them, and keep it in its plain form."""
    levels = checked_levels(feature.name, feature.levels)
    object.__setattr__(feature, "levels", levels)
    object.__setattr__(feature, "labels", checked_labels(feature.name, levels, feature.labels))
    object.__setattr__(feature, "avoid", checked_avoid(feature.name, levels, feature.avoid))
