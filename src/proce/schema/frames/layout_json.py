"""How a frame looked, as JSON.

There are two forms. :func:`layout_to_json` writes the nearest layout of pandas, whatever the
library was, so that whoever reads it needs pandas alone. :func:`exact_layout_to_json` writes the
library too, so that a model is asked later with frames that are the same in every respect.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
from pydantic import AfterValidator, Discriminator, PlainValidator
from pydantic_core import PydanticCustomError

from proce.errors import SchemaError
from proce.schema.features.levels import Level, level_key
from proce.schema.frames.cells import is_missing
from proce.schema.frames.frame import Layout
from proce.schema.records import RecordError, StrictRecord, union_tag

_WIDTHS = (8, 16, 32, 64)
_NUMPY = {f"{kind}{width}" for kind in ("int", "uint") for width in _WIDTHS}
_NUMPY |= {"bool", "float16", "float32", "float64", "object"}
_MASKED = {f"{kind}{width}" for kind in ("Int", "UInt") for width in _WIDTHS}
_MASKED |= {"boolean", "Float32", "Float64", "str"}
_STRINGS = {"string[python]": "python", "string[pyarrow]": "pyarrow"}
_ARROW = {*_NUMPY - {"object", "float16", "float32", "float64"}, "float", "double", "string"}
_ARROW |= {"large_string"}
_ARROW_PREFIX = "arrow:"
_NARWHALS = {f"{kind}{width}" for kind in ("Int", "UInt") for width in _WIDTHS}
_NARWHALS |= {"Float32", "Float64", "Boolean", "String", "Categorical"}
_NAME_TAG, _CATEGORY_TAG = union_tag("name"), union_tag("category")


def _known_name(name: str) -> str:
    if name in _NUMPY | _MASKED | _STRINGS.keys():
        return name
    if name.startswith(_ARROW_PREFIX) and name.removeprefix(_ARROW_PREFIX) in _ARROW:
        return name
    raise PydanticCustomError("dtype_name", "the name of a dtype, such as int64 or str")


def _plain_value(value: Any) -> Level:
    is_finite = not isinstance(value, float) or math.isfinite(value)
    if isinstance(value, str | bool | int | float) and is_finite:
        return value
    raise PydanticCustomError("plain_value", "a text, a finite number or true or false")


def _is_foreign_dtype(record: Any) -> bool:
    """Whether a record is that of a dtype of narwhals: its name, or the levels of an enum."""
    is_enum = isinstance(record, list) and all(isinstance(level, str) for level in record)
    return is_enum or (isinstance(record, str) and record in _NARWHALS)


def _known_foreign_dtype(record: Any) -> Any:
    if _is_foreign_dtype(record):
        return record
    raise PydanticCustomError("foreign_dtype", "the dtype of a column, such as Int64 or String")


DtypeName = Annotated[str, AfterValidator(_known_name)]
PlainValue = Annotated[Any, PlainValidator(_plain_value)]
ForeignDtype = Annotated[Any, PlainValidator(_known_foreign_dtype)]


def _distinct(values: list[Level]) -> list[Level]:
    if len({level_key(value) for value in values}) != len(values):
        raise PydanticCustomError("repeated_category", "every category once")
    return values


class CategoryRecord(StrictRecord):
    """A categorical dtype of pandas: its categories, their dtype, and whether they are ordered."""

    dtype: Literal["category"]
    categories: Annotated[list[PlainValue], AfterValidator(_distinct)]
    of: DtypeName
    ordered: bool


def _tag_of(value: Any) -> str:
    return (_CATEGORY_TAG if isinstance(value, dict | CategoryRecord) else _NAME_TAG).tag


DtypeRecord = Annotated[
    Annotated[DtypeName, _NAME_TAG] | Annotated[CategoryRecord, _CATEGORY_TAG],
    Discriminator(_tag_of),
]


def dtype_to_json(dtype: Any) -> Any:
    """Return a dtype of pandas, or what is nearest in pandas to a dtype of another library."""
    if isinstance(dtype, pd.CategoricalDtype):
        return {
            "dtype": "category",
            "categories": dtype.categories.tolist(),
            "of": dtype_to_json(dtype.categories.dtype),
            "ordered": bool(dtype.ordered),
        }
    if isinstance(dtype, pd.StringDtype):
        return "str" if dtype.na_value is np.nan else f"string[{dtype.storage}]"
    if isinstance(dtype, pd.ArrowDtype):
        text = str(dtype.pyarrow_dtype)
        return f"{_ARROW_PREFIX}{text}" if text in _ARROW else "object"
    if isinstance(dtype, nw.dtypes.DType):
        return _nearest_in_pandas(dtype)
    name = str(getattr(dtype, "name", dtype))
    if name in _NUMPY | _MASKED:
        return name
    return "float64" if getattr(dtype, "kind", "O") == "f" else "object"


def _nearest_in_pandas(dtype: Any) -> Any:
    if isinstance(dtype, nw.Enum | nw.Categorical):
        levels = list(dtype.categories) if isinstance(dtype, nw.Enum) else []
        return {"dtype": "category", "categories": levels, "of": "str", "ordered": False}
    name = str(dtype).lower()
    if name in _NUMPY:
        return name
    if dtype.is_integer():
        return "int64"
    if dtype.is_numeric():
        return "float64"
    return "bool" if dtype == nw.Boolean else "str" if dtype == nw.String else "object"


def dtype_from_json(record: str | CategoryRecord) -> Any:
    """Return the dtype of pandas that a checked record names; raise where categories do not fit."""
    if isinstance(record, CategoryRecord):
        index = pd.Index(record.categories, dtype=dtype_from_json(record.of))
        return pd.CategoricalDtype(index, ordered=record.ordered)
    if record in _NUMPY:
        return np.dtype(record)
    if record in _MASKED:
        return pd.api.types.pandas_dtype(record)
    if record in _STRINGS:
        return pd.StringDtype(_STRINGS[record])
    return pd.ArrowDtype(pa.type_for_alias(record.removeprefix(_ARROW_PREFIX)))


def _index_of(values: Sequence[Any], record: "_Header | _Index") -> Any:
    """Return an index as a record describes it; plain objects where it had categories."""
    dtype = "object" if isinstance(record.dtype, CategoryRecord) else record.dtype
    return pd.Index(values, dtype=dtype_from_json(dtype), name=record.name)


_MISSING_MARKS = {"None": None, "nan": np.nan, "NA": pd.NA, "NaT": pd.NaT}
_MISFITS = (ValueError, TypeError, OverflowError, pa.ArrowException)  # of values and a dtype
_FOREIGN = {"polars": nw.Implementation.POLARS, "pyarrow": nw.Implementation.PYARROW}


@dataclass(frozen=True)
class LoadedLayout(Layout):
    """A layout that knows the index labels of some rows only."""

    # where each row's label stands in the index, by the row's position
    places: Mapping[int, int] = field(default_factory=dict)

    def take(self, positions: Sequence[int]) -> "LoadedLayout":
        """Return the layout for a selection of the rows, which may repeat."""
        if self.index is None:
            return self
        places = [self.places[position] for position in positions]
        return replace(self, index=self.index.take(places))


def labelled_layout(layout: Layout, labels: Any, places: Mapping[int, int]) -> LoadedLayout:
    """Return a layout whose rows have labels, a pandas index; ``places`` as in the layout."""
    own = {**vars(layout), "index": labels, "places": places}
    return LoadedLayout(**own)


class _Header(StrictRecord):
    name: str | None = None
    dtype: DtypeRecord


class _Index(StrictRecord):
    name: str | None = None
    dtype: DtypeRecord
    labels: list[PlainValue | None]


class _PandasLayout(StrictRecord):
    columns: dict[str, DtypeRecord]
    missing: dict[str, Literal["None", "nan", "NA", "NaT"]] | None = None
    header: _Header | None = None
    index: _Index | None = None


class _ExactPandasLayout(StrictRecord):
    library: Literal["pandas"]
    frame: dict[str, Any]


class _ExactForeignLayout(StrictRecord):
    library: Literal["polars", "pyarrow"]
    columns: dict[str, ForeignDtype]
    nulls: list[str]


def layout_to_json(
    layout: Layout,
    # the rows whose index labels are written, by position; `None` for no labels. Labels that are
    # neither text nor numbers nor flags are written as text.
    rows: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Return the layout of pandas that is nearest to a layout, as plain values."""
    record: dict[str, Any] = {
        "columns": {name: dtype_to_json(layout.dtypes[name]) for name in layout.columns}
    }
    if layout.library is nw.Implementation.PANDAS:
        marks = {
            name: _mark_text(mark) for name, mark in layout.missing.items() if mark is not None
        }
        if marks:
            record["missing"] = marks
        own = layout.header
        if own is not None and (own.name is not None or own.dtype != pd.Index(["a"]).dtype):
            record["header"] = {"name": _name_text(own.name), "dtype": dtype_to_json(own.dtype)}
    if rows is not None and layout.index is not None:
        record["index"] = _index_to_json(layout.take(rows).index)
    return record


