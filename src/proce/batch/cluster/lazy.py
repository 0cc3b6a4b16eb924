"""Explain a Dask frame lazily, partition by partition."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

import pandas as pd

from proce.arguments import kind_name
from proce.batch.cluster.connection import require_dask
from proce.batch.cluster.explainer_payload import ExplainerPayload, pack
from proce.errors import SchemaError, UnsupportedOption, did_you_mean
from proce.methods import Method, ProCE
from proce.methods.calls.explain_options import EXPLAIN_OPTIONS
from proce.schema.features.levels import quoted


def explain_dask(explainer: "Method | str | PathLike[str]", ddf: Any, **options: Any) -> Any:
    """Return the counterfactuals of a Dask frame as a Dask frame, which is computed when asked.

    Parameters
    ----------
    explainer
        A fitted explainer, or the folder that one was saved to. It travels to each worker once.
    ddf
        The rows, a ``dask.dataframe.DataFrame``. Columns that the schema does not name are left
        out; index and divisions are kept.
    **options
        The options of the explainer's ``explain`` but ``progress`` and ``budget_seconds``. They
        are checked at once.

    Returns
    -------
    dask.dataframe.DataFrame
        The lines of ``to_frame()`` with the dtypes of ``ddf``. The column ``row`` counts in a
        partition; the index says whose line it is.
    """
    require_dask()
    import dask.dataframe as dd
    from dask.delayed import delayed

    if not isinstance(ddf, dd.DataFrame):
        raise SchemaError(
            f"ddf is {kind_name(ddf)}; expected a dask.dataframe.DataFrame. For other frames"
            " call explainer.explain, or proce.explain_parallel."
        )
    for name, option in EXPLAIN_OPTIONS.items():
        if option.is_for_now and options.get(name) is not None:
            raise UnsupportedOption(
                f"{name} belongs to a call that runs at once; a Dask frame is explained later, and"
                " in pieces. Leave it out."
            )
    payload = pack(explainer)
    if options.get("pick") == "typical":
        payload = payload.with_looks()
    opened = payload.open()
    if isinstance(opened, ProCE):
        options = {"keep_front": False, **options}
    like = opened.explain(ddf._meta, **options)
    features = like.context.codec.schema.columns
    rows = ddf[[name for name in ddf.columns if name in features]]
    meta = opened.explain(rows._meta, **options).to_frame()
    sent = delayed(payload, pure=True, traverse=False)
    return rows.map_partitions(
        _explain_partition, sent, options=options, like=rows._meta, meta=meta, token="proce"
    )


def _explain_partition(
    part: pd.DataFrame, payload: ExplainerPayload, options: Mapping[str, Any], like: pd.DataFrame
) -> pd.DataFrame:
    frame: pd.DataFrame = payload.explain(conform(part, like), options).to_frame()
    return frame


def conform(part: pd.DataFrame, like: pd.DataFrame) -> pd.DataFrame:
    """Return a partition with the columns, their order and the dtypes that its frame declares."""
    if absent := [name for name in like.columns if name not in part.columns]:
        raise SchemaError(
            f"a partition lacks the column {absent[0]!r}; it has {quoted(tuple(part.columns))}."
            + did_you_mean(absent[0], part.columns)
        )
    part = part[list(like.columns)]
    others = [name for name in like.columns if part[name].dtype != like[name].dtype]
    others = [name for name in others if not _is_open(like[name].dtype)]
    return part.assign(**{name: _cast(part[name], like[name].dtype) for name in others})


def _is_open(dtype: Any) -> bool:
    """Return whether a dtype stands for categories that Dask does not know yet."""
    from dask.dataframe.utils import UNKNOWN_CATEGORIES

    return isinstance(dtype, pd.CategoricalDtype) and UNKNOWN_CATEGORIES in dtype.categories


def _cast(column: "pd.Series[Any]", dtype: Any) -> "pd.Series[Any]":
    """Return a column in another dtype that holds each of its values as it is."""
    try:
        cast = column.astype(dtype)
    except (ValueError, TypeError, OverflowError):
        cast = None
    same_gaps = cast is not None and bool((cast.isna() == column.isna()).all())
    if cast is None or not same_gaps or not (cast.dropna() == column.dropna()).all():
        raise SchemaError(
            f"a partition has the column {column.name!r} as {column.dtype}, with values that"
            f" {dtype}, the dtype of the whole frame, does not hold. Convert the column in every"
            " partition, as with ddf.astype."
        )
    return cast
