"""Values, names and shares as a person reads them: raw units, steps, no false decimals."""

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

from proce.explanation.record.outcome import Change
from proce.explanation.words.cells import ChangedCell
from proce.schema import Continuous, Feature, Level

MISSING = "missing"
_RESOLUTION = 1e-3  # of the range: without a step, a smaller change is none
_MOST_DECIMALS = 15
_OFF_GRID = 1e-6  # of a step
_HUGE = 1e15  # from here on powers of ten are easier to read
_DIGITS = Context(prec=100)


def value_text(feature: Feature, value: float | None, span: float | None = None) -> str:
    """Return a value of a feature for a sentence: ``2,000``, or ``"office"``.

    Parameters
    ----------
    feature
        Whose step, or levels, say how to write it.
    value
        A number in raw units, or the code of a level; NaN or -1 where it is missing.
    span
        The width of the feature's range in raw units; without a step it sets the decimals.
    """
    if value is None or math.isnan(value):
        return MISSING
    if isinstance(feature, Continuous):
        return _number(feature, value, span)
    return level_text(feature.levels[int(value)]) if value >= 0 else MISSING


def level_text(level: Level) -> str:
    """Return a level: text in quotes, ``true`` and ``false``, a number as it is."""
    if isinstance(level, bool):
        return str(level).lower()
    return f'"{one_line(level)}"' if isinstance(level, str) else f"{level:.12g}"


def class_text(label: Level) -> str:
    """Return a class of the model."""
    return one_line(label) if isinstance(label, str) else f"class {label}"


def name_text(name: str) -> str:
    """Return a feature's name in a sentence: ``credit_score`` is the credit score."""
    return one_line(name.replace("_", " ")) or name


def one_line(text: str) -> str:
    """Return text without line breaks."""
    return " ".join(text.split())


def short(text: str, longest: int) -> str:
    """Return text on a line of its own, without its middle where it is long."""
    line = one_line(text)
    if len(line) <= longest:
        return line
    end = longest // 3
    return f"{line[: longest - end - 1].rstrip()}…{line[-end:].lstrip()}"


def cell_texts(cell: ChangedCell, span: float | None) -> tuple[str, str]:
    """Return before and after of a changed cell, which read differently.

    Without a step, a number to reach is rounded away from the number that is, so that who does
    as told does enough.
    """
    feature, before, after = cell.feature, cell.before, cell.after
    if not isinstance(feature, Continuous) or math.isnan(before) or before == after:
        return value_text(feature, before, span), value_text(feature, after, span)
    rounding = ROUND_HALF_EVEN
    if cell.kind is Change.ACTION:
        rounding = ROUND_CEILING if after > before else ROUND_FLOOR
    for extra in range(_MOST_DECIMALS):
        first = _number(feature, before, span, extra=extra)
        second = _number(feature, after, span, rounding, extra)
        if first != second:
            break
    return first, second


def percent(share: float, decimals: int = 0) -> str:
    """Return a share as a percentage; nothing is certain, so never 0% or 100%."""
    text = f"{share:.{decimals}%}"
    least = 10.0**-decimals
    if float(text[:-1]) >= 100:
        return f"over {100 - least:.{decimals}f}%"
    return f"under {least:.{decimals}f}%" if float(text[:-1]) <= 0 else text


def share_text(share: float) -> str:
    """Return a share that was counted: 0% is none, 100% all of them."""
    return f"{share:.0%}" if share in (0, 1) else percent(share)


def percents(*shares: float) -> tuple[str, ...]:
    """Return shares as percentages, with decimals where they would read the same."""
    for decimals in range(3):
        texts = tuple(percent(share, decimals) for share in shares)
        if len(set(texts)) == len(set(shares)):
            return texts
    return texts


def joined(parts: Sequence[str], most: int | None = None) -> str:
    """Return ``a, b and c``; beyond the most, ``a, b and 3 more``."""
    shown = list(parts)
    if most is not None and len(shown) > most:
        shown = [*shown[:most], f"{len(shown) - most} more"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def _number(
    feature: Continuous,
    value: float,
    span: float | None,
    rounding: str = ROUND_HALF_EVEN,
    extra: int = 0,
) -> str:
    if abs(value) >= _HUGE:
        return f"{value:.6g}"
    if feature.step is None:
        return _rounded(value, _decimals(value, span) + extra, rounding).rstrip("0").rstrip(".")
    places = max(0, -int(Decimal(repr(feature.step)).normalize().as_tuple().exponent))
    count = value / feature.step
    if math.isfinite(count) and abs(count - round(count)) <= _OFF_GRID:
        return _rounded(value, places, ROUND_HALF_EVEN).removesuffix(".")
    return _rounded(value, places + 2 + extra, rounding).rstrip("0").rstrip(".")


def _decimals(value: float, span: float | None) -> int:
    """Return how many decimals a number without a step deserves."""
    if span is not None:
        return max(0, math.ceil(-math.log10(max(span, 1e-12) * _RESOLUTION)))
    return max(0, 3 - math.floor(math.log10(max(abs(value), 1e-12))))


def _rounded(value: float, places: int, rounding: str) -> str:
    """Return a number with thousands set apart and always a point."""
    smallest = Decimal(1).scaleb(-places)
    number = Decimal(repr(value)).quantize(smallest, rounding, _DIGITS)
    return f"{abs(number) if number == 0 else number:,.{places}f}" + "." * (places == 0)
