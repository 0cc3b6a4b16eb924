"""``proce demo``."""

from pathlib import Path
from typing import Annotated

import typer

from proce.cli.console import note, one_thread, progress_bars


def demo(
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Also write the result there: JSON, csv and a page."),
    ] = None,
) -> None:
    """Explain an applicant whom a model of the embedded loan data rejects.

    \b
    Example:
      proce demo --out demo
    """
    from proce.classifier import fit_network
    from proce.datasets import load_dataset
    from proce.files import write_text
    from proce.methods import ProCE
    from proce.schema import Codec

    one_thread()
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
        write_text(out / "explanation.json", result.to_json())
        write_text(out / "counterfactuals.csv", result.to_frame().to_csv(index=False))
        result.save_html(out / "report.html")
        note(f"Written to {out}: explanation.json, counterfactuals.csv, report.html")
