"""Texts to begin with: those of the tests and of the documentation."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
_MAX_CHARACTERS = 4_000  # of a text to begin with
_QUOTED = re.compile(r'"([^"\n]+)"|\'([^\'\n]+)\'')
_BLOCK = re.compile(r"```\w*\n(.*?)```", re.DOTALL)


def texts(tests: str, *needles: str) -> list[bytes]:
    """Return the texts of some tests, and of the documentation, that hold one of some words.

    Parameters
    ----------
    tests
        The folder of the tests, below ``tests``.
    needles
        Words of the language.
    """
    found = [
        constant
        for path in sorted((ROOT / "tests" / tests).rglob("*.py"))
        for constant in _constants(path)
    ]
    kept = {
        text: None
        for text in [*found, *_documented()]
        if len(text) <= _MAX_CHARACTERS and any(needle in text for needle in needles)
    }
    return [text.encode("utf-8", "surrogatepass") for text in kept]


def _constants(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@cache
def _documented() -> tuple[str, ...]:
    """Return the blocks of code of the documentation, and what stands in quotes there."""
    found: list[str] = []
    for path in sorted((ROOT / "docs").rglob("*.md")):
        for block in _BLOCK.findall(path.read_text("utf-8")):
            found.append(block)
            found += [one or other for one, other in _QUOTED.findall(block)]
    return tuple(found)
