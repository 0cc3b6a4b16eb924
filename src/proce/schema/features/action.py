"""How a feature may move."""

from enum import StrEnum

from proce.errors import SchemaError, did_you_mean

MIN_EFFORT, MAX_EFFORT = 0.1, 10.0  # how hard a change is; 1 is usual


class Action(StrEnum):
    """How a feature may move.

    ``free``, ``increase`` and ``decrease`` can be acted on. ``indirect`` is never acted on
    or held: it moves only as a consequence of something else. ``waits`` is time: it rises by
    waiting, together with all other such features, and is not something one does. ``fixed`` never
    moves. Edges into what waits or is fixed are cut for that person, and the result says so.
    """

    FREE = "free"
    INCREASE = "increase"
    DECREASE = "decrease"
    WAITS = "waits"
    INDIRECT = "indirect"
    FIXED = "fixed"

    @property
    def is_possible(self) -> bool:
        """Whether a person can act on a feature, or hold it."""
        return self in (Action.FREE, Action.INCREASE, Action.DECREASE)

    @property
    def has_no_causes(self) -> bool:
        """Whether edges into a feature are cut: nothing moves it, or time alone."""
        return self in (Action.FIXED, Action.WAITS)

    @classmethod
    def _missing_(cls, value: object) -> "Action":
        known = [action.value for action in cls]
        raise SchemaError(
            f"unknown action {value!r}; expected one of {', '.join(known)}."
            + did_you_mean(value, known)
        )
