"""In words, how far a limit must give way; each kind of limit has its own wording."""

import torch
from torch import Tensor

from proce.explanation import done_by_hand
from proce.explanation.words.values import joined, name_text, percent, value_text
from proce.methods.diagnosing.lifted_limits import LiftedLimit
from proce.schema import Codec

_MAX_NAMES = 6  # features that may vary too


def relaxation_text(
    limit: LiftedLimit,
    codec: Codec,
    row: Tensor,
    changes: Tensor,
    probability: float,
    vary: tuple[str, ...],
) -> str:
    """Return how far a limit must give way for a counterfactual to be allowed.

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
    by_hand = torch.nonzero(done_by_hand(changes)).flatten().tolist()
    match limit.kind:
        case "rule":
            return f"without the rule '{limit.name}'"
        case "search":
            return "if it need not hold when the equations are fitted again"
        case "vary":
            acted_on = [codec.schema.features[position] for position in by_hand]
            more = [name_text(feature) for feature in acted_on if feature.name not in vary]
            return f"if {joined(more, _MAX_NAMES)} may vary too"
        case "max_changes":
            return f"with {len(by_hand)} changes"
        case "min_probability":
            return f"with a probability of {percent(probability)}"
        case "robust":
            return "if it need not hold under other models"
    position = codec.schema.position(limit.name)
    feature, span = codec.schema.features[position], codec.span[position].item()
    name = name_text(feature)
    value = value_text(feature, codec.to_raw(row)[position].item(), span)
    match limit.kind:
        case "range":
            return f"with {name} allowed to reach {value}"
        case "increase":
            return f"if {name} could also fall, to {value}"
        case "decrease":
            return f"if {name} could also rise, to {value}"
        case "fixed":
            return f"if {name} were not fixed, but {value}"
        case "protected":
            return f"if {name}, which is protected, were {value}"
        case "indirect":
            return f"if {name}, which only follows from others, could be set to {value}"
    return f"with {name} allowed to become {value}"
