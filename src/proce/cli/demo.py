"""``proce demo``: train a model on the embedded loan data, explain one rejected applicant."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proce.cli.console import note, progress_bars
from proce.cli.demo_explainer import fit_demo

if TYPE_CHECKING:
    from proce.explanation import Explanations

_NARROWLY_REJECTED = (0.2, 0.4)  # probabilities of approval between which an applicant is drawn


def demo(
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Also write JSON, csv and an HTML page there."),
    ] = None,
) -> None:
    """Explain a rejected applicant of the embedded loan data.

    \b
    Example:
      proce demo --out demo
    """
    with progress_bars() as progress:
        explainer, others = fit_demo(progress)
        model, codec = explainer.fitted_.classifier, explainer.fitted_.codec
        probabilities = model.predict_proba(codec.encode(others))
        approval = probabilities[:, model.classes.index("approved")]
        low, high = _NARROWLY_REJECTED
        applicant = others[(approval > low) & (approval < high)].head(1)
        result = explainer.explain(applicant, target="approved", progress=progress)
    _show(result)
    if out is not None:
        _write(result, out)


def _show(result: "Explanations") -> None:
    from proce.explanation.words.values import name_text, value_text

    row, codec = result[0], result.context.codec
    cells = zip(codec.schema, row.raw.tolist(), codec.span.tolist(), strict=True)
    texts = {
        name_text(feature): value_text(feature, value, span).strip('"')
        for feature, value, span in cells
        if not feature.protected
    }
    width = max(map(len, texts))
    typer.echo("The applicant:\n")
    for name, text in texts.items():
        typer.echo(f"  {name:<{width}}  {text}")
    typer.echo("\nWhat would have to change:\n")
    for sentence in result[0].sentences():
        typer.echo(f"  {sentence}")


def _write(result: "Explanations", out: Path) -> None:
    from proce.files import make_folder, write_text

    make_folder(out)
    write_text(out / "explanation.json", result.to_json())
    write_text(out / "counterfactuals.csv", result.to_frame().to_csv(index=False))
    result.save_html(out / "report.html")
    note(f"Written to {out}: explanation.json, counterfactuals.csv, report.html")
