"""Fill the tables of ``docs/results.md`` from the summary of a run.

Run: ``python benchmarks/results.py [RUN_FOLDER ...]``. With folders, their summaries are first
copied to ``docs/results.csv``, or ``docs/sensitivity.csv`` for the preset of that name, and their
figures to ``docs/figures``; the documentation holds nothing else of a run. A run that is not
finished, and a file of another version, is refused before anything is written.
"""

import re
import shutil
import sys
from pathlib import Path

from proce.benchmark import RunFolder
from proce.benchmark.reporting.columns import SHOWN_METRICS
from proce.benchmark.reporting.figures import write_figures
from proce.benchmark.reporting.summary import read_summary, write_summary
from proce.benchmark.reporting.tables import build_tables, write_tables
from proce.errors import ProceError

DOCS = Path(__file__).parent.parent / "docs"
PAGE, SUMMARY = DOCS / "results.md", DOCS / "results.csv"


def fill(page: str, summary: Path) -> str:
    """Return the page with the text between ``<!-- name -->`` and ``<!-- end -->`` replaced."""
    for table in build_tables(read_summary(summary)[0]):
        block = re.compile(rf"(<!-- {table.name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text = table.to_markdown()
        page = block.sub(lambda match, text=text: f"{match[1]}\n{text}\n{match[2]}", page)
    return page


def copy_run(folder: RunFolder) -> None:
    """Copy the summary of a run, and its figures."""
    write_tables(folder.path)
    summary, origin = read_summary(folder.path / "tables" / "summary.csv")
    shown = summary[summary["metric"].isin(SHOWN_METRICS)]
    swept = folder.plan.name == "sensitivity"
    write_summary(DOCS / "sensitivity.csv" if swept else SUMMARY, shown, origin, "%.4g")
    figures = DOCS / "figures"
    figures.mkdir(exist_ok=True)
    for path in write_figures(folder.path):
        if path.suffix == ".svg":
            shutil.copyfile(path, figures / path.name)


def main() -> int:
    """Copy what the page needs from runs, and fill the page; return the exit code."""
    try:
        folders = [RunFolder.open(path) for path in sys.argv[1:]]
        for folder in folders:
            folder.require_finished()
        for folder in folders:
            copy_run(folder)
        PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), SUMMARY), encoding="utf-8")
    except ProceError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
