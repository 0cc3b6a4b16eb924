"""``proce demo``."""

from pathlib import Path
from typing import Annotated

import typer

from proce.cli.console import progress_bars, written


def demo(
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Also write the result there, as JSON and as csv."),
    ] = None,
) -> None:
    """Train a model on the embedded loan data and explain an applicant whom it rejects."""
    import torch

    from proce.classifier import fit_network
    from proce.datasets import load_dataset
    from proce.methods import ProCE
    from proce.schema import Codec

    torch.set_num_threads(1)  # the tensors are small: more threads only wait for each other
    data = load_dataset("loan")
    decision = data.label.map(dict(enumerate(data.class_names)))
    seen, others = slice(0, 4_000), slice(4_000, None)
    codec = Codec.fit(data.recourse_schema, data.frame[seen])
    with progress_bars() as progress:
        model = fit_network(codec, data.frame[seen], decision[seen], progress=progress.training)
        explainer = ProCE(model, data.recourse_schema, data.graph, data.rules)
        explainer.fit(data.frame[seen], progress=progress)
        chances = model.predict_proba(codec.encode(data.frame[others]))
        approved = chances[:, model.classes.index("approved")].numpy()
        applicant = data.frame[others][(approved > 0.2) & (approved < 0.4)].head(1)
        result = explainer.explain(applicant, target="approved", progress=progress)
    typer.echo("The applicant:\n")
    for name, value in applicant.iloc[0].items():
        shown = f"{value:,}" if not isinstance(value, str) else value
        typer.echo(f"  {str(name).replace('_', ' '):<15} {shown}")
    typer.echo("\nWhat would have to change:\n")
    for sentence in result[0].sentences():
        typer.echo(f"  {sentence}")
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        written(out / "explanation.json", result.to_json())
        written(out / "counterfactuals.csv", result.to_frame().to_csv(index=False))
        typer.echo(f"\nWritten to {out}: explanation.json, counterfactuals.csv")
