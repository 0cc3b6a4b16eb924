"""Receipts of rows, a file each in one folder."""

from dataclasses import dataclass
from pathlib import Path

from proce.explanation import Explanations
from proce.explanation.receipts.receipt import ModelFile
from proce.explanation.record.outcome import UNKNOWN_CLASS


@dataclass(frozen=True)
class ReceiptWriter:
    """Writes a receipt of each row; any process can have one.

    Attributes
    ----------
    folder
        Where the receipts go.
    model
        The file of the model, which receipts name; its checksum is taken once.
    """

    folder: Path
    model: ModelFile

    def __call__(self, result: Explanations) -> None:
        """Write a receipt of each of these rows that the model answered."""
        for position, item in enumerate(result):
            if item.predicted == UNKNOWN_CLASS:
                continue
            receipt = result.receipt(position, model=self.model)
            receipt.save(self.folder / f"row-{item.row}.json")
