"""``proce serve``."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from proce.errors import MissingExtraError, UnsupportedOption


def serve(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="What 'proce fit' wrote.")],
    rows: Annotated[Path | None, typer.Option(metavar="FILE", help="Rows to choose from.")] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")] = 8000,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Holds the token that requests must carry.")
    ] = None,
) -> None:
    """Offer explanations in a browser; not in this version yet.

    \b
    Example:
      proce serve credit --rows people.csv
    """
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise MissingExtraError(
            "the service needs packages that are not installed; install them with"
            " pip install 'proce[serve]'."
        )
    raise UnsupportedOption(
        "the service is not in this version yet; explain rows with 'proce explain'."
    )
