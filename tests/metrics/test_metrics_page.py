"""docs/metrics.md tells the truth about the measures."""

import math
import re
from pathlib import Path

from proce.metrics import MEASURES

PAGE = (Path(__file__).parents[2] / "docs/metrics.md").read_text("utf-8")
ROW = re.compile(r"^\| `(\w+)` \| .+ \| (\w+) \| (0|not defined) \|$", re.MULTILINE)


def test_the_table_has_every_measure_with_its_direction_and_what_none_counts_as() -> None:
    assert ROW.findall(PAGE) == [
        (measure.name, measure.better, "not defined" if math.isnan(measure.missing) else "0")
        for measure in MEASURES
    ]
