"""The ordered features of a problem, which can be looked up, edited, printed and kept as JSON."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from textwrap import wrap
from typing import Any

from proce.arguments import brief, checked
from proce.errors import SchemaError, did_you_mean
from proce.json_reading import check_format, parse_json
from proce.schema.features.feature import Categorical, Continuous, Feature, Ordinal
from proce.schema.features.levels import Level, checked_levels, find_level, quoted
from proce.schema.features.naming import spoken_name, with_unit
from proce.schema.features.numerals import counted, with_minus
from proce.schema.features.reprs import MAX_WIDTH, ordered_fields, quoted_names
from proce.schema.scale import FeatureScale

_KINDS: dict[str, type[Feature]] = {
    "continuous": Continuous,
    "ordinal": Ordinal,
    "categorical": Categorical,
}
_DEFAULTS: dict[str, Any] = {"effort": 1.0, "protected": False, "labels": {}}  # else None or ()
_FIELDS = {
    kind: tuple(field.name for field in ordered_fields(type_)) for kind, type_ in _KINDS.items()
}


def edited(feature: Feature, changes: Mapping[str, Any]) -> Feature:
    """Return a feature with some fields changed, and its type where ``kind`` names another."""
    kind = changes.get("kind", feature.kind)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise SchemaError(f"unknown type {brief(kind)}; expected one of {', '.join(_KINDS)}.")
    changes = {part: value for part, value in changes.items() if part != "kind"}
    for part in changes:
        if part not in _FIELDS[kind]:
            raise SchemaError(
                f"feature {feature.name!r}: a {kind} feature has no {part!r}; it has"
                f" {', '.join(_FIELDS[kind])}." + did_you_mean(part, _FIELDS[kind])
            )
    if "levels" in changes and not isinstance(feature, Continuous):
        changes = _of_kept_levels(feature, changes["levels"]) | changes
    if kind == feature.kind:
        return replace(feature, **changes)
    kept = {part: getattr(feature, part, None) for part in _FIELDS[kind]}
    given = {part: value for part, value in kept.items() if value is not None} | changes
    if "levels" in _FIELDS[kind] and "levels" not in given:
        raise SchemaError(
            f"feature {feature.name!r}: to make it {kind}, give levels=[...] as well."
        )
    return _KINDS[kind](**given)


def to_record(feature: Feature) -> dict[str, Any]:
    """Return a feature as plain values; fields that say nothing are left out."""
    values = {part: getattr(feature, part) for part in _FIELDS[feature.kind]}
    filled = {
        part: value
        for part, value in values.items()
        if value not in (None, ()) and not (part in _DEFAULTS and value == _DEFAULTS[part])
    }
    if "labels" in filled:
        filled["labels"] = {_key(level): words for level, words in filled["labels"].items()}
    return {"type": feature.kind} | filled


def from_record(record: Any) -> Feature:
    """Return the feature that plain values describe."""
    if not isinstance(record, dict) or record.get("type") not in list(_KINDS):
        raise SchemaError(
            f"{record!r} is not a feature; expected an object with a 'type' of {', '.join(_KINDS)}."
        )
    kind = record["type"]
    given = {part: value for part, value in record.items() if part != "type"}
    for part in given:
        if part not in _FIELDS[kind]:
            raise SchemaError(
                f"feature {record.get('name')!r}: unknown field {part!r}; a {kind} feature has"
                f" {', '.join(_FIELDS[kind])}."
            )
    needed = {"name", "levels"} & set(_FIELDS[kind])
    if missing := sorted(needed - set(given)):
        raise SchemaError(f"feature {record.get('name')!r}: {', '.join(missing)} is missing.")
    if isinstance(given.get("labels"), dict) and isinstance(given["levels"], list):
        by_key = {_key(level): level for level in given["levels"] if isinstance(level, Level)}
        given["labels"] = {by_key.get(key, key): words for key, words in given["labels"].items()}
    one_hot = given.get("one_hot", [])
    if not isinstance(one_hot, list) or not all(isinstance(column, str) for column in one_hot):
        raise SchemaError(f"feature {record.get('name')!r}: one_hot must list column names.")
    return _KINDS[kind](**given)


def _key(level: Level) -> str:
    """Return a level as the key of a JSON object."""
    return level if isinstance(level, str) else json.dumps(level)


def _of_kept_levels(feature: Ordinal | Categorical, levels: Any) -> dict[str, Any]:
    """Return what was said of the levels that a feature keeps when it gets others."""
    kept = checked_levels(feature.name, levels)
    return {
        "labels": {
            level: words
            for level, words in feature.labels.items()
            if find_level(kept, level) is not None
        },
        "avoid": tuple(level for level in feature.avoid if find_level(kept, level) is not None),
    }


FORMAT = 1


@dataclass(frozen=True, repr=False)
class Schema:
    """The features of a problem, in the order of the arrays.

    Attributes
    ----------
    features
        The features.
    scales
        By name, the scale of numbers in the rows that the schema was inferred from, or that an
        explainer was fitted on: printed with the schema, and no part of its JSON.
    notes
        What a reader should know of the inferred features.

    Examples
    --------
    >>> schema = Schema([Continuous("age", (18, 90), step=1), Categorical("job", ("a", "b"))])
    >>> schema.edit("age", action="increase")["age"].action.value
    'increase'
    """

    features: tuple[Feature, ...]
    scales: Mapping[str, FeatureScale] = field(compare=False, repr=False)
    notes: tuple[str, ...] = field(compare=False, repr=False)

    @checked(SchemaError)
    def __init__(
        self,
        features: Iterable[Feature],
        *,
        scales: Mapping[str, FeatureScale] | None = None,
        notes: Iterable[str] = (),
    ) -> None:
        features = tuple(features)
        for feature in features:
            if not isinstance(feature, (Continuous, Ordinal, Categorical)):
                raise SchemaError(
                    f"{feature!r} is not a feature; expected Continuous, Ordinal or Categorical."
                )
        if not features:
            raise SchemaError("a schema needs at least one feature; none was given.")
        if all(feature.protected for feature in features):
            raise SchemaError(
                "every feature is protected, so nothing could be advised or shown; leave some open."
            )
        _refuse_repeats("feature", [feature.name for feature in features])
        _refuse_repeats("column", [column for feature in features for column in feature.columns])
        object.__setattr__(self, "features", features)
        for name, scale in (scales or {}).items():
            if not isinstance(scale, FeatureScale):
                raise SchemaError(f"scales: {name!r} is {brief(scale)}; expected a FeatureScale.")
        object.__setattr__(self, "scales", dict(scales or {}))
        object.__setattr__(self, "notes", tuple(map(str, notes)))

    @classmethod
    @checked(SchemaError)
    def infer(cls, frame: Any, *, one_hot: Mapping[str, Sequence[str]] | None = None) -> "Schema":
        """Infer the features from a frame's columns; print the result and edit what is wrong.

        Parameters
        ----------
        frame
            A pandas, polars or pyarrow frame: the rows that the model was trained on.
        one_hot
            The columns that together are one categorical feature, by the feature's name.

        Returns
        -------
        Schema
            Everything is ``free``, but for columns of one value, which are ``fixed``; levels are
            those of the frame. Printed, it shows where a search would look and the scale.
        """
        from proce.schema.infer import infer_features

        inferred = infer_features(frame, one_hot or {})
        return cls(inferred.features, scales=inferred.scales, notes=inferred.notes)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The features' names, in order."""
        return tuple(feature.name for feature in self.features)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of a frame that fits, one-hot columns one by one."""
        return tuple(column for feature in self.features for column in feature.columns)

    @checked(SchemaError)
    def position(self, name: str) -> int:
        """Return where a feature stands in the arrays."""
        if name in self:
            return self._positions[name]
        raise SchemaError(
            f"unknown feature {name!r}; the features are {quoted(self.names)}."
            + did_you_mean(name, self.names)
        )

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {feature.name: position for position, feature in enumerate(self.features)}

    @checked(SchemaError)
    def edit(self, names: str | Iterable[str], **changes: Any) -> "Schema":
        """Return a schema in which the named features are changed.

        Parameters
        ----------
        names
            One feature or several.
        changes
            Fields of the feature, such as ``action="fixed"``, ``range=(0, 100)`` or
            ``unit="$"``; or ``kind="ordinal"`` with ``levels=[...]`` to declare a column another
            type.
        """
        features = list(self.features)
        for name in [names] if isinstance(names, str) else list(names):
            position = self.position(name)
            features[position] = edited(features[position], changes)
        return Schema(features, scales=self.scales, notes=self.notes)

    def to_json(self) -> str:
        """Return the schema as JSON text; ``from_json`` reads it back."""
        features = [to_record(feature) for feature in self.features]
        return json.dumps({"format": FORMAT, "features": features}, indent=1, ensure_ascii=False)

    @classmethod
    @checked(SchemaError)
    def from_json(cls, text: str) -> "Schema":
        """Read a schema from JSON text."""
        try:
            record = parse_json(text)
        except ValueError as error:
            raise SchemaError(f"the schema is not JSON: {error}.") from None
        if not isinstance(record, dict) or not isinstance(record.get("features"), list):
            raise SchemaError('the schema is not of the form {"format": 1, "features": [...]}.')
        version = record.get("format")
        wrong = SchemaError(f"the schema's format is {version!r}; expected {FORMAT}.")
        newer = f"the schema has format {version}"
        check_format(version, FORMAT, wrong, newer, "save the schema again", SchemaError)
        return cls(from_record(feature) for feature in record["features"])

    def __getitem__(self, name: str) -> Feature:
        return self.features[self.position(name)]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._positions

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.features)

    def __len__(self) -> int:
        return len(self.features)

    def table(self) -> list[tuple[str, ...]]:
        """Return a line of text for each feature, below a header.

        The scale is there where rows are known, and the last column, the words for people, where
        a feature has a label or a unit.
        """
        numbers = {f.name for f in self.features if isinstance(f, Continuous)}
        scales = [self.scales.get(f.name) if f.name in numbers else None for f in self.features]
        table: list[tuple[str, ...]] = [("feature", "type", "permitted", "action")]
        for feature, scale in zip(self.features, scales, strict=True):
            permitted = _permitted(feature, scale)
            table.append((feature.name, feature.kind, permitted, _action(feature)))
        columns = []
        if any(scales):
            texts = (with_minus(scale.text()) if scale else "" for scale in scales)
            columns.append(["scale", *texts])
        if any(feature.label or feature.unit for feature in self.features):
            columns.append(["in words", *map(_words, self.features)])
        return [(*line, *more) for line, *more in zip(table, *columns, strict=True)]

    def __str__(self) -> str:
        return table_text(self.table(), [f"Note: {note}" for note in self.notes])

    def __repr__(self) -> str:
        start = f"Schema({counted(len(self), 'feature')}: "
        return f"{start}{quoted_names(self.names, MAX_WIDTH - len(start) - 1)})"

    def _repr_html_(self) -> str:
        from html import escape

        header, *lines = self.table()
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in lines
        )
        head = "".join(f"<th>{title}</th>" for title in header)
        notes = "".join(f"<p>Note: {escape(text)}</p>" for text in self.notes)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


def _refuse_repeats(what: str, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise SchemaError(f"{what} {name!r} is declared twice; declare each once.")
        seen.add(name)


_GAP = "  "
_KIND, _NUMBER = 1, "continuous"  # the column of the type, and the type of numbers
_NUMERIC = ("permitted", "scale")  # columns in which numbers of a feature stand
_MIN_COLUMN = 8  # characters
_MAX_LEVELS = 6
_MAX_LEVEL_LENGTH = 24  # characters of a level, of which the end is left out


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
