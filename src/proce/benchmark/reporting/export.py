"""Write the summary, the tables and the figures of a run into its folder."""

from pathlib import Path

from proce.benchmark.folder import RunFolder
from proce.benchmark.reporting.figures import draw_figures
from proce.benchmark.reporting.summary import summarise
from proce.benchmark.reporting.summary_file import Origin, write_summary
from proce.benchmark.reporting.tables import build_tables
from proce.files import make_folder, write_text

_FLOAT_FORMAT = "%.6g"


def write_tables(path: str | Path) -> list[Path]:
    """Write the summary and every table of a run into its folder ``tables``."""
    folder = RunFolder.open(path)
    out = folder.path / "tables"
    summary = summarise(folder)
    make_folder(out)
    written = [out / "summary.csv"]
    write_summary(written[0], summary, Origin.of(folder), _FLOAT_FORMAT)
    for table in build_tables(summary):
        for suffix, text in (
            ("md", table.to_markdown()),
            ("tex", table.to_latex()),
            ("csv", table.to_csv()),
        ):
            written.append(out / f"{table.name}.{suffix}")
            write_text(written[-1], text)
    return written


def write_figures(path: str | Path) -> list[Path]:
    """Draw every figure of a run into its folder ``figures``."""
    folder = RunFolder.open(path)
    return draw_figures(summarise(folder), folder.path / "figures")
