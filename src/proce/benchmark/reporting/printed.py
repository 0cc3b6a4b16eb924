"""The values that the paper prints, to stand beside ours.

``printed.csv`` holds Tables 1 to 3: percentages, IM1, IM2 (a tenth of what is printed, whose
column is headed x10) and seconds per row, each with the standard deviation where one is given.
"""

import csv
from functools import lru_cache
from importlib.resources import files


@lru_cache(maxsize=1)
def read_printed_values() -> dict[tuple[str, str, str, str], tuple[float, float]]:
    """Return (mean, standard deviation) by data set, classifier, row of the table and metric."""
    with files("proce.benchmark.reporting").joinpath("printed.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    return {
        (line["dataset"], line["classifier"], line["row"], line["metric"]): (
            float(line["mean"]),
            float(line["sd"] or "nan"),
        )
        for line in lines
    }
