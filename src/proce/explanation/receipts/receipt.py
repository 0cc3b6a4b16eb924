"""An explanation that can be checked later: what was said, of which model, and a checksum.

The checksum reveals a receipt that was edited by hand or damaged. It is no signature: whoever
edits a receipt on purpose can compute the checksum anew.
"""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from proce.errors import FileError, ReceiptError
from proce.explanation.exchange.explanations_json import from_json, to_json
from proce.explanation.record.frame import ExplainedFrame
from proce.files import read_text
from proce.schema.records import RecordError, StrictRecord

FORMAT = 1
_FORM = '{"receipt": 1, "checksum": …, "explanation": {…}}'


@dataclass(frozen=True, eq=False)
class ReceiptRecord:
    """The explanation of one row, with all that is needed to ask the model again.

    Attributes
    ----------
    result
        The explanation of one row, with its features, seed, settings and versions.
    model_name, model_sha256
        The name and the SHA-256 sum of the model's file; ``None`` where it was not named.
    written
        When the receipt was written, in UTC.
    """

    result: ExplainedFrame
    model_name: str | None = None
    model_sha256: str | None = None
    written: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))


class _ModelFile(StrictRecord):
    name: str | None = None
    sha256: str | None = None


class _Receipt(StrictRecord):
    written: str
    model: _ModelFile
    explanation: dict[str, Any]


def receipt_to_json(receipt: ReceiptRecord) -> str:
    """Return a receipt as JSON text."""
    record: dict[str, Any] = {
        "receipt": FORMAT,
        "written": receipt.written,
        "model": {"name": receipt.model_name, "sha256": receipt.model_sha256},
        "explanation": json.loads(to_json(receipt.result)),
    }
    record["checksum"] = checksum(record)
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def receipt_from_json(text: str) -> ReceiptRecord:
    """Read a receipt.

    Raises
    ------
    ReceiptError
        The text is not a receipt, or was changed after it was written.
    """
    record = _parsed(text)
    if record["checksum"] != checksum(record):
        raise ReceiptError(
            "the receipt was changed after it was written: its checksum does not fit. It"
            " proves nothing; use the original."
        )
    try:
        receipt = _Receipt.read(record)
    except RecordError as error:
        raise ReceiptError(f"the receipt cannot be read: {error}") from None
    result = from_json(json.dumps(receipt.explanation))
    if len(result) != 1:
        raise ReceiptError(f"the receipt is of {len(result)} rows; expected one.")
    return ReceiptRecord(result, receipt.model.name, receipt.model.sha256, receipt.written)


def checksum(record: dict[str, Any]) -> str:
    """Return the SHA-256 sum of a record without its checksum, as canonical JSON.

    Canonical JSON has no spaces, is encoded as UTF-8, and has numbers as Python writes them and
    keys in their order, which is that of the columns.
    """
    kept = {key: value for key, value in record.items() if key != "checksum"}
    text = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def was_changed(text: str) -> bool:
    """Whether a receipt is no longer as it was written."""
    record = _parsed(text)
    return bool(record["checksum"] != checksum(record))


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


def _parsed(text: str) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReceiptError(f"the receipt is not JSON: {error}.") from None
    if not isinstance(record, dict) or not {"receipt", "checksum"} <= set(record):
        raise ReceiptError(
            f"this is not a receipt; expected {_FORM}, as 'proce explain --receipts' writes it."
        )
    if (version := record["receipt"]) != FORMAT:
        raise ReceiptError(
            f"the receipt has format {version!r}; this version of proce reads {FORMAT}. Update"
            " proce."
        )
    return record
