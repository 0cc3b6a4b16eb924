"""An explanation that can be checked later: what was said, and of which model."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path

from proce.classifier.model_sum import model_sum
from proce.errors import FileError, ReceiptError
from proce.explanation.record.frame import ExplainedFrame
from proce.explanation.record.outcome import UNKNOWN_CLASS
from proce.explanation.record.rows import ExplainedRow
from proce.files import read_text
from proce.paths import path_of
from proce.schema.features.brief import cut


@dataclass(frozen=True, eq=False, repr=False)
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

    def __repr__(self) -> str:
        (row,) = self.result
        model = "no model named" if self.model_name is None else f"model {self.model_name!r}"
        return cut(f"Receipt(row {row.row}, {row.outcome.value}, {model}, written {self.written})")


@dataclass(frozen=True)
class ModelFile:
    """The file of a model, as receipts name it.

    Attributes
    ----------
    name, sha256
        Its name and its SHA-256 sum.
    """

    name: str
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
