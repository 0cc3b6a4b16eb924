"""Receipts of rows, a file each in one folder."""

from dataclasses import dataclass
from pathlib import Path

from proce.explanation import Explanations
from proce.explanation.receipts.receipt import ModelFile
from proce.explanation.record.counterfactuals import UNKNOWN_CLASS


@dataclass(frozen=True)
class ReceiptWriter:
    """Writes a receipt of each row; any process can have one."""

    folder: Path  # where the receipts go
    model: ModelFile  # the file of the model, which receipts name; its checksum is taken once

    def __call__(self, result: Explanations) -> None:
        """Write a receipt of each of these rows that the model answered."""
        for position, item in enumerate(result):
            if item.predicted == UNKNOWN_CLASS:
                continue
            receipt = result.receipt(position, model=self.model)
            receipt.save(self.folder / f"row-{item.row}.json")
