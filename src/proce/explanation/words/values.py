"""Values, names, shares and rows as a person reads them: raw units, steps, no false decimals."""

import decimal
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from functools import lru_cache

from proce.arrays import GRID_TOLERANCE
from proce.explanation.record.context import Context
from proce.explanation.record.counterfactuals import Change
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.cells import ChangedCell
from proce.schema import Continuous, Feature, Layout, Level
from proce.schema.features.feature import MIN_CHANGE
from proce.schema.features.naming import is_visible, spoken_name, with_unit
from proce.schema.features.numerals import with_minus
from proce.schema.frames.cells import is_missing

MISSING = "missing"
NOT_KNOWN = "not known"
_MAX_EXTRA_DECIMALS = 15
_SINGLE_PRECISION = 2.0**-23  # of a number: how far a column of 32 bits may be from it
_MIN_WITH_EXPONENT = 1e15  # from here on powers of ten are easier to read
_N_DIGITS = 3  # that a number without a step keeps, however small it is beside the span
_MIN_SHARE_TOLD = 1e-7  # of the span: below it a number is as good as none
_MAX_PERCENT_DECIMALS = 3
_DECIMAL_CONTEXT = decimal.Context(prec=100)


def value_text(feature: Feature, value: float | None, span: float | None = None) -> str:
    """Return a value of a feature for a sentence: ``$2,000``, or ``"office"``."""
    if value is None or math.isnan(value):
        return MISSING
    if isinstance(feature, Continuous):
        return with_unit(_number(feature, value, span), feature.unit)
    return level_text(feature, feature.levels[int(value)]) if value >= 0 else MISSING


def level_text(feature: Feature, level: Level) -> str:
    """Return a level: its label; else text in quotes, ``true``, or a number in its unit."""
    if not isinstance(feature, Continuous) and level in feature.labels:
        return one_line(feature.labels[level])
    if isinstance(level, bool):
        return str(level).lower()
    if isinstance(level, str):
        return f'"{one_line(level)}"'
    return with_unit(with_minus(f"{level:.12g}"), feature.unit)


def class_text(context: Context, label: Level) -> str:
    """Return a class of the model by its label: ``approved``; without one ``class 1``."""
    return class_words(label, context.class_labels)


def class_words(label: Level, labels: Mapping[Level, str]) -> str:
    """Return a class by the labels of a call; a text is its own label."""
    words = labels.get(label, label)
    return one_line(words) if isinstance(words, str) else f"class {with_minus(str(words))}"


def class_texts(row: ExplainedRow) -> tuple[str, str]:
    """Return the class that the model predicts for a row, and the target; or ``not known``."""
    labels = [row.context.class_at(position) for position in (row.predicted, row.target)]
    predicted, target = (
        NOT_KNOWN if label is None else class_text(row.context, label) for label in labels
    )
    return predicted, target


def plain_value_text(context: Context, name: str, value: Level | None) -> str:
    """Return a plain value of a feature, a raw number or a level, for a sentence."""
    position = context.codec.schema.position(name)
    feature = context.codec.schema.features[position]
    if value is None:
        return MISSING
    if isinstance(feature, Continuous) and not isinstance(value, str):
        return value_text(feature, float(value), context.codec.span[position].item())
    return level_text(feature, value)


def name_text(feature: Feature) -> str:
    """Return a feature's name in a sentence: its label, or the words of its column's name."""
    return one_line(feature.label or spoken_name(feature.name)) or feature.name


def name_texts(context: Context, names: Iterable[str]) -> list[str]:
    """Return features, given by the names of their columns, as they are named in a sentence."""
    return [name_text(context.codec.schema[name]) for name in names]


@lru_cache(maxsize=4096)
def one_line(text: str) -> str:
    """Return text without line breaks and without characters that nobody can see."""
    return " ".join("".join(filter(is_visible, text)).split())


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
    """Return before and after of a changed cell, with decimals enough to read differently."""
    # A number without a step that a person must reach is rounded away from the present one, so
    # that whoever reaches the number shown has done enough.
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
    return with_unit(first, feature.unit), with_unit(second, feature.unit)


