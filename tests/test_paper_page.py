"""docs/paper.md names files that exist, and every equation."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/paper.md").read_text("utf-8")
MENTIONS = re.findall(r"`((?:\w+/)*\w+\.py)`", PAGE)


def test_every_file_that_is_named_exists() -> None:
    assert any(path.count("/") > 1 for path in MENTIONS)
    assert [path for path in MENTIONS if not (ROOT / "src/proce" / path).exists()] == []


def test_every_numbered_equation_has_a_row() -> None:
    spans = re.findall(r"Eqs?\. (\d+)(?:-(\d+))?", PAGE)
    covered = {n for low, high in spans for n in range(int(low), int(high or low) + 1)}
    assert covered == set(range(1, 25))
