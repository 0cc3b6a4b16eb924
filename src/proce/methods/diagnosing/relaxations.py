"""How far a limit must give way, in words and for a program; each kind has its own wording."""

import numpy as np

from proce.arrays import Array
from proce.explanation import done_by_hand
from proce.explanation.words.cells import plain_value
from proce.explanation.words.values import joined, name_text, percent, value_text
from proce.methods.diagnosing.lifted_limits import LiftedLimit
from proce.schema import Codec, Level
from proce.schema.features.numerals import counted

_MAX_NAMES = 6  # features that may vary too


def relaxation_of(
    limit: LiftedLimit,
    codec: Codec,
    row: Array,
    changes: Array,
    probability: float,
    vary: tuple[str, ...],
) -> tuple[str, Level | tuple[str, ...] | None]:
    """Return how far a limit must give way for a counterfactual to be allowed, and as a value.

    The two are the ``relaxation`` and the ``value`` of a :class:`~proce.explanation.Blocker`.

    Parameters
    ----------
    limit
        The limit.
    codec
        The features and their scale.
    row, changes
        ``(f,)``, a counterfactual without the limit, and what became of each cell.
    probability
        The probability of the target for the counterfactual.
    vary
        The names that the call lets vary.
    """
    by_hand = np.flatnonzero(done_by_hand(changes)).tolist()
    match limit.kind:
        case "rule":
            return f"without the rule '{limit.name}'", None
        case "search":
            return "if it need not hold when the equations are fitted again", None
        case "vary":
            acted_on = [codec.schema.features[position] for position in by_hand]
            more = [feature for feature in acted_on if feature.name not in vary]
            words = joined([name_text(feature) for feature in more], _MAX_NAMES)
            return f"if {words} may vary too", tuple(feature.name for feature in more)
        case "max_changes":
            return f"with {counted(len(by_hand), 'change')}", len(by_hand)
        case "min_probability":
            return f"with a probability of {percent(probability)}", probability
        case "robust":
            return "if it need not hold under other models", None
    position = codec.schema.position(limit.name)
    feature, span = codec.schema.features[position], codec.span[position].item()
    raw = codec.to_raw(row)[position].item()
    text = _text_of_feature(limit.kind, name_text(feature), value_text(feature, raw, span))
    return text, plain_value(feature, raw)


def _text_of_feature(kind: str, name: str, value: str) -> str:
    match kind:
        case "range":
            return f"with {name} allowed to reach {value}"
        case "increase":
            return f"if {name} could also fall to {value}"
        case "decrease":
            return f"if {name} could also rise to {value}"
        case "fixed":
            return f"if {name} were not fixed, but {value}"
        case "protected":
            return f"if {name}, which is protected, were {value}"
        case "indirect":
            return f"if {name}, which only follows from others, could be set to {value}"
        case "waits":
            return f"if one could wait until {name} is {value}"
    return f"with {name} allowed to become {value}"
