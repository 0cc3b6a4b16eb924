"""Fill the tables of ``docs/results.md`` from the summary of a run.

Run: ``python benchmarks/results.py [RUN_FOLDER]``. With a folder, its summary is first copied to
``docs/results.csv`` and its figures to ``docs/figures``; the page holds nothing else of the run.
"""

import re
import shutil
import sys
from pathlib import Path

from proce.benchmark import RunFolder
from proce.benchmark.export import write_figures, write_tables
from proce.benchmark.summary import read_summary
from proce.benchmark.tables import SHOWN_METRICS, build_tables

DOCS = Path(__file__).parent.parent / "docs"
PAGE, SUMMARY = DOCS / "results.md", DOCS / "results.csv"


def fill(page: str, summary: Path) -> str:
    """Return the page with the text between ``<!-- name -->`` and ``<!-- end -->`` replaced."""
    for table in build_tables(read_summary(summary)):
        block = re.compile(rf"(<!-- {table.name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text = table.to_markdown()
        page = block.sub(lambda match, text=text: f"{match[1]}\n{text}\n{match[2]}", page)
    return page


def main() -> None:
    """Copy what the page needs from a run, and fill the page."""
    for run in map(Path, sys.argv[1:]):
        write_tables(run)
        if RunFolder.open(run).plan.name != "sensitivity":
            summary = read_summary(run / "tables" / "summary.csv")
            shown = summary[summary["metric"].isin(SHOWN_METRICS)]
            shown.to_csv(SUMMARY, index=False, float_format="%.4g")
        figures = DOCS / "figures"
        figures.mkdir(exist_ok=True)
        for path in write_figures(run):
            if path.suffix == ".svg":
                shutil.copyfile(path, figures / path.name)
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), SUMMARY), encoding="utf-8")


if __name__ == "__main__":
    main()
