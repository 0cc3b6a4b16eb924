"""A schema as a table of text that fits a page: numbers are whole, long words are cut."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from textwrap import wrap

from proce.schema.features.brief import MAX_WIDTH
from proce.schema.features.feature import Continuous, Feature, Ordinal
from proce.schema.features.naming import spoken_name, with_unit
from proce.schema.features.numerals import with_minus
from proce.schema.scale import FeatureScale

_GAP = "  "
_KIND, _NUMBER = 1, "continuous"  # the column of the type, and the type of numbers
_NUMERIC = ("permitted", "scale")  # columns in which numbers of a feature stand
_MIN_COLUMN = 8  # characters
_MAX_LEVELS = 6
_MAX_LEVEL_LENGTH = 24  # characters of a level, of which the end is left out


def schema_table(
    features: Sequence[Feature], known: Mapping[str, FeatureScale]
) -> list[tuple[str, ...]]:
    """Return a line of text for each feature, below a header.

    Parameters
    ----------
    features
        The features.
    known
        The scale of numbers, by name, where rows are known.
    """
    scales = [known.get(f.name) if isinstance(f, Continuous) else None for f in features]
    lines = [
        (f.name, f.kind, _permitted(f, scale), _action(f))
        for f, scale in zip(features, scales, strict=True)
    ]
    table: list[tuple[str, ...]] = [("feature", "type", "permitted", "action"), *lines]
    if any(scales):
        texts = ["scale", *(with_minus(scale.text()) if scale else "" for scale in scales)]
        table = [(*line, text) for line, text in zip(table, texts, strict=True)]
    if not any(f.label or f.unit for f in features):
        return table
    words = ["in words", *(_words(f) for f in features)]
    return [(*line, word) for line, word in zip(table, words, strict=True)]


def table_text(table: Sequence[Sequence[str]], below: Sequence[str] = ()) -> str:
    """Return a table in aligned columns, and sentences below it, at most a hundred wide.

    Where a line is too long its words are cut; numbers go on in the next line.
    """
    widths = _fitting([max(map(len, column)) for column in zip(*table, strict=True)], table[0])
    cells = [
        [
            _cell_lines(text, width, row[_KIND] == _NUMBER and title in _NUMERIC)
            for text, width, title in zip(row, widths, table[0], strict=True)
        ]
        for row in table
    ]
    lines = [
        _GAP.join(part.ljust(width) for part, width in zip(parts, widths, strict=True)).rstrip()
        for row in cells
        for parts in zip_longest(*row, fillvalue="")
    ]
    notes = list(below)
    if any(
        " ".join(parts) != text
        for row, texts in zip(cells, table, strict=True)
        for parts, text in zip(row, texts, strict=True)
    ):
        notes.append("Cut to fit the page; schema.to_json() has it whole.")
    return "\n".join([*lines, *(line for text in notes for line in wrap(text, MAX_WIDTH))])


def _fitting(widths: list[int], titles: Sequence[str]) -> list[int]:
    """Return the widths with the widest columns made narrower until all fit.

    Words for people give way first where the scale of numbers is told.
    """
    room = MAX_WIDTH - len(_GAP) * (len(widths) - 1)
    fitting = list(widths)
    if "scale" in titles and titles[-1] == "in words":
        excess = max(sum(fitting) - room, 0)
        fitting[-1] = min(fitting[-1], max(fitting[-1] - excess, _MIN_COLUMN))
    while sum(fitting) > room and max(fitting) > _MIN_COLUMN:
        fitting[fitting.index(max(fitting))] -= 1
    return fitting


def _cell_lines(text: str, width: int, is_number: bool) -> list[str]:
    """Return the lines of a cell: a number in as many as it takes, else one that is cut."""
    if len(text) <= width:
        return [text]
    return wrap(text, width) if is_number else [f"{text[: width - 1]}…"]


def _action(feature: Feature) -> str:
    effort = "" if feature.effort == 1 else f", effort {feature.effort:g}"
    return feature.action.value + effort + (", protected" if feature.protected else "")


def _words(feature: Feature) -> str:
    name = feature.label or spoken_name(feature.name)
    return name if feature.unit is None else f"{name}, {with_unit('…', feature.unit)}"


def _permitted(feature: Feature, scale: FeatureScale | None) -> str:
    if not isinstance(feature, Continuous):
        text = (" < " if isinstance(feature, Ordinal) else ", ").join(
            map(_level, feature.levels[:_MAX_LEVELS])
        )
        n_levels = len(feature.levels)
        rest = f", … {n_levels} levels" if n_levels > _MAX_LEVELS else ""
        avoided = ", ".join(map(_level, feature.avoid[:_MAX_LEVELS]))
        never = f"; never {avoided}" if avoided else ""
        return text + rest + (" (one-hot)" if getattr(feature, "one_hot", ()) else "") + never
    limits = "as in training" if scale is None else scale.searched_text()
    if feature.range is not None:
        limits = " to ".join(f"{end:,.12g}" for end in feature.range)
    limits = with_minus(limits)
    return limits if feature.step is None else f"{limits}, step {feature.step:g}"


def _level(level: object) -> str:
    text = str(level)
    return text if len(text) <= _MAX_LEVEL_LENGTH else f"{text[: _MAX_LEVEL_LENGTH - 1]}…"
