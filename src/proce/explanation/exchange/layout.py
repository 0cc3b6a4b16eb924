"""How a frame looked, as JSON; what is read back makes pandas frames."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa

from proce.explanation.exchange.record import Record
from proce.schema import Layout

_WIDTHS = (8, 16, 32, 64)
_NUMPY = {f"{kind}{width}" for kind in ("int", "uint") for width in _WIDTHS}
_NUMPY |= {"bool", "float16", "float32", "float64", "object"}
_MASKED = {f"{kind}{width}" for kind in ("Int", "UInt") for width in _WIDTHS}
_MASKED |= {"boolean", "Float32", "Float64", "str"}
_ARROW = {*_NUMPY - {"object", "float16", "float32", "float64"}, "float", "double", "string"}
_ARROW |= {"large_string"}
_MISSING = {"None": None, "nan": np.nan, "NA": pd.NA, "NaT": pd.NaT}


@dataclass(frozen=True)
class LoadedLayout(Layout):
    """A layout that knows the index labels of some rows only.

    Attributes
    ----------
    places
        Where each row's label stands in the index, by the row's position.
    """

    places: Mapping[int, int] = field(default_factory=dict)

    def take(self, positions: Sequence[int]) -> "LoadedLayout":
        """Return the layout for a selection of the rows, which may repeat."""
        if self.index is None:
            return self
        return replace(self, index=self.index.take([self.places[each] for each in positions]))


def layout_record(layout: Layout, rows: Sequence[int] | None = None) -> dict[str, Any]:
    """Return a layout as plain values, with the index labels of some rows.

    Labels that are neither text nor numbers nor flags are written as text.
    """
    record: dict[str, Any] = {
        "columns": {name: _dtype_record(layout.dtypes[name]) for name in layout.columns}
    }
    if layout.library is not nw.Implementation.PANDAS:
        return record
    marks = {name: _missing_text(m) for name, m in layout.missing.items() if m is not None}
    header = layout.header
    if marks:
        record["missing"] = marks
    if header is not None and (header.name is not None or header.dtype != pd.Index(["a"]).dtype):
        record["header"] = {"name": _name(header.name), "dtype": _dtype_record(header.dtype)}
    if rows is not None and layout.index is not None:
        record["index"] = _index_record(layout.take(rows).index)
    return record


def read_layout(
    record: Record, columns: Sequence[str], rows: Sequence[int] | None = None
) -> LoadedLayout:
    """Read what :func:`layout_record` wrote, with the index where its rows are named."""
    dtypes = {name: _read_dtype(each) for name, each in record["columns"].fields()}
    if set(dtypes) != set(columns):
        record["columns"].refuse(f"the columns of the schema, {', '.join(columns)}")
    names = tuple(dtypes)
    header = pd.Index(names)
    if (given := record.get("header")) is not None:
        header = pd.Index(names, dtype=_index_dtype(given["dtype"]), name=_read_name(given))
    missing: dict[str, Any] = {name: None for name in names if dtypes[name] == np.dtype(object)}
    if (marks := record.get("missing")) is not None:
        for name, mark in marks.fields():
            if mark.text() not in _MISSING:
                mark.refuse(f"one of {', '.join(_MISSING)}")
            missing[name] = _MISSING[mark.text()]
    layout = LoadedLayout(nw.Implementation.PANDAS, names, dtypes, missing, None, header)
    if (index := record.get("index")) is None or rows is None:
        return layout
    places = {row: place for place, row in enumerate(rows)}
    return replace(layout, index=_read_index(index, len(rows)), places=places)


def _dtype_record(dtype: Any) -> Any:
    if isinstance(dtype, pd.CategoricalDtype):
        return {
            "dtype": "category",
            "categories": dtype.categories.tolist(),
            "of": _dtype_record(dtype.categories.dtype),
            "ordered": bool(dtype.ordered),
        }
    if isinstance(dtype, pd.StringDtype):
        return "str" if dtype.na_value is np.nan else f"string[{dtype.storage}]"
    if isinstance(dtype, pd.ArrowDtype):
        text = str(dtype.pyarrow_dtype)
        return f"arrow:{text}" if text in _ARROW else "object"
    if isinstance(dtype, nw.dtypes.DType):
        return _foreign_dtype(dtype)
    name = str(getattr(dtype, "name", dtype))
    if name in _NUMPY | _MASKED:
        return name
    return "float64" if getattr(dtype, "kind", "O") == "f" else "object"


def _foreign_dtype(dtype: Any) -> Any:
    """Return what is nearest in pandas to a dtype of another library."""
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


def _read_dtype(record: Record) -> Any:
    if isinstance(record.value, dict):
        levels = record["categories"]
        values = [each.level() for each in levels.items()]
        if len({(type(each), each) for each in values}) != len(values):
            levels.refuse("every category once")
        try:
            index = pd.Index(values, dtype=_index_dtype(record["of"]))
            return pd.CategoricalDtype(index, ordered=record["ordered"].flag())
        except (ValueError, TypeError, OverflowError):
            levels.refuse(f"categories of dtype {record['of'].value!r}")
    name = record.text()
    if name in _NUMPY:
        return np.dtype(name)
    if name in _MASKED:
        return pd.api.types.pandas_dtype(name)
    if name in ("string[python]", "string[pyarrow]"):
        return pd.StringDtype(name[7:-1])
    if not name.startswith("arrow:") or name.removeprefix("arrow:") not in _ARROW:
        record.refuse("the name of a dtype, such as int64 or str")
    return pd.ArrowDtype(pa.type_for_alias(name.removeprefix("arrow:")))


def _index_dtype(record: Record) -> Any:
    dtype = _read_dtype(record)
    return np.dtype(object) if isinstance(dtype, pd.CategoricalDtype) else dtype


def _index_record(index: Any) -> dict[str, Any]:
    if isinstance(index.dtype, pd.CategoricalDtype):
        index = index.astype(index.categories.dtype)
    labels = [each.item() if isinstance(each, np.generic) else each for each in index]
    plain = all(isinstance(each, str | bool | int | float) for each in labels)
    if not plain or isinstance(index, pd.MultiIndex):
        return {"name": _name(index.name), "dtype": "str", "labels": [str(x) for x in labels]}
    marked = [None if each != each else each for each in labels]
    return {"name": _name(index.name), "dtype": _dtype_record(index.dtype), "labels": marked}


def _read_index(record: Record, length: int) -> Any:
    items = record["labels"].items()
    labels = [None if each.value is None else each.level() for each in items]
    if len(labels) != length:
        record["labels"].refuse(f"{length} labels, one per explanation")
    try:
        return pd.Index(labels, dtype=_index_dtype(record["dtype"]), name=_read_name(record))
    except (ValueError, TypeError, OverflowError, pa.ArrowException):
        record["labels"].refuse(f"labels of dtype {record['dtype'].value!r}")


def _missing_text(mark: Any) -> str:
    for text, known in _MISSING.items():
        if mark is known:
            return text
    return "nan"


def _read_name(record: Record) -> str | None:
    name = record.get("name")
    return None if name is None else name.text()


def _name(name: Any) -> str | None:
    return None if name is None else str(name)
