"""Receipts: explanations that can be checked later, as JSON text with a checksum.

The checksum reveals a receipt that was edited by hand or damaged. It is no signature: whoever
edits a receipt on purpose can compute the checksum anew.
"""

import json
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

from proce.classifier.skops_files import model_sum
from proce.errors import FileError, ReceiptError
from proce.explanation.exchange.explanations_json import from_json, to_json
from proce.explanation.record.counterfactuals import UNKNOWN_CLASS
from proce.explanation.record.rows import ExplainedFrame, ExplainedRow
from proce.files import read_text
from proce.json_reading import parse_json
from proce.paths import path_of
from proce.schema.records import RecordError, StrictRecord


@dataclass(frozen=True)
class ModelFile:
    """The file of a model, as receipts name it."""

    name: str  # its name and its SHA-256 sum
    sha256: str

    @classmethod
    def of(cls, model: str | PathLike[str]) -> "ModelFile":
        """Return the file of a model, from its path or that of a saved explainer."""
        path = model_file(path_of(model, "model"))
        return cls(path.name, model_sum(path))


def require_answer(row: ExplainedRow) -> None:
    """Refuse a row of which the model said nothing: nothing could be checked later."""
    if row.predicted == UNKNOWN_CLASS:
        raise ReceiptError(
            f"row {row.row} has no answer of the model that a receipt could hold: its outcome is"
            f" {row.outcome.value!r}. Explain the row again, and write the receipt of that."
        )


def model_file(path: Path) -> Path:
    """Return the file that holds a model: a file itself, or the one in a saved explainer."""
    if path.is_dir():
        return path / _model_name(path / "manifest.json")
    if not path.is_file():
        raise FileError(f"the model {str(path)!r} does not exist; give its file or folder.")
    return path


def _model_name(manifest: Path) -> str:
    try:
        name = json.loads(read_text(manifest, "the saved explainer"))["model_file"]["name"]
    except (ValueError, TypeError, KeyError):
        name = None
    if not isinstance(name, str) or Path(name).name != name:
        raise FileError(
            f"{str(manifest)!r} names no model; give the folder of an explainer that was saved with"
            " its model, or the model's own file."
        )
    return name


FORMAT = 1
_FORM = '{"receipt": 1, "checksum": …, "explanation": {…}}'


class NoReceiptError(ReceiptError):
    """A text that is no receipt at all."""


class ChangedReceiptError(ReceiptError):
    """A receipt that is no longer as it was written."""


class _ModelFile(StrictRecord):
    name: str | None = None
    sha256: str | None = None


class WireReceipt(StrictRecord):
    """A receipt as it stands in JSON text."""

    written: str
    model: _ModelFile
    explanation: dict[str, Any]


def receipt_text(
    result: ExplainedFrame, model_name: str | None, model_sha256: str | None, written: str
) -> str:
    """Return the receipt of an explained row, and of the model's file, as JSON text."""
    record: dict[str, Any] = {
        "receipt": FORMAT,
        "written": written,
        "model": {"name": model_name, "sha256": model_sha256},
        "explanation": json.loads(to_json(result)),
    }
    record["checksum"] = checksum(record)
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def receipt_frame(receipt: WireReceipt) -> ExplainedFrame:
    """Return the explanation of the one row of a receipt."""
    result = from_json(json.dumps(receipt.explanation))
    if len(result) != 1:
        raise ReceiptError(f"the receipt is of {len(result)} rows; expected one.")
    return result


def read_receipt(text: str) -> WireReceipt:
    """Return a receipt whose checksum and fields are right; its explanation is not read yet."""
    record = _parsed(text)
    if record["checksum"] != checksum(record):
        raise ChangedReceiptError(
            "the receipt was changed after it was written: its checksum does not fit. It"
            " proves nothing; use the original."
        )
    try:
        return WireReceipt.read(record)
    except RecordError as error:
        raise ReceiptError(f"the receipt cannot be read: {error}") from None


def checksum(record: dict[str, Any]) -> str:
    """Return the SHA-256 sum of a record without its checksum, as canonical JSON."""
    # Canonical JSON has no spaces, is encoded as UTF-8, and has numbers as Python writes them and
    # keys in their order, which is that of the columns.
    kept = {key: value for key, value in record.items() if key != "checksum"}
    text = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def was_changed(text: str) -> bool:
    """Whether a receipt is no longer as it was written."""
    record = _parsed(text)
    return bool(record["checksum"] != checksum(record))


def _parsed(text: str) -> dict[str, Any]:
    try:
        record = parse_json(text)
    except ValueError as error:
        raise NoReceiptError(f"the receipt is not JSON: {error}.") from None
    if not isinstance(record, dict) or not {"receipt", "checksum"} <= set(record):
        raise NoReceiptError(
            f"this is not a receipt; expected {_FORM}, as 'proce explain --receipts' writes it."
        )
    if (version := record["receipt"]) != FORMAT:
        raise ReceiptError(
            f"the receipt has format {version!r}; this version of proce reads {FORMAT}. Update"
            " proce."
        )
    return record
