"""Training data for the commands that learn from it: features, and perhaps the label."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proce.cli.console import note
from proce.cli.inputs import read_schema, split_names
from proce.errors import FileError

if TYPE_CHECKING:
    import pandas as pd

    from proce.schema import Schema

DataArgument = Annotated[
    Path, typer.Argument(metavar="DATA", help="The training rows: csv or Parquet.")
]
LabelOption = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The column that the model predicts.")
]
SchemaOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The features, as 'proce schema' writes them."),
]
DropOption = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="A column that is no feature, such as an id; repeat it."),
]
SeparatorOption = Annotated[
    str | None,
    typer.Option(metavar="SIGN", help="Between the cells of a csv file; found out by default."),
]


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The rows that a model was trained on, or will be."""

    frame: "pd.DataFrame"
    label: "pd.Series[Any] | None"
    schema: "Schema"


def read_data(
    path: Path,
    label: str | None,
    schema_file: Path | None,
    drop: list[str] | None,
    separator: str | None,
) -> TrainingData:
    """Read training rows; without a schema every other column is a feature."""
    from proce.batch.source import Source
    from proce.schema import Schema

    schema = None if schema_file is None else read_schema(schema_file)
    source = Source.open(path, separator)
    for each in source.notes:
        note(each)
    dropped = split_names(drop or (), source.columns)
    aside = [*dropped, *([label] if label is not None else [])]
    extra = source.require([*aside, *(schema.columns if schema else ())])
    if schema is not None and extra:
        note(f"Not in the schema, and so left out: {', '.join(extra)}.")
    columns = list(schema.columns) if schema else [c for c in source.columns if c not in aside]
    if "" in columns:
        raise FileError(
            f"{str(path)!r} has a column without a name, perhaps an index that was written along;"
            " name it, or leave it out with --drop ''."
        )
    table = source.table(schema)
    if not table.num_rows:
        raise FileError(f"{str(path)!r} has a header and no rows.")
    frame = table.select(columns).to_pandas()
    labels = None if label is None else table.column(label).to_pandas()
    return TrainingData(frame, labels, schema or Schema.infer(frame))