def layout_from_json(
    record: Any, columns: Sequence[str], rows: Sequence[int] | None = None
) -> LoadedLayout:
    """Read what :func:`layout_to_json` wrote."""
    checked = _PandasLayout.read(record)
    _require_columns(record, columns)
    dtypes = {name: _dtype(name, dtype) for name, dtype in checked.columns.items()}
    names = tuple(dtypes)
    missing: dict[str, Any] = {name: None for name in names if dtypes[name] == np.dtype(object)}
    missing |= {name: _MISSING_MARKS[mark] for name, mark in (checked.missing or {}).items()}
    header = _header(checked.header, names)
    layout = LoadedLayout(nw.Implementation.PANDAS, names, dtypes, missing, None, header)
    if checked.index is None or rows is None:
        return layout
    places = {row: place for place, row in enumerate(rows)}
    return replace(layout, index=_index(checked.index, len(rows)), places=places)


def exact_layout_to_json(layout: Layout) -> dict[str, Any]:
    """Return a layout without its index as plain values that give the same layout back."""
    record: dict[str, Any]
    if layout.library is nw.Implementation.PANDAS:
        frame = layout_to_json(layout)
        record = {"library": "pandas", "frame": frame}
        dtypes = layout_from_json(frame, layout.columns).dtypes
        unkept = [name for name in layout.columns if dtypes[name] != layout.dtypes[name]]
    else:
        record = _foreign_to_json(layout)
        kinds = record["columns"].items()
        unkept = [name for name, kind in kinds if not _is_foreign_dtype(kind)]
    if unkept:
        raise SchemaError(
            f"the column {unkept[0]!r} has the dtype {layout.dtypes[unkept[0]]}, which cannot be"
            " kept; convert it to a plain one, such as with .astype(str), and fit again."
        )
    return record


