"""Receipts as JSON text with a checksum.

The checksum reveals a receipt that was edited by hand or damaged. It is no signature: whoever
edits a receipt on purpose can compute the checksum anew.
"""

import json
from hashlib import sha256
from typing import Any

from proce.errors import ReceiptError
from proce.explanation.exchange.explanations_json import from_json, to_json
from proce.explanation.receipts.receipt import ReceiptRecord
from proce.schema.records import RecordError, StrictRecord

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
    receipt = read_receipt(text)
    result = from_json(json.dumps(receipt.explanation))
    if len(result) != 1:
        raise ReceiptError(f"the receipt is of {len(result)} rows; expected one.")
    return ReceiptRecord(result, receipt.model.name, receipt.model.sha256, receipt.written)


def read_receipt(text: str) -> WireReceipt:
    """Check the text of a receipt as :func:`receipt_from_json` does, but for its explanation."""
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


def _parsed(text: str) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
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
