"""``proce benchmark``: run a plan, and make tables and figures of what was recorded."""

from pathlib import Path
from typing import Annotated

import typer

from proce.cli.console import note, progress_bars

benchmark = typer.Typer(
    rich_markup_mode=None,
    help="Compare methods as the paper does, and beyond.",
    no_args_is_help=True,
)


@benchmark.command()
def run(
    out: Annotated[Path, typer.Option(help="The run's folder.")],
    preset: Annotated[str, typer.Option(help="smoke, quick, paper or sensitivity.")] = "smoke",
    plan: Annotated[
        Path | None, typer.Option(help="A plan of your own, instead of a preset.")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Go on with a run that was stopped.")] = False,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; by default one per core.")
    ] = None,
) -> None:
    """Run every cell of a plan: data sets x classifiers x methods x repetitions.

    \b
    Example:
      proce benchmark run --preset quick --out runs/quick
    """
    from proce.benchmark import Plan, run_plan
    from proce.benchmark.presets import preset as preset_of
    from proce.errors import BenchmarkError

    if plan is not None and not plan.is_file():
        raise BenchmarkError(f"{plan} is not there; give the path of a plan.json.")
    chosen = Plan.from_json(plan.read_text(encoding="utf-8")) if plan else preset_of(preset)
    try:
        with progress_bars() as bars:
            folder = run_plan(chosen, out, jobs=jobs, resume=resume, progress=bars)
    except KeyboardInterrupt:
        words = f"interrupted; finished cells are kept in {out}, go on with --resume."
        raise KeyboardInterrupt(words) from None
    records = folder.records()
    failed = records[records["status"] == "failed"]
    note(f"{len(records)} cells in {out}, {len(failed)} failed.")
    for line in failed.to_dict("records"):
        where = f"{line['dataset']}, {line['classifier']}, {line['repetition']}"
        note(f"{line['variant']} ({where}): {line['error']}")
    if len(failed):
        raise typer.Exit(1)


@benchmark.command()
def tables(
    folder: Annotated[Path, typer.Argument(help="The run's folder.")],
) -> None:
    """Write the tables of a run as Markdown, LaTeX and csv into FOLDER/tables.

    \b
    Example:
      proce benchmark tables runs/quick
    """
    from proce.benchmark.report import write_tables

    for path in write_tables(folder):
        typer.echo(path)


@benchmark.command()
def figures(
    folder: Annotated[Path, typer.Argument(help="The run's folder.")],
) -> None:
    """Draw the figures of a run as PNG and SVG into FOLDER/figures.

    \b
    Example:
      proce benchmark figures runs/quick
    """
    from proce.benchmark.report import write_figures

    for path in write_figures(folder):
        typer.echo(path)
