"""``proce benchmark``: run a plan, and make tables and figures of a recorded run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proce.cli.console import note, progress_bars

if TYPE_CHECKING:
    from proce.benchmark import Plan, RunFolder

_EXIT_SOME_CELLS_FAILED = 1

FolderArgument = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="The folder of a run, as given to --out.")
]

benchmark = typer.Typer(
    rich_markup_mode=None,
    help="Compare ProCE with published methods, as the paper does.",
    no_args_is_help=True,
)


@benchmark.command()
def run(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder to record the run in.")],
    preset: Annotated[
        str, typer.Option(metavar="NAME", help="smoke, quick, standard, paper or sensitivity.")
    ] = "smoke",
    plan: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="A plan of your own, instead of a preset."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run that was stopped.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="How many processes; by default one per core."),
    ] = None,
) -> None:
    """Run a plan: data sets x classifiers x methods x repetitions.

    \b
    Examples:
      proce benchmark run --preset smoke --out runs/smoke        a few minutes
      proce benchmark run --preset standard --out runs/standard  75 min on 2 cores
      proce benchmark run --preset paper --out runs/paper        ten days; see --resume

    A method that cannot be used with a classifier, such as a gradient method with trees, is
    named; tables show dashes for it.
    """
    from proce.benchmark import run_plan

    chosen = _read_plan(plan, preset)
    try:
        with progress_bars() as progress:
            folder = run_plan(chosen, out, jobs=jobs, resume=resume, progress=progress)
    except KeyboardInterrupt:
        message = f"interrupted; finished cells are kept in {out}, go on with --resume."
        raise KeyboardInterrupt(message) from None
    if _show_records(folder):
        raise typer.Exit(_EXIT_SOME_CELLS_FAILED)


@benchmark.command()
def tables(folder: FolderArgument) -> None:
    """Write the tables of a run as Markdown, LaTeX and csv.

    \b
    Example:
      proce benchmark tables runs/quick

    The files go into the folder 'tables' of the run; their names are printed.
    """
    from proce.benchmark.reporting.tables import write_tables

    for path in write_tables(folder):
        typer.echo(path)


@benchmark.command()
def figures(folder: FolderArgument) -> None:
    """Draw the figures of a run as PNG and SVG.

    \b
    Example:
      proce benchmark figures runs/quick

    The files go into the folder 'figures' of the run; their names are printed.
    """
    from proce.benchmark.reporting.figures import write_figures

    for path in write_figures(folder):
        typer.echo(path)


def _read_plan(path: Path | None, preset_name: str) -> "Plan":
    from proce.benchmark import Plan
    from proce.benchmark.presets import find_preset
    from proce.errors import BenchmarkError
    from proce.files import read_text

    if path is None:
        return find_preset(preset_name)
    if not path.is_file():
        raise BenchmarkError(f"{path} is not there; give the path of a plan.json.")
    try:
        return Plan.from_json(read_text(path, "the plan"))
    except BenchmarkError as error:
        raise BenchmarkError(f"{path}: {error}") from None


def _left_out_words(plan: "Plan") -> list[str]:
    """Return for each data set, classifier and reason what cannot be measured there."""
    names: dict[tuple[str, str, str], list[str]] = {}
    for left in plan.left_out():
        key = (left.dataset, left.classifier, left.reason)
        names.setdefault(key, []).append(left.variant.name)
    return [
        f"not measured on {dataset}, {classifier}: {'; '.join(variants)} ({reason})."
        for (dataset, classifier, reason), variants in names.items()
    ]


def _show_records(folder: "RunFolder") -> bool:
    """Note how many cells there are, and why some failed; return whether any did."""
    for words in _left_out_words(folder.plan):
        note(words)
    records = folder.records()
    failed = records[records["status"] == "failed"]
    note(f"{len(records)} cells in {folder.path}, {len(failed)} failed.")
    for record in failed.to_dict("records"):
        world = f"{record['dataset']}, {record['classifier']}, {record['repetition']}"
        note(f"{record['variant']} ({world}): {record['error']}")
    return len(failed) > 0
