"""``proce schema``: list the features of a file, and write them to be edited."""

from pathlib import Path
from typing import Annotated

import typer

from proce.cli.console import is_terminal, note, print_table
from proce.cli.data import (
    DataArgument,
    DropOption,
    LabelOption,
    SeparatorOption,
    read_training_data,
)


def schema(
    data: DataArgument,
    label: LabelOption = None,
    drop: DropOption = None,
    separator: SeparatorOption = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Also write the features there, to be edited."),
    ] = None,
) -> None:
    """List the features of a file, and which may change how.

    \b
    Example:
      proce schema people.csv --label approved --out schema.json

    In the written file, change "free" to "fixed", "increase", "decrease", "waits" or "indirect"
    where a person cannot act freely, then give the file to 'proce fit --schema'.
    """
    from proce.files import require_place, write_text
    from proce.schema.infer import open_features_warning

    if out is not None:
        require_place(out)
    features = read_training_data(data, label, None, drop, separator).schema
    if is_terminal():
        header, *lines = features.table()
        print_table(header, lines)
        for text in features.notes:
            note(text)
    else:
        typer.echo(str(features))
    if (warning := open_features_warning(features)) is not None:
        note(warning)
    if out is not None:
        write_text(out, features.to_json() + "\n")
        note(f"Written to {out}.")
