"""``proce fit``."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proce.cli.console import Bars, note, one_thread, progress_bars
from proce.cli.data import (
    DataArgument,
    DropOption,
    LabelOption,
    SchemaOption,
    SeparatorOption,
    TrainingData,
    read_data,
)
from proce.cli.inputs import read_graph, read_rules
from proce.errors import ModelError, did_you_mean

if TYPE_CHECKING:
    from proce.cli.training import Trained
    from proce.methods import SearchSettings

TRAIN = "train:"


def fit(
    data: DataArgument,
    model: Annotated[
        str,
        typer.Option(
            metavar="MODEL",
            help="MODEL.skops, MODEL.onnx, or train:mlp or train:boosting to train one.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the explainer is kept.")],
    label: LabelOption = None,
    graph: Annotated[
        str, typer.Option(metavar="GRAPH", help="What causes what: graph.json, discover or none.")
    ] = "none",
    schema: SchemaOption = None,
    rules: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What every counterfactual must obey, a rule a line."),
    ] = None,
    drop: DropOption = None,
    separator: SeparatorOption = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of everything random.")] = 0,
    population: Annotated[
        int | None, typer.Option(metavar="N", help="Candidates per row in the search.")
    ] = None,
    generations: Annotated[
        int | None, typer.Option(metavar="N", help="Generations of the search at most.")
    ] = None,
) -> None:
    """Learn what explanations need, from the training rows.

    \b
    Examples:
      proce fit people.csv --label approved --model credit.skops --graph graph.json --out credit
      proce fit people.csv --label approved --model train:boosting --graph discover --out credit

    The folder holds training rows and what was learned from them: keep it as you keep the data.
    """
    from proce.files import require_place
    from proce.methods import ProCE
    from proce.schema import Codec
    from proce.schema.feature import shown

    one_thread()
    require_place(out / "manifest.json" if out.is_dir() else out)
    rows = read_data(data, label, schema, drop, separator)
    codec = Codec.fit(rows.schema, rows.frame)
    texts = () if rules is None else read_rules(rules, codec)
    causes: Any = graph if graph == "discover" else None
    if graph not in ("discover", "none"):
        causes = read_graph(Path(graph)).over(rows.schema, label)
    settings = _settings(population, generations)
    with progress_bars() as progress:
        made = _model(model, rows, seed, progress)
        explainer = ProCE(made.model, rows.schema, causes, texts, settings=settings, seed=seed)
        _fitted(explainer, made.frame, progress)
    explainer.save(out)
    for each in made.notes:
        note(each)
    note(
        f"Written to {out}: {len(made.frame):,} rows, {len(rows.schema)} features, classes"
        f" {shown(explainer.classes_)}, {_causes(explainer)}."
    )


def _fitted(explainer: Any, frame: Any, progress: Bars) -> None:
    import warnings

    from proce.causal import DiscoveryWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DiscoveryWarning)
        explainer.fit(frame, progress=progress)
    for each in caught:
        note(f"Note: {each.message}")


def _model(text: str, rows: TrainingData, seed: int, progress: Bars) -> "Trained":
    """Return the model that is explained, and the rows it was trained on."""
    from proce.cli.training import TRAINERS, Trained, trained

    if text.startswith(TRAIN):
        kind = text.removeprefix(TRAIN)
        if kind not in TRAINERS:
            known = [f"{TRAIN}{each}" for each in TRAINERS]
            raise ModelError(
                f"--model {text!r}: expected {' or '.join(known)}, or a file."
                + did_you_mean(text, known)
            )
        return trained(kind, rows, seed, progress)
    from proce.classifier.saved import read_model

    return Trained(read_model(Path(text)), rows.frame)


def _settings(population: int | None, generations: int | None) -> "SearchSettings":
    from proce.methods import SearchSettings

    usual = SearchSettings()
    return replace(
        usual,
        population_size=usual.population_size if population is None else population,
        n_offspring=usual.n_offspring if population is None else population,
        n_generations=usual.n_generations if generations is None else generations,
    )


def _causes(explainer: Any) -> str:
    scm = explainer.fitted_.scm
    if scm is None:
        return "no causal graph"
    n_edges = len(scm.graph.edges)
    return f"a graph of {n_edges} edge{'s' * (n_edges != 1)} ({scm.graph.origin})"
