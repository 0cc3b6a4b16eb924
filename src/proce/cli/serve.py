"""``proce serve``: the page and the service behind it, for one saved explainer."""

from pathlib import Path
from typing import Annotated

import typer

from proce.cli.console import note, progress_bars
from proce.errors import FileError, MissingExtraError


def serve(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[FOLDER]", help="The explainer that 'proce fit' saved."),
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Rows to pick from on the page: csv or Parquet."),
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
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What stands at the top of the page.")
    ] = None,
) -> None:
    """Show one page for a saved explainer, and answer REST.

    \b
    Examples:
      proce serve --demo
      proce serve credit --rows applicants.csv
    """
    _require_extra()
    from proce.server.routes.service import Settings
    from proce.server.run import ServeOptions
    from proce.server.run import serve as run

    if demo:
        from proce.cli.demo_folder import demo_folder

        with progress_bars() as progress:
            folder, rows = demo_folder(progress)
        title = title or "Loan applications"
    if folder is None:
        raise FileError("name the folder of an explainer, or try 'proce serve --demo'.")
    settings = Settings(title=title or folder.name, has_rows=rows is not None)
    run(ServeOptions(folder, rows, host, port, settings), note)


def _require_extra() -> None:
    from importlib.util import find_spec

    missing = [name for name in ("fastapi", "sqlalchemy", "uvicorn") if find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"'proce serve' needs {', '.join(missing)}. Install them with:"
            " pip install 'proce[serve]'"
        )
