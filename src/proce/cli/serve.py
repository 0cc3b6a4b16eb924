"""``proce serve``: the page and the service behind it, for one saved explainer."""

import logging
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from proce.cli.console import note
from proce.errors import FileError, MissingExtraError, PersistenceError

_MANIFEST = "manifest.json"  # what every saved explainer has
_DEMO_TARGET = "approved"
_NEEDED = ("fastapi", "prometheus_client", "sqlalchemy", "uvicorn")


def serve(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[FOLDER]", help="The explainer that 'proce fit' saved."),
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Rows to pick from on the page: csv or Parquet."),
    ] = None,
    id_name: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="The column of the rows that names them."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="The decision that people want: who has it needs no change, all others are led"
            " to it. Without it, two classes are led to each other.",
        ),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Serve the embedded loan data; needs nothing else.")
    ] = False,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="The port; 0 takes any free one.")
    ] = 8000,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Lines 'applicant TOKEN' or 'auditor TOKEN'; needed on any address but loopback.",
        ),
    ] = None,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A name under which browsers reach the service, beside its address. Can be"
            " repeated.",
        ),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where explanations are kept: a SQLite file, or postgresql://...; by default"
            " FOLDER.explanations.sqlite.",
        ),
    ] = None,
    keep_days: Annotated[
        float | None,
        typer.Option(metavar="N", help="Remove ended explanations after so many days."),
    ] = None,
    keep_records: Annotated[
        int | None,
        typer.Option(metavar="N", help="Keep at most so many ended explanations, the newest."),
    ] = None,
    workers: Annotated[
        int, typer.Option(metavar="N", min=1, max=256, help="Processes that explain.")
    ] = 2,
    queue: Annotated[
        int, typer.Option(metavar="N", min=1, help="Explanations that may wait; beyond it 503.")
    ] = 64,
    max_rows: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="Rows of one request, at most.")
    ] = 1_000,
    max_n: Annotated[
        int, typer.Option(metavar="N", min=1, max=100, help="Counterfactuals of a row, at most.")
    ] = 20,
    max_seconds: Annotated[
        float, typer.Option(metavar="N", min=1, help="Seconds of one search, at most.")
    ] = 120.0,
    max_body: Annotated[
        int, typer.Option(metavar="BYTES", min=1_000, help="Bytes of one request, at most.")
    ] = 4_000_000,
    access_log: Annotated[
        bool, typer.Option("--access-log", help="Write a line on stderr for every request.")
    ] = False,
    title: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="What stands at the top of the page; else FOLDER."),
    ] = None,
) -> None:
    """Show one page for a saved explainer, and answer REST.

    \b
    Examples:
      proce serve --demo
      proce serve credit --rows applicants.csv --id number --target good
      proce serve credit --host 0.0.0.0 --token-file tokens.txt

    The address is told on stderr once the explainer is loaded. Ctrl-C ends the service.
    """
    require_extra()
    from proce.server.routes.service import Limits
    from proce.server.run import ServeOptions
    from proce.server.run import serve as run

    folder, rows, title = _what_is_served(folder, rows, title, demo)
    limits = Limits(rows=max_rows, n=max_n, seconds=max_seconds, body_bytes=max_body)
    options = ServeOptions(
        folder=folder,
        rows=rows,
        id_name=id_name,
        target=target or (_DEMO_TARGET if demo else None),
        title=title,
        host=host,
        port=port,
        token_file=token_file,
        allowed_hosts=tuple(allowed_host or ()),
        database=database or f"{folder}.explanations.sqlite",
        keep_days=keep_days,
        keep_records=keep_records,
        workers=workers,
        queue=queue,
        limits=limits,
    )
    _write_logs(access_log)
    run(options, note)


def _write_logs(access_log: bool) -> None:
    """Let the service write its log to stderr, with the time and how grave it is."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.WARNING)
    logging.getLogger("proce.server").setLevel(logging.INFO)
    logging.getLogger("proce.access").setLevel(logging.INFO if access_log else logging.WARNING)


def _what_is_served(
    folder: Path | None, rows: Path | None, title: str | None, demo: bool
) -> tuple[Path, Path | None, str]:
    """Return the folder of the explainer, the file of the rows and the title."""
    if demo:
        from proce.cli.demo import demo_files

        if folder is not None or rows is not None:
            raise FileError(
                "--demo brings its own explainer and rows; leave FOLDER and --rows out."
            )
        return (*demo_files(), title or "Loan applications")
    if folder is None:
        raise FileError(
            "name the folder of an explainer that 'proce fit' saved, or try 'proce serve --demo'."
        )
    if not (folder / _MANIFEST).is_file():
        raise PersistenceError(
            f"'{folder}' holds no explainer; expected a folder that 'proce fit' or"
            " ProCE.save wrote."
        )
    if rows is not None and not rows.exists():
        raise FileError(f"--rows {rows}: there is no such file.")
    return folder, rows, title or folder.resolve().name


def require_extra() -> None:
    """Refuse to serve where the packages of the extra are not installed."""
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise MissingExtraError(
            f"'proce serve' needs {', '.join(missing)}. Install them with:"
            " pip install 'proce[serve]'"
        )
