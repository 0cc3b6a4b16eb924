"""``proce fit``: fit an explainer and save it."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proce.cli.console import ProgressBars, learn_on_one_thread, note, progress_bars
from proce.cli.data import (
    DataArgument,
    DropOption,
    LabelOption,
    SchemaOption,
    SeparatorOption,
    TrainingData,
    read_training_data,
)
from proce.cli.first_use import compile_beside
from proce.cli.inputs import read_class_labels, read_graph, read_rules
from proce.errors import ModelError, did_you_mean

if TYPE_CHECKING:
    from proce.cli.training import ModelAndRows
    from proce.methods import ProCE, SearchSettings
    from proce.schema import Schema

_TRAIN_PREFIX = "train:"


def fit(
    data: DataArgument,
    model: Annotated[
        str,
        typer.Option(
            metavar="MODEL",
            help="A .skops or .onnx file; or train:mlp or train:boosting to train a model on DATA.",
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="The folder to save the explainer in.")
    ],
    label: LabelOption = None,
    graph: Annotated[
        str,
        typer.Option(
            metavar="GRAPH",
            help="The causal graph: a .json, .dot or .dagitty file, 'discover' or 'none'.",
        ),
    ] = "none",
    schema: SchemaOption = None,
    rules: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Rules that every counterfactual must obey, one per line."
        ),
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS=WORDS,…",
            help="Names of the classes for people, such as 0=rejected,1=approved.",
        ),
    ] = None,
    models: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Fit the model again this many times on resampled rows, for 'explain --robust'.",
        ),
    ] = None,
    drop: DropOption = None,
    separator: SeparatorOption = None,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="The seed of all random numbers.")
    ] = 0,
    population: Annotated[
        int | None, typer.Option(metavar="N", help="Candidates per row in the search.")
    ] = None,
    generations: Annotated[
        int | None, typer.Option(metavar="N", help="Generations of the search, at most.")
    ] = None,
) -> None:
    """Fit an explainer to a model and its training rows, and save it.

    \b
    Examples:
      proce fit people.csv --label approved --model credit.skops --graph graph.json --out credit
      proce fit people.csv --label approved --model train:boosting --graph discover --out credit

    The folder holds training rows and what was learned from them: protect it as you protect the
    data.
    """
    compile_beside()  # before anything is loaded that takes its time
    from proce.files import require_place
    from proce.methods import ProCE
    from proce.methods.fitting.fitted import other_models
    from proce.schema import Codec
    from proce.schema.features.levels import quoted
    from proce.schema.features.numerals import counted
    from proce.schema.infer import open_features_warning

    read_class_labels(classes, ())  # or a slip of the pen would be told after the fit only
    learn_on_one_thread()
    require_place(out / "manifest.json" if out.is_dir() else out)
    rows = read_training_data(data, label, schema, drop, separator)
    codec = Codec.fit(rows.schema, rows.frame)
    rule_texts = () if rules is None else read_rules(rules, codec)
    causes: Any = graph if graph == "discover" else None
    if graph not in ("discover", "none"):
        causes = read_graph(Path(graph)).over(rows.schema, label)
    settings = _search_settings(population, generations)
    with progress_bars() as progress:
        ready = _load_or_train(model, rows, seed, progress)
        explainer = ProCE(
            ready.model,
            rows.schema,
            causes,
            rule_texts,
            settings=settings,
            seed=seed,
            models=models,
        )
        if models is not None:
            _require_refittable(model, models, ready, rows.schema)
        _fit_with_notes(explainer, ready, progress, with_labels=models is not None)
        if models is not None:
            other_models(explainer.fitted_, models, None, robust=True)
    explainer.set_params(classes=read_class_labels(classes, explainer.classes_))
    explainer.save(out)
    for text in (*rows.schema.notes, *ready.notes):
        note(text)
    if schema is None and (warning := open_features_warning(rows.schema)) is not None:
        note(f"{warning} Write the schema with 'proce schema --out', and give it as --schema.")
    note(
        f"Written to {out}: {counted(len(ready.frame), 'row')},"
        f" {counted(len(rows.schema), 'feature')}, classes"
        f" {quoted(explainer.classes_)}, {_describe_graph(explainer)}."
    )


def _require_refittable(text: str, models: int, ready: "ModelAndRows", schema: "Schema") -> None:
    """Refuse ``--models`` where the model cannot be fitted again, before the explainer is."""
    from proce.classifier import as_classifier
    from proce.classifier.refits import can_refit
    from proce.schema import Codec

    if ready.label is None:
        raise ModelError(
            f"--models {models} fits the model again, which takes labels; name their column with"
            " --label."
        )
    codec = Codec.fit(schema, ready.frame)
    if not can_refit(as_classifier(ready.model, codec)):
        raise ModelError(
            f"--models {models} fits the model again, and --model {text} is no estimator of"
            " scikit-learn's kind. Leave --models out, or give --model train:boosting or a .skops"
            " file."
        )


def _fit_with_notes(
    explainer: "ProCE", ready: "ModelAndRows", progress: ProgressBars, *, with_labels: bool
) -> None:
    """Fit the explainer; show the warnings of discovery as notes."""
    import warnings

    from proce.causal import DiscoveryWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DiscoveryWarning)
        explainer.fit(ready.frame, ready.label if with_labels else None, progress=progress)
    for warning in caught:
        note(f"Note: {warning.message}")


def _load_or_train(
    text: str, rows: TrainingData, seed: int, progress: ProgressBars
) -> "ModelAndRows":
    """Return the model that ``--model`` names, read from its file or trained on the rows."""
    from proce.classifier.saved import read_model
    from proce.cli.training import TRAINERS, ModelAndRows, train_model

    if not text.startswith(_TRAIN_PREFIX):
        return ModelAndRows(read_model(Path(text)), rows.frame, rows.label)
    kind = text.removeprefix(_TRAIN_PREFIX)
    if kind not in TRAINERS:
        known = [f"{_TRAIN_PREFIX}{name}" for name in TRAINERS]
        raise ModelError(
            f"--model {text!r}: expected {' or '.join(known)}, or a file."
            + did_you_mean(text, known)
        )
    return train_model(kind, rows, seed, progress)


def _search_settings(population: int | None, generations: int | None) -> "SearchSettings":
    from proce.methods import SearchSettings

    settings = SearchSettings()
    if population is not None:
        settings = replace(settings, population_size=population, n_offspring=population)
    if generations is not None:
        settings = replace(settings, n_generations=generations)
    return settings


def _describe_graph(explainer: "ProCE") -> str:
    from proce.schema.features.numerals import counted

    scm = explainer.fitted_.scm
    if scm is None:
        return "no causal graph"
    n_edges = len(scm.graph.edges)
    return f"a graph of {counted(n_edges, 'edge')} ({scm.graph.origin})"
