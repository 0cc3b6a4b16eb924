"""docs/metrics.md tells the truth about the measures, and its code runs."""

import math
import re
import subprocess
import sys
from pathlib import Path

from proce.metrics import MEASURES

PAGE = (Path(__file__).parents[2] / "docs/metrics.md").read_text("utf-8")
ROW = re.compile(r"^\| `(\w+)` \| .+ \| (\w+) \| (0|not defined) \|$", re.MULTILINE)


def test_the_table_has_every_measure_with_its_direction_and_what_none_counts_as() -> None:
    told = [(name, better, none) for name, better, none in ROW.findall(PAGE)]
    assert told == [
        (each.name, each.better, "not defined" if math.isnan(each.missing) else "0")
        for each in MEASURES
    ]


def test_the_code_runs_without_a_warning(tmp_path: Path) -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    command = [sys.executable, "-W", "error", "-c", code]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert "recourse_success" in run.stdout
    assert "'im1': 'judges=" in run.stdout
