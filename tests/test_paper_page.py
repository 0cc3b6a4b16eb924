"""docs/paper.md tells the truth about which files exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/paper.md").read_text("utf-8")
MENTIONS = re.findall(r"`(\w+/\w+\.py)`( \(not yet built\))?", PAGE)


def test_a_file_is_called_not_yet_built_exactly_while_it_is_missing() -> None:
    exists = {path: (ROOT / "src/proce" / path).exists() for path, _ in MENTIONS}
    wrong = {path for path, mark in MENTIONS if exists[path] == bool(mark)}
    assert wrong == set()


def test_every_numbered_equation_has_a_row() -> None:
    spans = re.findall(r"Eqs?\. (\d+)(?:-(\d+))?", PAGE)
    covered = {n for low, high in spans for n in range(int(low), int(high or low) + 1)}
    assert covered == set(range(1, 25))
