"""``proce verify``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from proce.classifier import Classifier
    from proce.explanation import Receipt
    from proce.schema import Codec

NO_LONGER = 1  # exit code


def verify(
    receipt: Annotated[
        Path,
        typer.Argument(metavar="RECEIPT.json", help="What 'proce explain --receipts' wrote."),
    ],
    model: Annotated[
        Path,
        typer.Option(
            metavar="MODEL", help="MODEL.skops, MODEL.onnx, or the folder that 'proce fit' wrote."
        ),
    ],
) -> None:
    """Ask the model again whether an explanation is still true.

    \b
    Example:
      proce verify receipts/row-0.json --model credit

    Exit code 0: it is. 1: it is not, or the receipt was changed after it was written.
    """
    from proce.classifier.model_sum import model_sum
    from proce.explanation import Receipt
    from proce.explanation import verify as ask_again
    from proce.explanation.receipts.receipt import model_file, was_changed
    from proce.files import read_text

    text = read_text(receipt, "the receipt")
    if was_changed(text):
        typer.echo(f"{receipt} was changed after it was written: it proves nothing.")
        raise typer.Exit(NO_LONGER)
    held = Receipt.from_json(text)
    kept = model_file(model)
    verdict = ask_again(held, *_asked(model, held))
    for answer in verdict.answers:
        typer.echo(str(answer))
    if held.model_sha256 is None:
        typer.echo("The receipt does not say which model file it is of.")
    elif held.model_sha256 == model_sum(kept):
        typer.echo("The model is the one that the receipt was written for (SHA-256).")
    else:
        typer.echo(f"The model is not the one that the receipt was written for, {held.written}.")
    typer.echo("Still true." if verdict.holds else "No longer true.")
    if not verdict.holds:
        raise typer.Exit(NO_LONGER)


def _asked(model: Path, receipt: "Receipt") -> "tuple[Classifier, Codec]":
    """Return the model behind its interface, and the codec of the rows that it takes."""
    if model.is_dir():
        from proce.methods import ProCE

        fitted = ProCE.load(model).fitted_
        return fitted.classifier, fitted.codec
    from proce.classifier import as_classifier
    from proce.classifier.saved import read_model

    context = receipt.result.context
    found = read_model(model)
    classifier = as_classifier(found, context.codec)
    if classifier.threshold is None and context.threshold is not None:
        classifier = as_classifier(found, context.codec, context.threshold)
    return classifier, context.codec
