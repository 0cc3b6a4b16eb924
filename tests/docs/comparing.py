"""What the documentation shows, compared with what happens."""

import importlib.util
import math
import re
import sys
from pathlib import Path
from types import ModuleType

NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
NOTEBOOKS = Path(__file__).parents[2] / "docs" / "notebooks"


def module_at(path: Path) -> ModuleType:
    """Import a script that is part of no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for their module
    spec.loader.exec_module(module)
    return module


def same_text(stored: str, fresh: str) -> bool:
    """Whether the words are equal, and the numbers but for their last digits."""
    words, numbers = [], []
    for text in (stored, fresh):
        words.append("".join(NUMBER.sub(" # ", text).split()))
        numbers.append([float(number.replace(",", "")) for number in NUMBER.findall(text)])
    return words[0] == words[1] and all(
        math.isclose(old, new, rel_tol=0.02, abs_tol=0.01)
        for old, new in zip(*numbers, strict=True)
    )
