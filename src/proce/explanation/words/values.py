"""Values, names and shares as a person reads them: raw units, steps, no false decimals."""

import decimal
import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

from proce.explanation.record.context import Context
from proce.explanation.record.outcome import Change
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.cells import ChangedCell
from proce.schema import Continuous, Feature, Level
from proce.schema.feature import MIN_CHANGE

MISSING = "missing"
_MAX_EXTRA_DECIMALS = 15
_MAX_STEP_ERROR = 1e-6  # of a step: a number this near to the grid lies on it
_MIN_WITH_EXPONENT = 1e15  # from here on powers of ten are easier to read
_DECIMAL_CONTEXT = decimal.Context(prec=100)


def value_text(feature: Feature, value: float | None, span: float | None = None) -> str:
    """Return a value of a feature for a sentence: ``2,000``, or ``"office"``.

    Parameters
    ----------
    feature
        The feature, whose step or levels say how the value is written.
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
    """Return a class of the model: ``approved``, or ``class 1``."""
    return one_line(label) if isinstance(label, str) else f"class {label}"


def class_texts(row: ExplainedRow) -> tuple[str, str]:
    """Return the class that the model predicts for a row, and the target."""
    classes = row.context.classes
    return class_text(classes[row.predicted]), class_text(classes[row.target])


def name_text(name: str) -> str:
    """Return a feature's name in a sentence: ``credit_score`` is the credit score."""
    return one_line(name.replace("_", " ")) or name


def one_line(text: str) -> str:
    """Return text without line breaks."""
    return " ".join(text.split())


def short(text: str, max_length: int) -> str:
    """Return text on one line, with its middle left out where it is too long."""
    line = one_line(text)
    if len(line) <= max_length:
        return line
    end = max_length // 3
    return f"{line[: max_length - end - 1].rstrip()}…{line[-end:].lstrip()}"


def change_texts(cell: ChangedCell, context: Context) -> tuple[str, str]:
    """Return before and after of a changed cell, in the units of its feature."""
    return cell_texts(cell, context.codec.span[cell.position].item())


def cell_texts(cell: ChangedCell, span: float | None) -> tuple[str, str]:
    """Return before and after of a changed cell, with decimals enough to read differently.

    A number without a step that a person must reach is rounded away from the present one, so that
    whoever reaches the number shown has done enough.

    Parameters
    ----------
    cell
        The changed cell.
    span
        The width of the feature's range in raw units.
    """
    feature, before, after = cell.feature, cell.before, cell.after
    if not isinstance(feature, Continuous) or math.isnan(before) or before == after:
        return value_text(feature, before, span), value_text(feature, after, span)
    rounding = ROUND_HALF_EVEN
    if cell.kind is Change.ACTION:
        rounding = ROUND_CEILING if after > before else ROUND_FLOOR
    for extra in range(_MAX_EXTRA_DECIMALS):
        first = _number(feature, before, span, extra=extra)
        second = _number(feature, after, span, rounding, extra)
        if first != second:
            break
    return first, second


def inner_text(cell: ChangedCell, value: float, context: Context) -> str:
    """Return an end of the interval on which an action holds, rounded into the interval."""
    assert isinstance(cell.feature, Continuous), "levels have no interval"
    rounding = ROUND_FLOOR if value > cell.after else ROUND_CEILING
    return _number(cell.feature, value, context.codec.span[cell.position].item(), rounding)


def percent(share: float, decimals: int = 0) -> str:
    """Return a probability as a percentage, which is never 0% or 100%: nothing is certain."""
    text = f"{share:.{decimals}%}"
    smallest = 10.0**-decimals
    if float(text[:-1]) >= 100:
        return f"over {100 - smallest:.{decimals}f}%"
    return f"under {smallest:.{decimals}f}%" if float(text[:-1]) <= 0 else text


def share_text(share: float) -> str:
    """Return a share that was counted, for which 0% means none and 100% all."""
    return f"{share:.0%}" if share in (0, 1) else percent(share)


def percents(*shares: float) -> tuple[str, ...]:
    """Return shares as percentages, with decimals where they would read the same."""
    for decimals in range(3):
        texts = tuple(percent(share, decimals) for share in shares)
        if len(set(texts)) == len(set(shares)):
            return texts
    return texts


def joined(parts: Sequence[str], max_parts: int | None = None) -> str:
    """Return ``a, b and c``; where there are more parts than fit, ``a, b and 3 more``."""
    shown = list(parts)
    if max_parts is not None and len(shown) > max_parts:
        shown = [*shown[:max_parts], f"{len(shown) - max_parts} more"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def _number(
    feature: Continuous,
    value: float,
    span: float | None,
    rounding: str = ROUND_HALF_EVEN,
    extra: int = 0,
) -> str:
    if abs(value) >= _MIN_WITH_EXPONENT:
        return f"{value:.6g}"
    if feature.step is None:
        return _rounded(value, _decimals(value, span) + extra, rounding).rstrip("0").rstrip(".")
    places = max(0, -int(Decimal(repr(feature.step)).normalize().as_tuple().exponent))
    count = value / feature.step
    if math.isfinite(count) and abs(count - round(count)) <= _MAX_STEP_ERROR:
        return _rounded(value, places, ROUND_HALF_EVEN).removesuffix(".")
    return _rounded(value, places + 2 + extra, rounding).rstrip("0").rstrip(".")


def _decimals(value: float, span: float | None) -> int:
    """Return how many decimals a number without a step is shown with."""
    if span is not None:
        return max(0, math.ceil(-math.log10(max(span, 1e-12) * MIN_CHANGE)))
    return max(0, 3 - math.floor(math.log10(max(abs(value), 1e-12))))


def _rounded(value: float, places: int, rounding: str) -> str:
    """Return a number with commas between thousands, and always with a decimal point."""
    smallest = Decimal(1).scaleb(-places)
    number = Decimal(repr(value)).quantize(smallest, rounding, _DECIMAL_CONTEXT)
    return f"{abs(number) if number == 0 else number:,.{places}f}" + "." * (places == 0)
