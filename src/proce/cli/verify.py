"""``proce verify``: check with the model whether an explanation is still true."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from proce.classifier import Classifier
    from proce.explanation import Receipt
    from proce.schema import Codec

_EXIT_NO_LONGER_TRUE = 1


def verify(
    receipt: Annotated[
        Path,
        typer.Argument(
            metavar="RECEIPT.json", help="A receipt that 'proce explain --receipts' wrote."
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
    """Check with the model whether an explanation is still true.

    \b
    Example:
      proce verify receipts/row-0.json --model credit

    The exit code is 0 if it is still true, and 1 if it is not or if the receipt was changed after
    it was written.
    """
    from proce.classifier.model_sum import model_sum
    from proce.explanation import Receipt
    from proce.explanation import verify as verify_receipt
    from proce.explanation.receipts.receipt import model_file
    from proce.explanation.receipts.receipt_json import was_changed
    from proce.files import read_text

    text = read_text(receipt, "the receipt")
    if was_changed(text):
        typer.echo(f"{receipt} was changed after it was written: it proves nothing.")
        raise typer.Exit(_EXIT_NO_LONGER_TRUE)
    read_receipt = Receipt.from_json(text)
    model_path = model_file(model)
    verdict = verify_receipt(read_receipt, *_classifier_and_codec(model, read_receipt))
    for answer in verdict.answers:
        typer.echo(str(answer))
    if read_receipt.model_sha256 is None:
        typer.echo("The receipt does not say which model file it is of.")
    elif read_receipt.model_sha256 == model_sum(model_path):
        typer.echo("The model is the one that the receipt was written for (SHA-256).")
    else:
        written = read_receipt.written
        typer.echo(f"The model is not the one that the receipt was written for, {written}.")
    typer.echo("Still true." if verdict.holds else "No longer true.")
    if not verdict.holds:
        raise typer.Exit(_EXIT_NO_LONGER_TRUE)


def _classifier_and_codec(model: Path, receipt: "Receipt") -> "tuple[Classifier, Codec]":
    """Return the model behind its interface, and the codec of the rows that it takes."""
    if model.is_dir():
        from proce.methods import ProCE

        fitted = ProCE.load(model).fitted_
        return fitted.classifier, fitted.codec
    from proce.classifier import as_classifier
    from proce.classifier.saved import read_model

    context = receipt.result.context
    saved_model = read_model(model)
    classifier = as_classifier(saved_model, context.codec)
    if classifier.threshold is None and context.threshold is not None:
        classifier = as_classifier(saved_model, context.codec, context.threshold)
    return classifier, context.codec
