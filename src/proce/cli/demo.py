"""``proce demo``."""

from pathlib import Path
from typing import Annotated

import typer

from proce import __version__


def demo(
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also write the results here.")
    ] = None,
) -> None:
    """Train a model on the loan data and show a rejected applicant."""
    typer.echo(f"proce {__version__}")
