"""What the tree itself must look like."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py")])
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "base", "manager"}
MACHINE_PATH = re.compile(r"(?<![\w.~/-])/(home|root|Users|work|tmp)/\w|[.]pyenv\b")


def files_of_the_project() -> list[Path]:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listing = [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True).stdout
    paths = [ROOT / name for name in names.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


def test_no_module_is_longer_than_500_lines() -> None:
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text("utf-8").splitlines())
        for path in MODULES
    }
    assert len(lengths) > 300
    assert {name: lines for name, lines in lengths.items() if lines > 500} == {}


def test_names_say_what_is_inside() -> None:
    """A file goes where its equation, noun or verb lives; these names are none of them."""
    names = [path.relative_to(ROOT) for path in MODULES]
    assert [str(n) for n in names if EMPTY_NAMES & {*n.with_suffix("").parts}] == []


def test_no_file_names_a_folder_of_one_machine() -> None:
    hits = []
    paths = files_of_the_project()
    assert ROOT / "README.md" in paths
    for path in paths:
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        hits += [f"{path.relative_to(ROOT)}: {hit[0]}" for hit in MACHINE_PATH.finditer(text)]
    assert hits == []
