"""``proce discover``: propose a causal graph from data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proce.cli.console import note, progress_bars
from proce.cli.data import (
    DataArgument,
    DropOption,
    LabelOption,
    SchemaOption,
    SeparatorOption,
    read_training_data,
)
from proce.cli.inputs import read_tiers

if TYPE_CHECKING:
    from proce.causal import CausalGraph


def discover(
    data: DataArgument,
    label: LabelOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json", help="Write the graph to this file; by default it is printed."
        ),
    ] = None,
    tiers: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Groups of features, one group per line, names separated by commas. A later group"
            " cannot cause an earlier one.",
        ),
    ] = None,
    bootstrap: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Discover again on N resamples of the rows, and count how many have each edge.",
        ),
    ] = 0,
    algorithm: Annotated[
        str, typer.Option(metavar="NAME", help="direct_lingam, pc or ges.")
    ] = "direct_lingam",
    schema: SchemaOption = None,
    drop: DropOption = None,
    separator: SeparatorOption = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The seed of the resamples.")] = 0,
) -> None:
    """Propose a causal graph from data; a person has to check it.

    \b
    Example:
      proce discover people.csv --label approved --bootstrap 50 --out graph.json
    """
    import warnings

    from proce.causal import CausalGraph, DiscoveryWarning
    from proce.files import require_place, write_text

    if out is not None:
        require_place(out)
    groups = None if tiers is None else read_tiers(tiers)
    rows = read_training_data(data, label, schema, drop, separator)
    with progress_bars() as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscoveryWarning)  # the graph keeps them; shown below
        graph = CausalGraph.discover(
            rows.frame,
            rows.schema,
            algorithm=algorithm,
            tiers=groups,
            bootstrap=bootstrap,
            seed=seed,
            progress=progress,
        )
    for warning in graph.origin.warnings:
        note(f"Note: {warning}")
    if out is None:
        typer.echo(graph.to_json(), nl=False)
        return
    write_text(out, graph.to_json())
    _show(graph)
    note(f"Written to {out}. It was learned from data and may be wrong: read it before you use it.")


def _show(graph: "CausalGraph") -> None:
    """Print the edges on stdout; the line above them is a note."""
    title, *edges = str(graph).split("\n")
    note(title)
    for edge in edges:
        typer.echo(edge)
