"""The README and the site's first page show the same ten lines, their output and its picture."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from .docs.comparing import module_at, same_text

ROOT = Path(__file__).parents[1]
README, INDEX = ROOT / "README.md", ROOT / "docs" / "index.md"
FIGURES = ROOT / "docs" / "figures"
SOURCE = re.compile(r"(?:src|srcset)=\"([^\"#]+)")


def block(page: Path, language: str) -> str:
    found = re.search(
        rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    assert found is not None
    return found[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the ten lines were run, without a warning, and what they printed."""
    folder = tmp_path_factory.mktemp("newcomer")
    command = [sys.executable, "-W", "error", "-c", block(README, "python")]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    (folder / "printed.txt").write_text(run.stdout, "utf-8")
    return folder


@pytest.fixture(scope="module")
def pictures() -> Any:
    return module_at(FIGURES / "answer.py")


def test_the_ten_lines_are_ten_and_the_same_on_both_pages() -> None:
    lines = [line for line in block(README, "python").splitlines() if line.strip()]
    assert len(lines) == 10
    for language in ("python", "output"):
        assert block(README, language) == block(INDEX, language)


def test_they_print_what_is_shown(folder: Path) -> None:
    """On every machine: what PyTorch learns with other last digits does not change this answer."""
    assert same_text(block(README, "output"), (folder / "printed.txt").read_text("utf-8"))


def test_the_pictures_show_the_page_that_they_write(folder: Path, pictures: Any) -> None:
    words = pictures.words((folder / "answer.html").read_text("utf-8"))
    assert len(words) > 500
    for name in pictures.PICTURES:
        with Image.open(FIGURES / name) as picture:
            notes: dict[str, str] = picture.text  # type: ignore[attr-defined]
        assert same_text(notes["Description"], words), "run docs/figures/answer.py"


@pytest.mark.parametrize("page", [README, INDEX], ids=lambda page: page.name)
def test_a_page_begins_with_the_picture_light_and_dark(page: Path, pictures: Any) -> None:
    text = page.read_text("utf-8")
    shown = SOURCE.findall(text)
    assert {Path(name).name for name in shown} <= set(pictures.PICTURES)
    assert {"answer-light.png", "answer-dark.png"} <= {Path(name).name for name in shown}
    assert all((page.parent / name).is_file() for name in shown)
    assert text.index("<picture>") < text.index("\n## ")
