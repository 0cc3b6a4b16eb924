"""``proce explain``: explain the rows of a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proce import __version__
from proce.cli.console import ask_on_one_thread, interrupt_watch, note, progress_bars
from proce.cli.data import SeparatorOption
from proce.cli.explaining.cluster import (
    EngineOption,
    SchedulerOption,
    explain_on_cluster,
    require_folders,
    uses_cluster,
)
from proce.cli.first_use import compile_beside
from proce.cli.inputs import ViewOption, read_class, read_ranges, read_rules, read_view, split_names
from proce.errors import FileError, ModelError, did_you_mean
from proce.methods.calls.explain_options import EXPLAIN_OPTIONS

if TYPE_CHECKING:
    from proce.batch.reading.source import Source
    from proce.methods import ProCE
    from proce.schema import Schema

_TABLE_SUFFIXES = (".csv", ".parquet")
_SUFFIXES = (*_TABLE_SUFFIXES, ".json")
_MAX_COLUMNS_NAMED = 6  # of those that are left out


def call_option(name: str, *flags: str, metavar: str, form: str = "") -> Any:
    """Return the command's option for one of the call, in its declared words."""
    option = EXPLAIN_OPTIONS[name]
    least = 1 if option.bounds is not None and option.bounds.whole else None
    return typer.Option(*flags, metavar=metavar, help=option.help + form, min=least)


def require_refits(
    explainer: "ProCE", folder: Path, robust: float | None, models: int | None
) -> None:
    """Refuse ``--robust`` and ``--models`` where the explainer cannot fit its model again."""
    from proce.classifier.refits import can_refit

    if (robust is None and models is None) or explainer.fitted_.model_refits is not None:
        return
    asked = f"--models {models}" if robust is None else f"--robust {robust:g}"
    reason = "it was fitted without them. Fit it again with 'proce fit --label COLUMN --models N'."
    if not can_refit(explainer.fitted_.classifier):
        reason = (
            "its model is no estimator of scikit-learn's kind, which could be fitted again. Leave"
            f" {asked.split()[0]} out."
        )
    raise ModelError(f"{asked} needs refits of the model, and '{folder}' has none: {reason}")


