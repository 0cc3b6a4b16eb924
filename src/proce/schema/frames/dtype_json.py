"""The dtypes of frames as JSON: a name, or an object for the categories of pandas."""

import math
from typing import Annotated, Any, Literal

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
from pydantic import AfterValidator, Discriminator, PlainValidator
from pydantic_core import PydanticCustomError

from proce.schema.features.levels import Level, level_key
from proce.schema.records import StrictRecord, union_tag

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


def is_foreign_dtype(record: Any) -> bool:
    """Whether a record is that of a dtype which :func:`foreign_dtype_from_json` reads."""
    is_enum = isinstance(record, list) and all(isinstance(level, str) for level in record)
    return is_enum or (isinstance(record, str) and record in _NARWHALS)


def _known_foreign_dtype(record: Any) -> Any:
    if is_foreign_dtype(record):
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


def index_dtype_from_json(record: str | CategoryRecord) -> Any:
    """Return the dtype of an index; its labels are plain objects where it had categories."""
    return dtype_from_json("object" if isinstance(record, CategoryRecord) else record)


def foreign_dtype_to_json(dtype: Any) -> Any:
    """Return a dtype of polars or pyarrow, as narwhals names it."""
    return list(dtype.categories) if isinstance(dtype, nw.Enum) else str(dtype)


def foreign_dtype_from_json(record: str | list[str]) -> Any:
    """Return the dtype that a checked record of :func:`foreign_dtype_to_json` names."""
    return nw.Enum(record) if isinstance(record, list) else getattr(nw, record)()
