"""A folder of receipts: each is told by its name, and the model is asked about all together."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce.classifier import as_classifier
from proce.errors import FileError
from proce.explanation import Receipt, verify
from proce.explanation.receipts import (
    ReceiptCheck,
    Standing,
    check_receipts,
    checksum,
    receipt_files,
)

from ...worlds import two_classes
from ..samples import CODEC, RAISE_SAVINGS, everything, explanation, explanations

CHANGED = "was changed after it was written: it proves nothing"


class Lender:
    """A model that approves where savings reach a limit, and remembers how often it is asked."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.sizes: list[int] = []

    def chances(self, frame: pd.DataFrame) -> Any:
        """Return the chances of a no and a yes."""
        self.sizes.append(len(frame))
        return two_classes(np.where(frame["savings"] >= self.limit, 0.62, 0.31))

    def model_for(self, _context: Any) -> Any:
        """Return the model with the codec of its rows."""
        return as_classifier(self.chances, CODEC, classes=("rejected", "approved")), CODEC


def write(folder: Path, name: str, *actions: Any) -> Path:
    """Write the receipt of a row."""
    return explanations(explanation(*actions)).receipt().save(folder / name)


def check(folder: Path, lender: Lender) -> dict[str, tuple[Standing, str]]:
    """Return what becomes of each file of a folder."""
    checks = check_receipts(receipt_files(folder), lender.model_for)
    return {each.name: (each.standing, each.reason) for each in checks}


def test_files_stand_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("row-10.json", "row-2.json", ".hidden", "notes.txt", "row-1.json"):
        (tmp_path / name).touch()
    names = [path.name for path in receipt_files(tmp_path)]
    assert names == ["notes.txt", "row-1.json", "row-2.json", "row-10.json"]
    assert receipt_files(str(tmp_path)) == receipt_files(tmp_path)
    with pytest.raises(FileError, match="cannot be read: No such file"):
        receipt_files(tmp_path / "none")


def test_receipts_of_one_kind_are_one_question(tmp_path: Path) -> None:
    """Three rows, two of them with a way, are five lines."""
    write(tmp_path, "row-0.json", RAISE_SAVINGS)
    write(tmp_path, "row-1.json")
    write(tmp_path, "row-2.json", RAISE_SAVINGS)
    lender = Lender(3_500)
    assert check(tmp_path, lender) == {f"row-{row}.json": (Standing.TRUE, "") for row in range(3)}
    assert lender.sizes[1:] == [5]  # the first question is how the model answers at all


@pytest.mark.parametrize("limit", [1_000, 3_500, 4_000])
def test_a_receipt_gets_the_verdict_that_it_gets_alone(tmp_path: Path, limit: float) -> None:
    result = everything()
    for at in range(len(result)):
        result.receipt(at).save(tmp_path / f"row-{at}.json")
    lender = Lender(limit)
    found = check(tmp_path, lender)
    for at in range(len(result)):
        verdict = verify(result.receipt(at), *lender.model_for(None))
        standing, reason = found[f"row-{at}.json"]
        assert (standing is Standing.TRUE) == verdict.holds
        broken = [str(answer) for answer in verdict.answers if not answer.holds]
        assert reason == "; ".join(broken)


def test_what_is_no_longer_true_is_told(tmp_path: Path) -> None:
    write(tmp_path, "row-0.json", RAISE_SAVINGS)
    write(tmp_path, "row-1.json")
    (told, alone) = check_receipts(receipt_files(tmp_path), Lender(4_000).model_for)
    assert str(told) == (
        "row-0.json: counterfactual 1: no longer approved, but rejected (target 31%; it was 62%)"
    )
    assert alone == ReceiptCheck("row-1.json", Standing.TRUE)
    assert str(alone) == "row-1.json: still true"


def test_a_row_that_has_an_id_is_told_by_it(tmp_path: Path) -> None:
    result = explanations(explanation(RAISE_SAVINGS))
    named = result.labelled(pd.Index(["C007"], name="customer"))
    named.receipt().save(tmp_path / "row-0.json")
    write(tmp_path, "row-1.json", RAISE_SAVINGS)
    lender = Lender(4_000)
    told = [str(check) for check in check_receipts(receipt_files(tmp_path), lender.model_for)]
    assert [text.partition(": ")[0] for text in told] == [
        *["row-0.json (customer C007)", "row-1.json"]
    ]
    assert lender.sizes[1:] == [4]  # ids are no reason to ask twice


