"""What a schema forbids of a change that a person has in mind, in words."""

import math
from collections.abc import Iterator

from proce.explanation.words.values import name_text, value_text
from proce.objective.limits import LIMIT_ROUNDING
from proce.schema import Action, Codec, Continuous, Feature


def forbidden_by_schema(
    codec: Codec, position: int, before: float, after: float, *, by_hand: bool
) -> tuple[str, ...]:
    """Return what the schema says against a feature's move, one sentence for each limit.

    Parameters
    ----------
    codec
        The features and their scale.
    position
        The position of the feature in the schema.
    before, after
        The values, as numbers in raw units or codes of levels.
    by_hand
        Whether a person would act on the feature; else the value follows from others.
    """
    if before == after:
        return ()
    feature, span = codec.schema.features[position], codec.span[position].item()
    name = name_text(feature)
    then, now = (value_text(feature, value, span) for value in (before, after))
    texts = list(_against_acting(feature, name)) if by_hand else []
    slack = LIMIT_ROUNDING * span if isinstance(feature, Continuous) else 0.0
    if feature.action in _ONLY_RISING and after < before - slack:
        texts.append(f"{name} may only rise: from {then} it cannot fall to {now}.")
    if feature.action is Action.DECREASE and after > before + slack:
        texts.append(f"{name} may only fall: from {then} it cannot rise to {now}.")
    if isinstance(feature, Continuous):
        lowest, highest = feature.range or (-math.inf, math.inf)
        if not lowest - slack <= after <= highest + slack:
            low, high = (value_text(feature, end, span) for end in (lowest, highest))
            texts.append(f"{name} must be between {low} and {high}, not {now}.")
    elif codec.avoided[position, int(after)]:
        texts.append(f"{name} is never advised to be {now}.")
    return tuple(texts)


def _against_acting(feature: Feature, name: str) -> Iterator[str]:
    if feature.action is Action.FIXED:
        yield f"{name} is fixed: it cannot change."
    elif feature.action is Action.INDIRECT:
        yield f"{name} is indirect: nobody can act on it."
    elif feature.protected:
        yield f"{name} is protected: nobody is asked to change it."


_ONLY_RISING = tuple(action for action in Action if action.value in ("increase", "waits"))
