"""Names of a package that are loaded when somebody first asks for them."""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def load_on_first_use(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package (PEP 562) that load what it names.

    Which names these are, and where they come from, is read from the imports that the package
    makes for type checkers alone, so that they are listed once.
    """
    module: Any = sys.modules[package]
    source = module.__loader__.get_source(package)
    if source is None:
        raise ImportError(
            f"{package} cannot be imported without its source, which says where its names are."
            " Install the package with its .py files; PyInstaller keeps them with"
            " module_collection_mode={'proce': 'pyz+py'}."
        )
    locations = {
        alias.name: str(statement.module)
        for block in ast.parse(source).body
        if isinstance(block, ast.If)
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }

    def load(name: str) -> object:
        if name not in locations:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(locations[name]), name)
        setattr(module, name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(module), *locations})

    return load, names
