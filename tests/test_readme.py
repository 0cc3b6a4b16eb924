"""The README's example runs as printed."""

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def first_example() -> str:
    block = re.search(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert block is not None
    return block[1]


def test_the_example_runs_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", first_example()]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert run.stdout


def test_the_example_has_at_most_ten_lines_of_code() -> None:
    assert len([line for line in first_example().splitlines() if line.strip()]) <= 10
