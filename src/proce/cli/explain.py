"""``proce explain``."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proce import __version__
from proce.cli.console import note, one_thread, patience, progress_bars
from proce.cli.data import SeparatorOption
from proce.cli.inputs import read_class, read_ranges, read_rules, split_names
from proce.errors import FileError, did_you_mean

if TYPE_CHECKING:
    from proce.batch.chunks import Ask, Rows
    from proce.methods import ProCE

SOME_WITHOUT = 1  # exit code: done, but some rows have no counterfactual
SUFFIXES = (".csv", ".parquet", ".json")


def explain(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="What 'proce fit' wrote.")],
    rows: Annotated[Path, typer.Argument(metavar="ROWS", help="Rows to explain: csv or Parquet.")],
    target: Annotated[
        str | None,
        typer.Option(metavar="CLASS", help="The wanted class; by default the other one of two."),
    ] = None,
    n: Annotated[int, typer.Option("-n", metavar="N", min=1, help="Counterfactuals per row.")] = 4,
    pick: Annotated[
        str, typer.Option(metavar="WAY", help="Recommend: closest, balanced or typical.")
    ] = "closest",
    vary: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only these may be acted on; repeat it, or use commas."),
    ] = None,
    ranges: Annotated[
        list[str] | None,
        typer.Option("--range", metavar="NAME=LOW:HIGH", help="A limit in raw units; repeat it."),
    ] = None,
    max_changes: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Changes per counterfactual, at most.")
    ] = None,
    min_probability: Annotated[
        float | None, typer.Option(metavar="P", help="Of the wanted class, at least.")
    ] = None,
    causal: Annotated[
        str | None, typer.Option(metavar="MODE", help="auto, hard, soft, paper or off.")
    ] = None,
    rules: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Further rules, one a line.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help=".csv, .parquet or .json; by default on stdout."),
    ] = None,
    receipts: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Also write a receipt per row, for 'proce verify'."),
    ] = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Discard what an interrupted run has kept.")
    ] = False,
    separator: SeparatorOption = None,
) -> None:
    """Say for each row what would have had to be different.

    \b
    Examples:
      proce explain credit rejected.csv --target approved
      proce explain credit rejected.csv --target approved --vary income,savings \\
          --range savings=0:20000 --max-changes 2 --out result.json
      proce explain credit all.parquet --target approved -n 1 --out result.parquet

    Files are read, explained and written in pieces, so they may be larger than the memory. After
    Ctrl-C the same command goes on where it stopped. JSON holds everything, for 'proce report'.
    """
    from proce.batch.chunks import CHUNK, Rows
    from proce.batch.source import Source
    from proce.batch.typed import TypedColumns
    from proce.cli import answers
    from proce.files import require_folder, require_place, sha256_of
    from proce.methods import ProCE

    if out is not None:
        require_place(out)
        _require_suffix(out)
    if receipts is not None:
        require_folder(receipts, "--receipts")
    one_thread()
    source = Source.open(rows, separator)
    explainer = ProCE.load(folder)
    if causal is not None:
        explainer.set_params(causal=causal)
        explainer.fitted_ = explainer.fitted_.in_mode(causal)
    codec = explainer.fitted_.codec
    options: dict[str, Any] = {
        "target": read_class(target, explainer.classes_),
        "n": n,
        "pick": pick,
        "vary": split_names(vary, codec.schema.names) if vary else None,
        "ranges": read_ranges(ranges or (), codec.schema),
        "max_changes": max_changes,
        "min_probability": min_probability,
        "rules": () if rules is None else read_rules(rules, codec),
        "keep_front": None if out is not None and out.suffix == ".json" else False,
    }
    checked = Rows.checked(source, TypedColumns.of(codec))
    _tell_of(source, checked)
    with patience() as watch, progress_bars() as progress:
        job = answers.Job(
            rows=checked,
            ask=_asking(explainer, options, watch),
            progress=progress,
            folder=folder,
            receipts=receipts,
        )
        if out is None:
            counts = answers.to_stdout(job)
        elif out.suffix == ".json":
            counts = answers.to_json(job, out)
        else:
            request = {
                "proce": __version__,
                "chunk": CHUNK,
                "explainer": sha256_of(folder),
                "rows": sha256_of(rows),
                "causal": causal,
                **options,
            }
            counts = answers.to_parts(job, out, request, restart)
    answers.tell(job, counts, out)
    if counts["not_found"] or counts["out_of_time"]:
        raise typer.Exit(SOME_WITHOUT)


def _asking(explainer: "ProCE", options: dict[str, Any], watch: Any) -> "Ask":
    explain_rows: Any = partial(explainer.explain, **options)

    def ask(table: Any, progress: Any) -> Any:
        result = explain_rows(table, progress=progress)
        watch.require()  # an interrupted call returns what it has; that is not all
        return result

    return ask


def _require_suffix(out: Path) -> None:
    if out.suffix not in SUFFIXES:
        raise FileError(
            f"--out {str(out)!r}: the name must end in {', '.join(SUFFIXES[:-1])} or"
            f" {SUFFIXES[-1]}." + did_you_mean(out.suffix, SUFFIXES)
        )


def _tell_of(source: Any, rows: "Rows") -> None:
    for each in source.notes:
        note(each)
    if extra := source.require(rows.types.schema.columns):
        named = ", ".join(extra[:6]) + (f" and {len(extra) - 6} more" if len(extra) > 6 else "")
        note(f"Columns that are no features were left out: {named}.")
