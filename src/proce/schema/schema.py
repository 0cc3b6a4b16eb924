"""The ordered features of a problem, which can be looked up, edited, printed and kept as JSON."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from proce.arguments import brief, checked
from proce.errors import SchemaError, did_you_mean
from proce.schema.features.brief import MAX_WIDTH, named
from proce.schema.features.feature import Categorical, Continuous, Feature, Ordinal
from proce.schema.features.feature_json import edited, from_record, to_record
from proce.schema.features.levels import shown
from proce.schema.features.numerals import counted
from proce.schema.json_reading import parse_json
from proce.schema.printing import schema_table, table_text
from proce.schema.scale import FeatureScale

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
            f"unknown feature {name!r}; the features are {shown(self.names)}."
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
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            raise SchemaError(f"the schema's format is {version!r}; expected {FORMAT}.")
        if version > FORMAT:
            raise SchemaError(
                f"the schema has format {version}; this version of proce reads up to {FORMAT}."
                " Update proce, or save the schema again with this version."
            )
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
        return schema_table(self.features, self.scales)

    def __str__(self) -> str:
        return table_text(self.table(), [f"Note: {note}" for note in self.notes])

    def __repr__(self) -> str:
        start = f"Schema({counted(len(self), 'feature')}: "
        return f"{start}{named(self.names, MAX_WIDTH - len(start) - 1)})"

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
