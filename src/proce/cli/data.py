"""Training data for the commands that learn from it: features, and the label if it is named."""

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
    Path,
    typer.Argument(
        metavar="DATA",
        help="The training rows: a csv or Parquet file, or a folder of Parquet files.",
    ),
]
LabelOption = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="The column with the classes that the model predicts."),
]
SchemaOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The features, in a file that 'proce schema' wrote; inferred from DATA by default.",
    ),
]
DropOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Columns that are not features, such as an id, separated by commas. Can be repeated.",
    ),
]
SeparatorOption = Annotated[
    str | None,
    typer.Option(
        metavar="CHARACTER",
        help="What separates the cells of a csv file; detected by default.",
    ),
]


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The rows that a model was trained on, or will be."""

    frame: "pd.DataFrame"  # the columns of the features
    label: "pd.Series[Any] | None"
    schema: "Schema"  # the features, read from a file or inferred from the frame


def read_training_data(
    path: Path,
    label: str | None,
    schema_file: Path | None,
    drop: list[str] | None,
    separator: str | None,
) -> TrainingData:
    """Read training rows; without a schema, all columns but label and ``drop`` are features."""
    from proce.batch.reading.source import Source
    from proce.schema import Schema

    schema = None if schema_file is None else read_schema(schema_file)
    source = Source.open(path, separator)
    for text in source.notes:
        note(text)
    dropped = split_names(drop or (), source.columns)
    not_features = [*dropped, *([label] if label is not None else [])]
    extra = source.require([*not_features, *(schema.columns if schema else ())])
    if schema is not None and extra:
        note(f"Not in the schema, and so left out: {', '.join(extra)}.")
    columns = (
        list(schema.columns)
        if schema
        else [column for column in source.columns if column not in not_features]
    )
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