def explain(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The explainer that 'proce fit' saved.")
    ],
    rows_text: Annotated[
        str,
        typer.Argument(
            metavar="ROWS",
            help="The rows to explain: a csv or Parquet file, or a folder of Parquet files.",
        ),
    ],
    target: Annotated[str | None, call_option("target", metavar="CLASS")] = None,
    n: Annotated[int, call_option("n", "-n", metavar="N")] = 4,
    pick: Annotated[str, call_option("pick", metavar="WAY")] = "closest",
    vary: Annotated[
        list[str] | None,
        call_option("vary", metavar="NAME", form=" Separated by commas; can be repeated."),
    ] = None,
    ranges: Annotated[
        list[str] | None,
        call_option("ranges", "--range", metavar="NAME=LOW:HIGH", form=" Can be repeated."),
    ] = None,
    max_changes: Annotated[int | None, call_option("max_changes", metavar="N")] = None,
    min_probability: Annotated[float | None, call_option("min_probability", metavar="P")] = None,
    causal: Annotated[str | None, call_option("causal", metavar="MODE")] = None,
    robust: Annotated[
        float | None,
        call_option("robust", metavar="P", form=" The explainer was fitted with --models."),
    ] = None,
    models: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="How many refits to look at; by default as fitted."),
    ] = None,
    rules: Annotated[
        Path | None, call_option("rules", metavar="FILE", form=" One per line.")
    ] = None,
    id_name: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="A column that names the rows; it stands in front of every counterfactual.",
        ),
    ] = None,
    out_text: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write to this .csv, .parquet or .json file; by default to stdout.",
        ),
    ] = None,
    outcomes_text: Annotated[
        str | None,
        typer.Option(
            "--outcomes",
            metavar="FILE",
            help="Also write a line for every row, found or not, to this .csv or .parquet file.",
        ),
    ] = None,
    receipts: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Also write a receipt of every row there, for 'proce verify'."
        ),
    ] = None,
    restart: Annotated[
        bool,
        typer.Option("--restart", help="Start anew; discard what an interrupted run has kept."),
    ] = False,
    workers: Annotated[
        int, typer.Option(metavar="N", min=1, help="Worker processes on this machine.")
    ] = 1,
    engine: EngineOption = "local",
    scheduler: SchedulerOption = None,
    view: ViewOption = "applicant",
    separator: SeparatorOption = None,
) -> None:
    """Say for each row what would have had to be different.

    \b
    Examples:
      proce explain credit rejected.csv --target approved
      proce explain credit rejected.csv --target approved --vary income,savings \\
          --range savings=0:20000 --max-changes 2 --out result.json
      proce explain credit all.parquet --target approved -n 1 --out result.parquet
      proce explain credit s3://bank/rows --target approved -n 1 \\
          --engine dask --scheduler tcp://10.0.0.5:8786 --out s3://bank/result

    A csv or Parquet file is read, explained and written in pieces, so it may be larger than the
    memory; after Ctrl-C the same command goes on where it stopped. A JSON file holds everything
    that was found, for 'proce report', and is made in memory.
    """
    compile_beside()  # before anything is loaded that takes its time
    from proce.batch.reading.rows import Rows
    from proce.batch.reading.source import Source
    from proce.batch.reading.typed import TypedColumns
    from proce.cli.explaining.local_job import local_job
    from proce.cli.explaining.output import exit_code, show_summary, write_file, write_stdout
    from proce.files import require_apart, require_folder, require_place, sha256_of
    from proce.methods import ProCE
    from proce.methods.calls.options import MAX_ROWS_WITH_FRONTS

    reader = read_view(view)

    def read_options(explainer: ProCE, *, keep_front: bool | None = False) -> dict[str, Any]:
        require_refits(explainer, folder, robust, models)
        codec = explainer.fitted_.codec
        return {
            "target": read_class(target, explainer.classes_, explainer.fitted_.class_labels),
            "n": n,
            "pick": pick,
            "vary": split_names(vary, codec.schema.names) if vary else None,
            "ranges": read_ranges(ranges or (), codec.schema),
            "max_changes": max_changes,
            "min_probability": min_probability,
            "rules": () if rules is None else read_rules(rules, codec),
            "keep_front": keep_front,
            "causal": causal,
            "robust": robust,
            "models": models,
        }

    if uses_cluster(engine, scheduler, workers):
        out_folder = require_folders(out_text, receipts, separator)
        code = explain_on_cluster(
            folder,
            rows_text,
            out_folder,
            outcomes_text,
            read_options,
            view=reader,
            id_name=id_name,
            restart=restart,
            scheduler=scheduler,
            n_workers=workers,
        )
        raise typer.Exit(code)
    rows, out, outcomes = Path(rows_text), _path(out_text), _path(outcomes_text)
    for option, path, suffixes in (
        ("--out", out, _SUFFIXES),
        ("--outcomes", outcomes, _TABLE_SUFFIXES),
    ):
        if path is not None:
            require_place(path, option)
            _require_suffix(option, path, suffixes)
            require_apart(path, option, {"ROWS": rows, "FOLDER": folder})
    if outcomes is not None:
        require_apart(outcomes, "--outcomes", {"--out": out})
    if receipts is not None:
        require_apart(receipts, "--receipts", {"ROWS": rows, "FOLDER": folder})
        require_folder(receipts, "--receipts")
    source = Source.open(rows, separator)
    explainer = ProCE.load(folder)
    ask_on_one_thread()
    codec = explainer.fitted_.codec
    checked_rows = Rows.checked(source, TypedColumns.of(codec), id_name=id_name)
    _note_reading(source, codec.schema, id_name)
    keeps_fronts = (
        out is not None and out.suffix == ".json" and checked_rows.count <= MAX_ROWS_WITH_FRONTS
    )
    options = read_options(explainer, keep_front=None if keeps_fronts else False)
    with interrupt_watch() as watch, progress_bars() as progress:
        job = local_job(
            explainer,
            folder,
            checked_rows,
            options,
            reader,
            n_workers=workers,
            receipts=receipts,
            watch=watch,
            progress=progress,
        )
        if out is None:
            summary = write_stdout(job, outcomes)
        else:
            request = {
                "proce": __version__,
                "explainer": sha256_of(folder),
                "rows": sha256_of(rows),
                "id": id_name,
                "view": reader,
                "receipts": receipts and receipts.resolve(),
                **options,
            }
            types = checked_rows.result_types
            summary = write_file(job, out, request, types, restart=restart, outcomes=outcomes)
    show_summary(summary, out, outcomes)
    raise typer.Exit(exit_code(summary.rows))


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _require_suffix(option: str, path: Path, suffixes: tuple[str, ...]) -> None:
    if path.suffix not in suffixes:
        raise FileError(
            f"{option} {str(path)!r}: the name must end in {', '.join(suffixes[:-1])} or"
            f" {suffixes[-1]}." + did_you_mean(path.suffix, suffixes)
        )


def _note_reading(source: "Source", schema: "Schema", id_name: str | None) -> None:
    """Note how the file was read, and which of its columns were left out."""
    for text in source.notes:
        note(text)
    if extra := [name for name in source.require(schema.columns) if name != id_name]:
        n_more = len(extra) - _MAX_COLUMNS_NAMED
        names = ", ".join(extra[:_MAX_COLUMNS_NAMED]) + (f" and {n_more} more" * (n_more > 0))
        note(f"Columns that are no features were left out: {names}.")
