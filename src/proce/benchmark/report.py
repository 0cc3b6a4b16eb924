"""Write what a run says: its summary, tables and figures."""

from pathlib import Path

from proce.benchmark.figures import draw_figures
from proce.benchmark.folder import RunFolder
from proce.benchmark.summary import summarise
from proce.benchmark.tables import tables_of
from proce.errors import BenchmarkError
from proce.files import write_text

_DIGITS = "%.6g"


def write_tables(path: str | Path) -> list[Path]:
    """Write the summary and every table of a run into its folder ``tables``.

    Parameters
    ----------
    path
        The run's folder.
    """
    folder = RunFolder.open(path)
    out = folder.path / "tables"
    summary = summarise(folder)
    try:
        out.mkdir(exist_ok=True)
        written = [out / "summary.csv"]
        write_text(written[0], summary.to_csv(index=False, float_format=_DIGITS))
        for table in tables_of(summary):
            for ending, text in (
                ("md", table.to_markdown()),
                ("tex", table.to_latex()),
                ("csv", table.to_csv()),
            ):
                written.append(out / f"{table.name}.{ending}")
                write_text(written[-1], text)
    except OSError as error:
        raise BenchmarkError(f"{out} cannot be written: {error.strerror}.") from None
    return written


def write_figures(path: str | Path) -> list[Path]:
    """Draw every figure of a run into its folder ``figures``.

    Parameters
    ----------
    path
        The run's folder.
    """
    folder = RunFolder.open(path)
    try:
        return draw_figures(summarise(folder), folder.path / "figures")
    except OSError as error:
        raise BenchmarkError(f"{folder.path} cannot be written: {error.strerror}.") from None
