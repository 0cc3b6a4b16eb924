"""Receipts of many rows: a file each, and the checksum of the model is taken once."""

import pickle
from pathlib import Path

from proce import Receipt
from proce.batch.job import ReceiptWriter
from proce.explanation.receipts import ModelFile

from ..explanation.samples import RAISE_SAVINGS, explanation, explanations


def test_each_row_has_a_file_under_its_position(tmp_path: Path) -> None:
    model = tmp_path / "credit.onnx"
    model.write_bytes(b"1")
    writer = ReceiptWriter(tmp_path / "receipts", ModelFile.of(model))
    model.unlink()  # whatever is written from now on, the model is not read again
    writer.folder.mkdir()
    result = explanations(explanation(RAISE_SAVINGS), explanation(row=1))
    pickle.loads(pickle.dumps(writer))(result.counted_from(7))  # noqa: S301 # as a worker gets it
    assert {path.name for path in writer.folder.iterdir()} == {"row-7.json", "row-8.json"}
    receipt = Receipt.load(writer.folder / "row-8.json")
    assert (receipt.model_name, receipt.model_sha256) == ("credit.onnx", writer.model.sha256)
    assert receipt.result[0].row == 8