def exact_layout_from_json(record: Any, columns: Sequence[str]) -> Layout:
    """Read what :func:`exact_layout_to_json` wrote, for a schema of these columns."""
    is_foreign = isinstance(record, dict) and record.get("library") in list(_FOREIGN)
    if not is_foreign:
        frame = _ExactPandasLayout.read(record).frame
        loaded = layout_from_json(frame, columns)
        fields = (loaded.library, loaded.columns, loaded.dtypes, loaded.missing)
        return Layout(*fields, None, loaded.header)
    checked = _ExactForeignLayout.read(record)
    _require_columns(record, columns)
    dtypes = {
        name: nw.Enum(dtype) if isinstance(dtype, list) else getattr(nw, dtype)()
        for name, dtype in checked.columns.items()
    }
    marks = {
        name: None if name in checked.nulls else np.nan
        for name, dtype in dtypes.items()
        if dtype.is_float()
    }
    return Layout(_FOREIGN[checked.library], tuple(dtypes), dtypes, marks)


def _require_columns(record: Any, columns: Sequence[str]) -> None:
    if set(record["columns"]) != set(columns):
        expected = f"the columns of the schema, {', '.join(columns)}"
        raise RecordError("columns", record["columns"], expected)


def _dtype(name: str, record: str | CategoryRecord) -> Any:
    try:
        return dtype_from_json(record)
    except _MISFITS:
        assert isinstance(record, CategoryRecord), "a dtype that is named alone holds no values"
        place, expected = f"columns.{name}.categories", f"categories of dtype {record.of!r}"
        raise RecordError(place, record.categories, expected) from None


def _header(record: _Header | None, names: Sequence[str]) -> Any:
    if record is None:
        return pd.Index(names)
    try:
        return _index_of(names, record)
    except _MISFITS:
        raise RecordError("header.dtype", record.dtype, "a dtype of text") from None


def _index(record: _Index, length: int) -> Any:
    if len(record.labels) != length:
        raise RecordError("index.labels", record.labels, f"{length} labels, one per explanation")
    try:
        return _index_of(record.labels, record)
    except _MISFITS:
        expected = f"labels of dtype {record.dtype!r}"
        raise RecordError("index.labels", record.labels, expected) from None


def _index_to_json(index: Any) -> dict[str, Any]:
    if isinstance(index.dtype, pd.CategoricalDtype):
        index = index.astype(index.categories.dtype)
    labels = [label.item() if isinstance(label, np.generic) else label for label in index]
    marked = [None if is_missing(label) else label for label in labels]
    is_plain = all(label is None or isinstance(label, str | bool | int | float) for label in marked)
    name = _name_text(index.name)
    if not is_plain or isinstance(index, pd.MultiIndex):
        texts = [None if label is None else str(label) for label in marked]
        return {"name": name, "dtype": "str", "labels": texts}
    return {"name": name, "dtype": dtype_to_json(index.dtype), "labels": marked}


def _foreign_to_json(layout: Layout) -> dict[str, Any]:
    library = next((name for name, known in _FOREIGN.items() if known is layout.library), None)
    if library is None:
        raise SchemaError(
            f"a frame of {layout.library} cannot be kept; fit on one of pandas, polars or pyarrow."
        )
    columns = {
        name: list(dtype.categories) if isinstance(dtype, nw.Enum) else str(dtype)
        for name, dtype in ((name, layout.dtypes[name]) for name in layout.columns)
    }
    nulls = [name for name, mark in layout.missing.items() if mark is None]
    return {"library": library, "columns": columns, "nulls": nulls}


def _mark_text(mark: Any) -> str:
    return next((text for text, known in _MISSING_MARKS.items() if mark is known), "nan")


def _name_text(name: Any) -> str | None:
    return None if name is None else str(name)
