"""The ordered features of a problem, which can be looked up, edited, printed and kept as JSON."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from proce.errors import SchemaError, did_you_mean
from proce.schema.features.feature import Categorical, Continuous, Feature, Ordinal
from proce.schema.features.feature_json import edited, from_record, to_record
from proce.schema.features.levels import shown
from proce.schema.features.naming import spoken_name, with_unit
from proce.schema.scale import FeatureScale

FORMAT = 1


@dataclass(frozen=True)
class Schema:
    """The features of a problem, in the order of the tensors.

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
        object.__setattr__(self, "scales", dict(scales or {}))
        object.__setattr__(self, "notes", tuple(notes))

    @classmethod
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

    def position(self, name: str) -> int:
        """Return where a feature stands in the tensors."""
        if name in self:
            return self._positions[name]
        raise SchemaError(
            f"unknown feature {name!r}; the features are {shown(self.names)}."
            + did_you_mean(name, self.names)
        )

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {feature.name: position for position, feature in enumerate(self.features)}

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
    def from_json(cls, text: str) -> "Schema":
        """Read a schema from JSON text."""
        try:
            record = json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
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
        scales = [self.scales.get(f.name) if isinstance(f, Continuous) else None for f in self]
        lines = [
            (f.name, f.kind, _permitted(f, scale), _action(f))
            for f, scale in zip(self.features, scales, strict=True)
        ]
        table: list[tuple[str, ...]] = [("feature", "type", "permitted", "action"), *lines]
        if any(scales):
            texts = ["scale", *(scale.text() if scale else "" for scale in scales)]
            table = [(*line, text) for line, text in zip(table, texts, strict=True)]
        if not any(f.label or f.unit for f in self.features):
            return table
        words = ["in words", *(_words(f) for f in self.features)]
        return [(*line, word) for line, word in zip(table, words, strict=True)]

    def __str__(self) -> str:
        rows = self.table()
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)) for r in rows]
        return "\n".join([line.rstrip() for line in lines] + [f"Note: {n}" for n in self.notes])

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


def _action(feature: Feature) -> str:
    effort = "" if feature.effort == 1 else f", effort {feature.effort:g}"
    return feature.action.value + effort + (", protected" if feature.protected else "")


def _words(feature: Feature) -> str:
    name = feature.label or spoken_name(feature.name)
    return name if feature.unit is None else f"{name}, {with_unit('…', feature.unit)}"


def _permitted(feature: Feature, scale: FeatureScale | None) -> str:
    if not isinstance(feature, Continuous):
        text = (" < " if isinstance(feature, Ordinal) else ", ").join(
            str(level) for level in feature.levels[:6]
        )
        rest = f", … {len(feature.levels)} levels" if len(feature.levels) > 6 else ""
        never = f"; never {', '.join(map(str, feature.avoid[:6]))}" if feature.avoid else ""
        return text + rest + (" (one-hot)" if getattr(feature, "one_hot", ()) else "") + never
    limits = "as in training" if scale is None else scale.searched_text()
    if feature.range is not None:
        limits = f"{feature.range[0]:,.12g} to {feature.range[1]:,.12g}"
    return limits if feature.step is None else f"{limits}, step {feature.step:g}"
