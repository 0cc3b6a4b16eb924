"""How the training frame looked, as plain values: models are asked with frames like it."""

import re
from typing import Any

import narwhals as nw
import numpy as np

from proce.errors import PersistenceError
from proce.explanation.exchange.layout import layout_record, read_layout
from proce.explanation.exchange.record import Record
from proce.schema import Layout

_LIBRARIES = {
    "pandas": nw.Implementation.PANDAS,
    "polars": nw.Implementation.POLARS,
    "pyarrow": nw.Implementation.PYARROW,
}
_WIDTHS = (8, 16, 32, 64)
_PLAIN = {f"{kind}{width}" for kind in ("Int", "UInt") for width in _WIDTHS}
_PLAIN |= {"Float32", "Float64", "Boolean", "String", "Categorical"}


def saved_layout(layout: Layout) -> dict[str, Any]:
    """Return a layout as plain values that :func:`load_layout` reads back."""
    library = next((name for name, each in _LIBRARIES.items() if each is layout.library), None)
    if library == "pandas":
        record = {"library": library, "frame": layout_record(layout)}
    elif library is not None:
        columns = {name: _dtype_text(layout.dtypes[name]) for name in layout.columns}
        nulls = [name for name, mark in layout.missing.items() if mark is None]
        record = {"library": library, "columns": columns, "nulls": nulls}
    else:
        raise PersistenceError(
            f"an explainer that was fitted on a frame of {layout.library} cannot be saved; fit it"
            " on a pandas, polars or pyarrow frame."
        )
    loaded = load_layout(record, layout.columns)
    for name in layout.columns:
        if loaded.dtypes[name] != layout.dtypes[name]:
            raise PersistenceError(
                f"the column {name!r} has the dtype {layout.dtypes[name]}, which cannot be saved;"
                " convert it to a plain one, such as with .astype(str), and fit again."
            )
    return record


def load_layout(record: dict[str, Any], columns: tuple[str, ...]) -> Layout:
    """Read what :func:`saved_layout` wrote, for a schema of these columns."""
    match record:
        case {"library": "pandas", "frame": frame}:
            read = read_layout(Record(frame, "layout"), columns)
            return Layout(read.library, read.columns, read.dtypes, read.missing, None, read.header)
        case {"library": "polars" | "pyarrow" as library, "columns": dict(dtypes), "nulls": nulls}:
            if set(dtypes) != set(columns):
                raise PersistenceError("the training frame has other columns than the schema.")
            kinds = {name: _dtype(text) for name, text in dtypes.items()}
            marks = {
                name: None if name in nulls else np.nan
                for name, kind in kinds.items()
                if kind.is_float()
            }
            return Layout(_LIBRARIES[library], tuple(kinds), kinds, marks)
    raise PersistenceError("how the training frame looked cannot be read.")


def _dtype_text(dtype: Any) -> Any:
    if isinstance(dtype, nw.Enum):
        return list(dtype.categories)
    return str(dtype)


def _dtype(record: Any) -> Any:
    if isinstance(record, list) and all(isinstance(each, str) for each in record):
        return nw.Enum(record)
    if isinstance(record, str) and re.fullmatch(r"\w+", record) and record in _PLAIN:
        return getattr(nw, record)()
    raise PersistenceError(f"{record!r} is not the dtype of a column.")
