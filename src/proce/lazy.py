"""Names of a package that are loaded when somebody first asks for them."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def loader(package: str, locations: Mapping[str, str]) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a package (PEP 562) that keeps what it has loaded."""

    def load(name: str) -> object:
        if name not in locations:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(locations[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
