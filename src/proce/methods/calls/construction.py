"""Checks of what a method was made with, which happen when it is fitted."""

from typing import Any

from proce.errors import SchemaError, SearchError
from proce.schema import Schema
from proce.streams import check_seed


def check_construction(schema: Any, settings: Any, settings_type: type, seed: Any) -> None:
    """Refuse a schema, settings or a seed that a method cannot be made with."""
    if schema is not None and not isinstance(schema, Schema):
        raise SchemaError(
            f"schema is a {type(schema).__name__}; expected proce.Schema([...]), or None to infer"
            " it from the frame."
        )
    if not isinstance(settings, settings_type):
        raise SearchError(
            f"settings is a {type(settings).__name__}; expected {settings_type.__name__}(...)."
        )
    check_seed(seed)