def test_what_is_no_receipt_is_told_as_such(tmp_path: Path) -> None:
    write(tmp_path, "row-0.json", RAISE_SAVINGS)
    (tmp_path / "notes.txt").write_text("remember the milk")
    (tmp_path / "result.json").write_text(everything().to_json())
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff\xfe")
    (tmp_path / "empty.json").touch()
    (tmp_path / "inner").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    found = check(tmp_path, Lender(3_500))
    assert found.pop("row-0.json") == (Standing.TRUE, "")
    assert set(found.values()) == {(Standing.NO_RECEIPT, "is no receipt")}
    assert len(found) == 6


def test_a_receipt_that_was_changed_or_cut_off_proves_nothing(tmp_path: Path) -> None:
    text = write(tmp_path, "row-0.json", RAISE_SAVINGS).read_text("utf-8")
    (tmp_path / "row-1.json").write_text(text.replace("0.62", "0.72"))
    (tmp_path / "row-2.json").write_text(text[: len(text) // 2])
    (tmp_path / "row-3.json").write_bytes(text.encode()[:100] + b"\xff\xfe")
    (tmp_path / "copy.json").write_text('{"note": 1, ' + text.lstrip("{ \n"))
    found = check(tmp_path, Lender(3_500))
    assert found.pop("row-0.json") == (Standing.TRUE, "")
    names = ("row-1.json", "row-2.json", "row-3.json", "copy.json")
    assert found == dict.fromkeys(names, (Standing.CHANGED, CHANGED))


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", "remember the milk", '{"note": 1, "receipt": 1}']
)
def test_whatever_has_the_name_of_a_receipt_must_be_one(tmp_path: Path, text: str) -> None:
    write(tmp_path, "row-0.json", RAISE_SAVINGS)
    (tmp_path / "row-299.json").write_text(text)
    (tmp_path / "row-300.json").mkdir()
    (tmp_path / "row-301.json").symlink_to("nowhere")
    found = check(tmp_path, Lender(3_500))
    assert found.pop("row-0.json") == (Standing.TRUE, "")
    assert found == {f"row-{row}.json": (Standing.CHANGED, CHANGED) for row in (299, 300, 301)}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"receipt": 2}, "format 2"),
        ({"written": 3}, "written is 3; expected a text"),
        ({"explanation": {}}, "not of one row"),
        ({"explanation": {"format": 1, "explanations": [1]}}, "cannot be read"),
        ({"explanation": json.loads(everything().to_json())}, "not of one row"),
    ],
)
def test_one_that_cannot_be_checked_does_not_stop_the_others(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    record = json.loads(write(tmp_path, "row-0.json", RAISE_SAVINGS).read_text("utf-8")) | change
    record["checksum"] = checksum(record)
    (tmp_path / "row-1.json").write_text(json.dumps(record))
    found = check(tmp_path, Lender(3_500))
    assert found["row-0.json"] == (Standing.TRUE, "")
    standing, reason = found["row-1.json"]
    assert standing is Standing.UNCHECKED
    assert words in reason


def test_a_wrong_row_among_receipts_of_one_kind_is_found(tmp_path: Path) -> None:
    """Its explanation looks like the others, and its class is none of the model's."""
    record = json.loads(write(tmp_path, "row-0.json", RAISE_SAVINGS).read_text("utf-8"))
    write(tmp_path, "row-2.json", RAISE_SAVINGS)
    record["explanation"]["explanations"][0]["predicted"] = "perhaps"
    record["checksum"] = checksum(record)
    (tmp_path / "row-1.json").write_text(json.dumps(record))
    found = check(tmp_path, Lender(3_500))
    assert [found[f"row-{row}.json"][0] for row in range(3)] == [
        *[Standing.TRUE, Standing.UNCHECKED, Standing.TRUE]
    ]
    assert "'perhaps'; expected one of the model's classes" in found["row-1.json"][1]


def test_receipts_of_other_kinds_are_asked_about_apart(tmp_path: Path) -> None:
    """The model of the second call has other classes."""
    write(tmp_path, "row-0.json", RAISE_SAVINGS)
    other = as_classifier(lambda frame: np.full((len(frame), 2), 0.5), CODEC)
    (check,) = check_receipts(receipt_files(tmp_path), lambda _context: (other, CODEC))
    assert check.standing is Standing.UNCHECKED
    assert "the model's classes are 0, 1" in check.reason


def test_the_model_that_a_receipt_names_is_kept(tmp_path: Path) -> None:
    model = tmp_path / "credit.onnx"
    model.write_bytes(b"1")
    folder = tmp_path / "receipts"
    folder.mkdir()
    receipt = Receipt.of(explanations(explanation(RAISE_SAVINGS)), 0, model)
    receipt.save(folder / "row-0.json")
    (check,) = check_receipts(receipt_files(folder), Lender(3_500).model_for)
    assert check.model_sha256 == receipt.model_sha256
