"""``proce verify``: check with the model whether explanations are still true."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proce.cli.console import note, progress_bars

if TYPE_CHECKING:
    from proce.classifier import Classifier
    from proce.explanation import Context
    from proce.explanation.receipts import ModelFor
    from proce.schema import Codec

_EXIT_NO_LONGER_TRUE = 1
_MAX_STRANGERS_NAMED = 10  # files that are no receipts


def verify(
    receipt: Annotated[
        Path,
        typer.Argument(
            metavar="RECEIPT.json|FOLDER",
            help="A receipt that 'proce explain --receipts' wrote, or the folder of them.",
        ),
    ],
    model: Annotated[
        Path,
        typer.Option(
            metavar="MODEL",
            help="The model: a .skops or .onnx file, or the folder that 'proce fit' saved.",
        ),
    ],
) -> None:
    """Check with the model whether explanations are still true.

    \b
    Examples:
      proce verify receipts/row-0.json --model credit
      proce verify receipts --model credit

    Of a folder, each receipt that is no longer true gets a line that says what the model says now.
    The exit code is 0 if all is still true, and 1 if something is not or if a receipt was changed
    after it was written.
    """
    from proce.explanation.receipts import model_file

    model_path = model_file(model)
    still_true = (
        _verify_folder(receipt, model, model_path)
        if receipt.is_dir()
        else _verify_receipt(receipt, model, model_path)
    )
    if not still_true:
        raise typer.Exit(_EXIT_NO_LONGER_TRUE)


def _verify_receipt(path: Path, model: Path, model_path: Path) -> bool:
    """Show what the model says of one receipt now; return whether it is still true."""
    from proce.classifier.skops_files import model_sum
    from proce.explanation import Receipt
    from proce.explanation import verify as verify_receipt
    from proce.explanation.receipts import was_changed
    from proce.files import read_text

    text = read_text(path, "the receipt")
    if was_changed(text):
        typer.echo(f"{path} was changed after it was written: it proves nothing.")
        return False
    receipt = Receipt.from_json(text)
    verdict = verify_receipt(receipt, *_model_for(model)(receipt.result.context))
    for answer in verdict.answers:
        typer.echo(str(answer))
    if receipt.model_sha256 is None:
        typer.echo("The receipt does not say which model file it is of.")
    elif receipt.model_sha256 == model_sum(model_path):
        typer.echo("The model is the one that the receipt was written for (SHA-256).")
    else:
        written = receipt.written
        typer.echo(f"The model is not the one that the receipt was written for, {written}.")
    typer.echo("Still true." if verdict.holds else "No longer true.")
    return verdict.holds


def _verify_folder(folder: Path, model: Path, model_path: Path) -> bool:
    """Show which receipts of a folder are no longer true; return whether all still are."""
    from proce.classifier.skops_files import model_sum
    from proce.errors import ReceiptError
    from proce.explanation.receipts import Standing, check_receipts, receipt_files
    from proce.schema.features.numerals import counted

    paths = receipt_files(folder)
    counts: Counter[Standing] = Counter()
    models: Counter[str | None] = Counter()
    failures: list[str] = []
    strangers: list[str] = []
    with progress_bars() as progress:
        for check in check_receipts(paths, _model_for(model)):
            counts[check.standing] += 1
            progress.move("verify", counts.total(), len(paths))
            if check.standing is Standing.NO_RECEIPT:
                strangers.append(str(check))
            elif check.standing is not Standing.TRUE:
                failures.append(str(check))
            if check.standing in (Standing.TRUE, Standing.UNTRUE):
                models[check.model_sha256] += 1
    for line in failures:
        typer.echo(line)
    for line in strangers[:_MAX_STRANGERS_NAMED]:
        note(line)
    del counts[Standing.NO_RECEIPT]
    if not counts:
        raise ReceiptError(
            f"{str(folder)!r} holds no receipts; expected those that 'proce explain --receipts'"
            " wrote."
        )
    if strangers:
        note(f"Not receipts: {len(strangers):,} of {counted(len(paths), 'file')}.")
    _show_models(models, model_sum(model_path))
    told = [f"{counts[standing]:,} {standing}" for standing in Standing if counts[standing]]
    typer.echo(f"{counted(counts.total(), 'receipt')}: {', '.join(told)}.")
    return set(counts) == {Standing.TRUE}


def _show_models(models: "Counter[str | None]", model_sha256: str) -> None:
    """Say whether the receipts that were checked are of this model."""
    n_checked, n_same, n_silent = models.total(), models[model_sha256], models[None]
    if not n_checked:
        return
    if n_same == n_checked:
        typer.echo("The model is the one that they were written for (SHA-256).")
        return
    if n_others := n_checked - n_same - n_silent:
        typer.echo(f"Written for another model: {n_others:,} of them.")
    if n_silent:
        typer.echo(f"Without the name of a model file: {n_silent:,} of them.")


def _model_for(model: Path) -> "ModelFor":
    """Return what gives the model behind its interface, and the codec of the rows it takes."""
    if model.is_dir():
        from proce.methods import ProCE

        fitted = ProCE.load(model).fitted_
        return lambda _context: (fitted.classifier, fitted.codec)
    from proce.classifier import as_classifier
    from proce.classifier.saved import read_model

    saved_model = read_model(model)

    def model_for(context: "Context") -> "tuple[Classifier, Codec]":
        classifier = as_classifier(saved_model, context.codec)
        if classifier.threshold is None and context.threshold is not None:
            classifier = as_classifier(saved_model, context.codec, context.threshold)
        return classifier, context.codec

    return model_for
