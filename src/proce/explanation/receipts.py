"""Receipts: explanations as JSON text with a checksum, about which the model is asked again later.

The checksum reveals a receipt that was edited by hand or damaged. It is no signature: whoever
edits a receipt on purpose can compute the checksum anew.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from proce.classifier import Classifier, decide, predict_frame
from proce.classifier.skops_files import model_sum
from proce.errors import FileError, ModelError, ProceError, ReceiptError
from proce.explanation.exchange.explanations_json import from_json, to_json
from proce.explanation.record.context import Context
from proce.explanation.record.counterfactuals import UNKNOWN_CLASS
from proce.explanation.record.rows import ExplainedFrame, ExplainedRow
from proce.explanation.words.values import class_words, percents
from proce.files import read_bytes, read_text
from proce.json_reading import parse_json
from proce.losses import target_probability
from proce.paths import path_of
from proce.schema import Codec, Level
from proce.schema.features.levels import quoted
from proce.schema.records import RecordError, StrictRecord

FORMAT = 1
_FORM = '{"receipt": 1, "checksum": …, "explanation": {…}}'
_ROUNDING = 1e-6  # of a probability: another machine may add in another order
ModelFor = Callable[[Context], tuple[Classifier, Codec]]
_BLOCK_FILES = 256  # read before the model is asked about them
_MAX_BYTES = 1 << 26  # of a receipt
_BEGINNING = re.compile(r"""\s*\{\s*"receipt"\s*:""")  # of one that may be cut off below
_RECEIPT_NAME = re.compile(r"row-[0-9]+\.json")  # of what 'proce explain --receipts' writes
_OWN_PARTS = ("explanations", "provenance", "layout")  # in which receipts of one run differ


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
        name = parse_json(read_text(manifest, "the saved explainer"))["model_file"]["name"]
    except (ValueError, TypeError, KeyError):
        name = None
    if not isinstance(name, str) or Path(name).name != name:
        raise FileError(
            f"{str(manifest)!r} names no model; give the folder of an explainer that was saved with"
            " its model, or the model's own file."
        )
    return name


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


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said of a row then, and what it says now."""

    rank: int  # the rank of the counterfactual; 0 for the row itself
    then: Level  # the class that the model said then, and says now
    now: Level
    chance_then: float  # the probability of the target then and now
    chance_now: float
    class_labels: Mapping[Level, str] = field(default_factory=dict)  # words for some of the classes

    @property
    def holds(self) -> bool:
        """Whether the model still says the same class."""
        return self.then == self.now

    def __str__(self) -> str:
        subject = f"counterfactual {self.rank}" if self.rank else "the row itself"
        still = "still" if self.holds else f"no longer {self._words(self.then)}, but"
        moved = abs(self.chance_now - self.chance_then) > _ROUNDING
        if moved:
            now, then = percents(self.chance_now, self.chance_then)
        else:
            (now,) = (then,) = percents(self.chance_now)
        past = f"; it was {then}" if moved else ", as it was"
        return f"{subject}: {still} {self._words(self.now)} (target {now}{past})"

    def _words(self, label: Level) -> str:
        return class_words(label, self.class_labels)


@dataclass(frozen=True)
class Verdict:
    """Whether an explanation is still true of a model."""

    # The answers about the row itself, and about each of its counterfactuals
    answers: tuple[Answer, ...]

    @property
    def holds(self) -> bool:
        """Whether the model says of the row and of every counterfactual what it said then."""
        return all(answer.holds for answer in self.answers)


def verify_rows(
    result: ExplainedFrame, classifier: Classifier, codec: Codec
) -> tuple[Verdict, ...]:
    """Send explained rows and their counterfactuals to a model again, all in one question."""
    rows, ways = result.rows, result.rows.counterfactuals
    for row in result:
        require_answer(row)
    classes, labels = result.context.classes, result.context.class_labels
    if classifier.classes != classes:
        raise ModelError(
            f"the model's classes are {quoted(classifier.classes)}; the receipt was written for a"
            f" model of the classes {quoted(classes)}. Give the model that it was written for."
        )
    owner = np.concatenate([np.arange(len(rows)), ways.owner])  # the rows first, then their ways
    lines = np.concatenate([rows.factual, ways.rows])
    layout = result.layout.without_index()
    frame = result.context.codec.rebuild(lines, layout, rows.factual[owner], rows.raw[owner])
    probabilities = predict_frame(classifier, frame, codec)
    columns = zip(
        owner.tolist(),
        np.concatenate([np.zeros_like(rows.target), ways.ranks()]).tolist(),
        np.concatenate([rows.predicted, rows.target[ways.owner]]).tolist(),
        decide(probabilities, classifier.threshold).tolist(),
        np.concatenate([rows.probability, ways.probabilities]).tolist(),
        target_probability(probabilities, rows.target[owner]).tolist(),
        strict=True,
    )
    answers: list[list[Answer]] = [[] for _ in range(len(rows))]
    for row, rank, then, now, chance_then, chance_now in columns:
        own = Answer(rank, classes[then], classes[now], chance_then, chance_now, labels)
        answers[row].append(own)
    return tuple(Verdict(tuple(own)) for own in answers)


class Standing(StrEnum):
    """What became of a file in a folder of receipts."""

    TRUE = "still true"
    UNTRUE = "no longer true"
    CHANGED = "changed"
    UNCHECKED = "could not be checked"
    NO_RECEIPT = "no receipt"


@dataclass(frozen=True)
class ReceiptCheck:
    """What the model says now of one file in a folder of receipts."""

    name: str  # the name of the file
    standing: Standing  # whether it is a receipt, and still true
    reason: str = ""  # what is no longer true, or why the file could not be checked
    model_sha256: str | None = None  # the SHA-256 sum of the model that the receipt was written for
    label: str = ""  # what the row is called, such as ``customer C003``; empty where it has no name

    def __str__(self) -> str:
        row = f" ({self.label})" if self.label else ""
        return f"{self.name}{row}: {self.reason or self.standing}"


def receipt_files(folder: str | PathLike[str]) -> tuple[Path, ...]:
    """Return the files of a folder, ``row-2.json`` before ``row-10.json``, without hidden ones."""
    try:
        entries = [path for path in Path(folder).iterdir() if not path.name.startswith(".")]
    except OSError as error:
        raise FileError(f"{str(folder)!r} cannot be read: {error.strerror}.") from error
    return tuple(sorted(entries, key=_number_key))


def check_receipts(paths: Sequence[Path], model_for: ModelFor) -> Iterator[ReceiptCheck]:
    """Ask a model again about receipts; yield what became of each file, in their order."""
    for first in range(0, len(paths), _BLOCK_FILES):
        block = [_read(path) for path in paths[first : first + _BLOCK_FILES]]
        groups: dict[str, list[tuple[str, WireReceipt]]] = {}
        for name, receipt in block:
            if isinstance(receipt, WireReceipt):
                groups.setdefault(_kind(receipt), []).append((name, receipt))
        checked = {
            check.name: check
            for group in groups.values()
            for check in _check_group(group, model_for)
        }
        for name, receipt in block:
            yield receipt if isinstance(receipt, ReceiptCheck) else checked[name]


def _read(path: Path) -> tuple[str, WireReceipt | ReceiptCheck]:
    """Return a receipt, or why there is none to check."""
    name, text = path.name, ""
    reason = "was changed after it was written: it proves nothing"
    changed = ReceiptCheck(name, Standing.CHANGED, reason)
    try:
        if path.is_file() and path.stat().st_size <= _MAX_BYTES:
            text = read_bytes(path.resolve(), _MAX_BYTES).decode("utf-8-sig", errors="replace")
            return name, read_receipt(text)
    except ChangedReceiptError:
        return name, changed
    except NoReceiptError:
        if _BEGINNING.match(text):
            return name, changed
    except (ProceError, OSError, RecursionError) as error:
        return name, ReceiptCheck(name, Standing.UNCHECKED, str(error))
    if _RECEIPT_NAME.fullmatch(name):
        return name, changed
    return name, ReceiptCheck(name, Standing.NO_RECEIPT, "is no receipt")


def _kind(receipt: WireReceipt) -> str:
    """Return what receipts that can be asked about together have in common."""
    shared = {key: part for key, part in receipt.explanation.items() if key not in _OWN_PARTS}
    return json.dumps([shared, _layout(receipt.explanation)])


def _layout(explanation: dict[str, Any]) -> Any:
    """Return how the frame looked, without the labels of its rows."""
    layout = explanation.get("layout")
    if not isinstance(layout, dict):
        return layout
    return {key: part for key, part in layout.items() if key != "index"}


def _check_group(
    group: Sequence[tuple[str, WireReceipt]], model_for: ModelFor
) -> Iterator[ReceiptCheck]:
    """Ask about receipts of one kind together, and one by one where that fails."""
    try:
        verdicts = _verdicts([receipt for _, receipt in group], model_for)
    except ProceError as error:
        if len(group) == 1:
            ((name, receipt),) = group
            yield _told(name, receipt, Standing.UNCHECKED, str(error))
            return
        for member in group:
            yield from _check_group([member], model_for)
        return
    for (name, receipt), verdict in zip(group, verdicts, strict=True):
        standing = Standing.TRUE if verdict.holds else Standing.UNTRUE
        reason = "; ".join(str(answer) for answer in verdict.answers if not answer.holds)
        yield _told(name, receipt, standing, reason)


def _told(name: str, receipt: WireReceipt, standing: Standing, reason: str) -> ReceiptCheck:
    """Return what became of a receipt, with the id of its row where that has one."""
    layout = receipt.explanation.get("layout")
    index = layout.get("index") if isinstance(layout, dict) else None
    label = ""
    if isinstance(index, dict) and index.get("name") and isinstance(index.get("labels"), list):
        label = " ".join(str(text) for text in (index["name"], *index["labels"][:1]))
    return ReceiptCheck(name, standing, reason, receipt.model.sha256, label)


def _verdicts(receipts: Sequence[WireReceipt], model_for: ModelFor) -> Sequence[Verdict]:
    first = receipts[0].explanation
    rows = [receipt.explanation.get("explanations") for receipt in receipts]
    single = [own[0] for own in rows if isinstance(own, list) and len(own) == 1]
    if len(single) != len(receipts):
        raise ReceiptError("the receipt is not of one row.")
    numbered = [
        {**row, "row": number} if isinstance(row, dict) else row
        for number, row in enumerate(single)
    ]
    result = from_json(json.dumps({**first, "layout": _layout(first), "explanations": numbered}))
    return verify_rows(result, *model_for(result.context))


def _number_key(path: Path) -> list[Any]:
    """Return a key that sorts the numbers in a name as numbers."""
    pieces = re.split(r"([0-9]+)", path.name)
    return [int(piece) if place % 2 else piece for place, piece in enumerate(pieces)]
