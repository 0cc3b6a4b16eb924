"""``proce demo``: train a model on the embedded loan data, explain one rejected applicant.

The explainer of that model is also that of ``proce serve --demo``, for which it is kept.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proce import __version__
from proce.cli.console import learn_on_one_thread, note, progress_bars
from proce.cli.first_use import compile_beside
from proce.errors import WorkerError
from proce.files import cache_folder

if TYPE_CHECKING:
    import pandas as pd

    from proce.cli.console import ProgressBars
    from proce.explanation import Explanations
    from proce.methods import ProCE

_N_TRAINING_ROWS = 4_000  # the applicants are the rows after these
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


def fit_demo(progress: "ProgressBars") -> "tuple[ProCE, pd.DataFrame]":
    """Return an explainer of a network that decides on loans, and applicants new to both."""
    compile_beside()  # before anything is loaded that takes its time
    from proce.classifier import fit_network
    from proce.datasets import load_dataset
    from proce.methods import ProCE
    from proce.schema import Codec

    learn_on_one_thread()
    data = load_dataset("loan")
    decision = data.label.map(dict(enumerate(data.class_names)))
    train = data.frame[:_N_TRAINING_ROWS]
    codec = Codec.fit(data.recourse_schema, train)
    model = fit_network(codec, train, decision[:_N_TRAINING_ROWS], progress=progress.training)
    explainer = ProCE(model, data.recourse_schema, data.graph, data.rules)
    return explainer.fit(train, progress=progress), data.frame[_N_TRAINING_ROWS:]


def demo_files() -> tuple[Path, Path]:
    """Return the folder of the demo's explainer and the file of its applicants."""
    # They are made on first use and kept in the user's cache. Another process makes them, so that
    # this one does not have to load what learning needs.
    place = cache_folder() / f"demo-{__version__}"
    if not place.is_dir():
        place.parent.mkdir(parents=True, exist_ok=True)
        note("Fitting the demo's explainer; this is done once and takes half a minute.")
        with tempfile.TemporaryDirectory(prefix=".demo-", dir=place.parent) as draft:
            command = [sys.executable, "-P", "-m", "proce.cli.demo", f"{draft}/made"]
            if subprocess.run(command, check=False).returncode != 0:
                raise WorkerError("the demo's explainer could not be fitted; see above.")
            if not place.is_dir():  # another process may have been faster
                Path(draft, "made").rename(place)
    return place / "loan", place / "applicants.csv"


def _make(place: Path) -> None:
    place.mkdir()
    with progress_bars() as progress:
        explainer, applicants = fit_demo(progress)
    explainer.save(place / "loan")
    applicants.to_csv(place / "applicants.csv", index=False)


if __name__ == "__main__":
    _make(Path(sys.argv[1]))