def inner_text(cell: ChangedCell, value: float, context: Context) -> str:
    """Return an end of the interval on which an action holds, rounded into the interval."""
    assert isinstance(cell.feature, Continuous), "levels have no interval"
    rounding = ROUND_FLOOR if value > cell.after else ROUND_CEILING
    number = _number(cell.feature, value, context.codec.span[cell.position].item(), rounding)
    return with_unit(number, cell.feature.unit)


def percent(share: float, decimals: int = 0) -> str:
    """Return a probability as a percentage, which is never 0% or 100%: nothing is certain."""
    if math.isnan(share):
        return NOT_KNOWN
    text = f"{share:.{decimals}%}"
    smallest = 10.0**-decimals
    if float(text[:-1]) >= 100:
        return f"over {100 - smallest:.{decimals}f}%"
    return f"under {smallest:.{decimals}f}%" if float(text[:-1]) <= 0 else text


def share_text(share: float) -> str:
    """Return a share that was counted, for which 0% means none and 100% all."""
    return f"{share:.0%}" if share in (0, 1) else percent(share)


def percents(*shares: float, line: float | None = None) -> tuple[str, ...]:
    """Return shares as percentages, with decimals where they would read the same."""
    for decimals in range(_MAX_PERCENT_DECIMALS):
        texts = tuple(percent(share, decimals) for share in shares)
        if len(set(texts)) == len(set(shares)):
            break
    if line is None:
        return texts
    return tuple(_beside(share, text, line) for share, text in zip(shares, texts, strict=True))


def _beside(share: float, text: str, line: float) -> str:
    """Return a share in a text that does not read as the line; more decimals where it would."""
    if math.isnan(share) or abs(share - line) <= 1e-12:
        return text
    first = len(text.rstrip("%").partition(".")[2])
    for decimals in range(first, max(first, _MAX_PERCENT_DECIMALS) + 1):
        text = percent(share, decimals)
        if text != percent(line, decimals):
            return text
    return f"just {'over' if share > line else 'under'} {percent(line)}"


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
        return with_minus(f"{value:.6g}")
    step = feature.step
    if step is not None and step < sys.float_info.epsilon * max(abs(value), span or 0.0, 1e-9):
        step = None  # no number can tell two such steps apart
    if step is None:
        places = _decimals(value, span) + extra
        if abs(value - round(value, places)) <= _SINGLE_PRECISION * abs(value):
            rounding = ROUND_HALF_EVEN  # a column of 32 bits holds 43.6 as 43.599998
        return _rounded(value, places, rounding).rstrip("0").rstrip(".")
    places = max(0, -int(Decimal(repr(step)).normalize().as_tuple().exponent))
    count = value / step
    if math.isfinite(count) and abs(count - round(count)) <= GRID_TOLERANCE:
        return _rounded(value, places, ROUND_HALF_EVEN).removesuffix(".")
    return _rounded(value, places + 2 + extra, rounding).rstrip("0").rstrip(".")


def _decimals(value: float, span: float | None) -> int:
    """Return how many decimals a number without a step is shown with."""
    # They follow the span, but a number that is small beside it keeps three digits: whoever has a
    # ratio of 0.617 is not told that it is 1.
    if span is not None:
        by_span = math.ceil(-math.log10(max(span, 1e-290) * MIN_CHANGE))
        size = max(abs(value), span * _MIN_SHARE_TOLD)
        return max(0, by_span, _N_DIGITS - 1 - math.floor(math.log10(max(size, 1e-290))))
    return max(0, 3 - math.floor(math.log10(max(abs(value), 1e-12))))


def _rounded(value: float, places: int, rounding: str) -> str:
    """Return a number with commas between thousands, and always with a decimal point."""
    smallest = Decimal(1).scaleb(-places)
    number = Decimal(repr(value)).quantize(smallest, rounding, _DECIMAL_CONTEXT)
    return with_minus(f"{number:,.{places}f}") + "." * (places == 0)


def row_label(explanation: ExplainedRow, layout: Layout | None = None) -> str:
    """Return what the caller calls a row: its index label, or its position where it has none."""
    layout = explanation.layout if layout is None else layout
    index = None if layout is None else layout.take([explanation.row]).index
    if index is None or is_missing(index[0]):
        return str(explanation.row)
    return one_line(str(index[0])) or str(explanation.row)
