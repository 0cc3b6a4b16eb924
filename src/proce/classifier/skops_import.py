"""Import skops without PyTorch.

To list the types of scikit-learn, skops imports every module of it. One of them imports PyTorch
wherever that is installed, which takes more than a second, and estimators do not need it.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from threading import get_ident
from types import ModuleType


def import_skops() -> ModuleType:
    """Return ``skops.io``; PyTorch is not imported on its behalf."""
    if "skops.io" in sys.modules:
        return sys.modules["skops.io"]
    finder = _WithoutTorch()
    sys.meta_path.insert(0, finder)
    try:
        return import_module("skops.io")
    finally:
        sys.meta_path.remove(finder)


class _WithoutTorch(MetaPathFinder):
    """Finds no PyTorch in the thread that made it; other threads may import it meanwhile."""

    def __init__(self) -> None:
        self.thread = get_ident()

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        """Return nothing, so that the next finder looks; refuse PyTorch."""
        if name == "torch" and get_ident() == self.thread:
            raise ModuleNotFoundError("PyTorch is not needed here", name=name)
