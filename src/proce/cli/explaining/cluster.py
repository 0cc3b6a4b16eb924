"""``proce explain --engine dask``: from a folder of Parquet files into another, on a cluster."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proce.cli.console import interrupt_watch, note, progress_bars
from proce.errors import FileError, SearchError, did_you_mean

if TYPE_CHECKING:
    from proce.batch.cluster.run import RunSummary
    from proce.explanation.record.view import View
    from proce.methods import ProCE

_ENGINES = ("local", "dask")
_EXIT_FILES_FAILED = 3
_MAX_FILES_NAMED = 20

EngineOption = Annotated[
    str,
    typer.Option(
        metavar="ENGINE",
        help="Where rows are explained: local, or dask for a cluster, from a folder of Parquet"
        " files into another.",
    ),
]
SchedulerOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="The Dask scheduler, such as tcp://10.0.0.5:8786; by default a cluster is started on"
        " this machine.",
    ),
]


def uses_cluster(engine: str, scheduler: str | None, n_workers: int) -> bool:
    """Return whether a cluster explains the rows."""
    if engine not in _ENGINES:
        raise SearchError(
            f"--engine is {engine!r}; expected local or dask." + did_you_mean(engine, _ENGINES)
        )
    if scheduler is not None and engine != "dask":
        raise SearchError("--scheduler is the address of a Dask cluster; add --engine dask.")
    if scheduler is not None and n_workers > 1:
        raise SearchError(
            f"--workers is {n_workers}, and a scheduler has workers of its own. Leave it out,"
            " or leave --scheduler out to start a cluster on this machine."
        )
    return engine == "dask"


def require_folders(out: str | None, receipts: Path | None, separator: str | None) -> str:
    """Refuse what a cluster cannot do; return the folder for the results."""
    if out is None:
        raise FileError("--engine dask writes a folder of Parquet files; name it with --out.")
    if receipts is not None:
        raise FileError(
            "--receipts cannot be written by a cluster; explain the rows that need one without"
            " --engine."
        )
    if separator is not None:
        raise FileError("--separator is for csv; --engine dask reads Parquet files.")
    return out


def explain_on_cluster(
    folder: Path,
    rows: str,
    out: str,
    outcomes: str | None,
    read_options: "Callable[[ProCE], dict[str, Any]]",
    *,
    view: "View",
    id_name: str | None,
    restart: bool,
    scheduler: str | None,
    n_workers: int,
) -> int:
    """Explain a folder of Parquet files; return the exit code."""
    from proce.batch.cluster.connection import connect, require_dask
    from proce.batch.cluster.explainer_payload import pack
    from proce.batch.cluster.plan import FolderRequest, plan_run
    from proce.batch.cluster.run import run_plan
    from proce.cli.explaining.output import exit_code

    require_dask()
    payload = pack(folder)
    options = read_options(payload.open())
    request = FolderRequest(rows, out, outcomes, options, view, id_name, restart)
    plan = plan_run(payload, request)
    with interrupt_watch(), progress_bars() as progress:
        try:
            with connect(scheduler, n_workers) as client:
                summary = run_plan(plan, client, progress)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"interrupted; finished parts are kept in {out}: run the same command again to go"
                " on"
            ) from None
    _show(summary, out, outcomes)
    return _EXIT_FILES_FAILED if summary.failures else exit_code(summary.rows)


def _show(summary: "RunSummary", *folders: str | None) -> None:
    from proce.cli.explaining.output import JobSummary, show_summary

    if summary.n_done_before:
        note(f"{summary.n_done_before:,} rows had been done before.")
    for name, reason in list(summary.failures.items())[:_MAX_FILES_NAMED]:
        note(f"{name}: {reason}")
    show_summary(JobSummary(summary.rows), *folders)
    if n_failed := len(summary.failures):
        note(
            f"{n_failed:,} file{'s' * (n_failed != 1)} could not be done whole and"
            f" {'are' if n_failed != 1 else 'is'} named above; mend what is wrong, then run the"
            " same command again: it does only what is left."
        )
