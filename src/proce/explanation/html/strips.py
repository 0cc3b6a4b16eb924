"""A change as a picture: where the value is among the training rows, and where it would be."""

from collections.abc import Collection
from dataclasses import dataclass

from proce.explanation.record.context import N_QUANTILES, Context
from proce.explanation.record.outcome import Change
from proce.explanation.words.cells import ChangedCell, plain_value
from proce.explanation.words.values import change_texts, name_text, share_text, value_text
from proce.schema import Categorical, Continuous
from proce.schema.bulk import scales_of
from proce.schema.codec import unit_numbers

_NINE_TENTHS, _MIDDLE_HALF = 1, 5  # quantiles of 5% each that a band leaves out at either end
_OUTSIDE = 0.02  # how far beyond the line an outlier stands

Part = tuple[float, float]  # of a line: where it begins and where it ends


@dataclass(frozen=True, slots=True)
class Strip:
    """A change on the line of its feature, from 0 at the low end to 1 at the high end.

    Attributes
    ----------
    label
        The picture in words.
    kind
        ``action``, ``hold`` or ``consequence``.
    now, after
        Where the value is, and where it would be; of a hold, where it would go by itself.
    most, half
        Where nine of ten training rows lie, and their middle half; ``None`` where not known.
    low, high
        The values at both ends.
    """

    label: str
    kind: str
    now: float
    after: float
    most: Part | None
    half: Part | None
    low: str
    high: str


def strip_of(cell: ChangedCell, context: Context) -> Strip | None:
    """Return a change as a picture; ``None`` for levels without an order."""
    if isinstance(cell.feature, Categorical):
        return None
    holds = cell.kind is Change.HOLD and cell.expected == cell.expected  # not NaN
    after = cell.expected if holds else cell.after
    now = after if plain_value(cell.feature, cell.before) is None else cell.before
    low, high = _end_texts(cell, context)
    texts = change_texts(cell, context)
    return Strip(
        label=f"{name_text(cell.feature)} on its way from {texts[0]} to {texts[1]}",
        kind=cell.kind.name.lower(),
        now=_place(cell, context, now),
        after=_place(cell, context, after),
        most=_band(cell, context, _NINE_TENTHS),
        half=_band(cell, context, _MIDDLE_HALF),
        low=low,
        high=high,
    )


def legend_of(strips: Collection[Strip]) -> str:
    """Return how to read the pictures of a page; empty where there are none."""
    if not strips:
        return ""
    sentences = ["The lines under the sentences run from the low to the high end of the data."]
    if any(strip.most for strip in strips):
        sentences.append(
            "Nine of ten training rows lie in the thin band, the middle half in the thick one."
        )
    sentences.append("A hollow mark is the value now, a full one the value after.")
    if any(strip.kind == "hold" for strip in strips):
        sentences.append("A cross is where a value would go that is to be kept.")
    return " ".join(sentences)


def shares_text(cell: ChangedCell, context: Context) -> str | None:
    """Return how many training rows have the level before and the level after.

    ``None`` for numbers, and where it is not known.
    """
    shares = (context.spread or {}).get(cell.feature.name, ())
    if isinstance(cell.feature, Continuous) or not shares or cell.before == cell.after:
        return None
    codes = [int(code) for code in (cell.before, cell.after) if code >= 0]
    return " → ".join(share_text(shares[code]) for code in codes)


def _place(cell: ChangedCell, context: Context, value: float) -> float:
    """Return where a value lies on the line; outliers stand just outside of it."""
    codec, position = context.codec, cell.position
    place: float = (unit_numbers(codec, position, value) / codec.reach[position]).item()
    return min(max(place, -_OUTSIDE), 1 + _OUTSIDE)


def _end_texts(cell: ChangedCell, context: Context) -> list[str]:
    """Return the values at both ends of the line, of those that were seen."""
    if not isinstance(cell.feature, Continuous):
        return [value_text(cell.feature, rank) for rank in (0, len(cell.feature.levels) - 1)]
    scale = scales_of(context.codec)[cell.feature.name]
    return [value_text(cell.feature, float(end), scale.span) for end in scale.searched]


def _band(cell: ChangedCell, context: Context, n_outside: int) -> Part | None:
    """Return where the training rows lie, but some at either end; ``None`` for levels."""
    quantiles = (context.spread or {}).get(cell.feature.name, ())
    if not quantiles or not isinstance(cell.feature, Continuous):
        return None
    ends = quantiles[n_outside], quantiles[N_QUANTILES - 1 - n_outside]
    first, last = (min(max(_place(cell, context, end), 0.0), 1.0) for end in ends)
    return first, last
