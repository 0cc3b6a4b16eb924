"""The page of each method is in the contents, and its example runs as printed."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(DOCS.glob("methods/*.md"))
EXTRA = ("pygad", "dice_ml")  # of the bench extra


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_in_the_contents(page: Path) -> None:
    contents = (DOCS.parent / "mkdocs.yml").read_text("utf-8")
    assert page.relative_to(DOCS).as_posix() in contents


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_example_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    text = page.read_text("utf-8")
    if "proce[bench]" in text and not all(find_spec(name) for name in EXTRA):
        pytest.skip("the bench extra is not installed")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    command = [sys.executable, "-c", "\n".join(blocks)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert run.stdout
