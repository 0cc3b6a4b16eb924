"""``proce discover``."""

from pathlib import Path
from typing import Annotated

import typer

from proce.cli.console import note, progress_bars
from proce.cli.data import (
    DataArgument,
    DropOption,
    LabelOption,
    SchemaOption,
    SeparatorOption,
    read_data,
)
from proce.cli.inputs import read_tiers


def discover(
    data: DataArgument,
    label: LabelOption = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="The graph; by default on stdout.")
    ] = None,
    tiers: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Groups of features, a line each, names between commas: causes come first.",
        ),
    ] = None,
    bootstrap: Annotated[
        int, typer.Option(metavar="N", min=0, help="Resamples that count how sure each edge is.")
    ] = 0,
    algorithm: Annotated[
        str, typer.Option(metavar="NAME", help="direct_lingam, pc or ges.")
    ] = "direct_lingam",
    schema: SchemaOption = None,
    drop: DropOption = None,
    separator: SeparatorOption = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of the resamples.")] = 0,
) -> None:
    """Propose a causal graph from data; a person has to judge it.

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
    rows = read_data(data, label, schema, drop, separator)
    with progress_bars() as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscoveryWarning)  # they are kept in the graph
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
    note(str(graph).split("\n", 1)[0])
    for line in str(graph).split("\n")[1:]:
        typer.echo(line)
    note(f"Written to {out}. It was learned from data and may be wrong: read it before you use it.")
