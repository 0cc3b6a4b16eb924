"""``proce report``: write explanations as an HTML page."""

from pathlib import Path
from typing import Annotated

import typer

from proce.cli.console import note
from proce.cli.inputs import ViewOption, read_view


def report(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.json", help="Explanations that 'proce explain --out FILE.json' wrote."
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE.html", help="The page to write.")] = Path(
        "report.html"
    ),
    view: ViewOption = "applicant",
) -> None:
    """Write explanations as an HTML page, to be read or printed.

    \b
    Example:
      proce report result.json --out report.html
      proce report audit.json --view auditor --out audit.html
    """
    from proce.errors import SchemaError
    from proce.explanation import Explanations
    from proce.files import read_text, require_place
    from proce.schema.features.numerals import counted

    require_place(out)
    read_view(view)
    try:
        result = Explanations.from_json(read_text(file, "the file"))
    except SchemaError as error:
        raise SchemaError(f"{file}: {error}") from None
    result.save_html(out, view=read_view(view))
    note(f"Written to {out}: {counted(len(result), 'row')}.")
