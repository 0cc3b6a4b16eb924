"""Receipts: what was said can be checked on the model again, alone or a folder at a time."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce.classifier import as_classifier
from proce.errors import FileError, ModelError, ReceiptError, SearchError
from proce.explanation import Receipt, verify
from proce.explanation.receipts import (
    ModelFile,
    ReceiptCheck,
    Standing,
    check_receipts,
    checksum,
    receipt_files,
    was_changed,
)

from ..worlds import two_classes
from .samples import CODEC, RAISE_SAVINGS, everything, explanation, explanations

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


@pytest.fixture
def receipt() -> Receipt:
    return explanations(explanation(RAISE_SAVINGS)).receipt()


def test_a_receipt_comes_back_as_it_was(tmp_path: Path) -> None:
    model = tmp_path / "credit.onnx"
    model.write_bytes(b"1")
    result = everything()
    for at in range(len(result)):
        receipt = result.receipt(at, model=model)
        back = Receipt.load(receipt.save(tmp_path / "receipt.json"))
        assert back.to_json() == receipt.to_json()
        assert back.result.to_json() == result[at : at + 1].to_json()
        assert back.model_name == "credit.onnx"
        assert back.model_sha256 == (
            "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"  # printf 1
        )


def test_the_sum_of_a_model_can_be_taken_once_for_many_rows(tmp_path: Path) -> None:
    model = tmp_path / "credit.onnx"
    model.write_bytes(b"1")
    result = everything()
    known = ModelFile.of(model)
    receipts = [result.receipt(0, model=each) for each in (model, known)]
    model.unlink()
    receipts.append(result.receipt(1, model=known))
    assert {(each.model_name, each.model_sha256) for each in receipts} == {
        ("credit.onnx", known.sha256)
    }


def test_the_checksum_is_that_of_canonical_json() -> None:
    # printf '{"a":"é","b":[1,0.5,null]}' | sha256sum
    record = {"a": "é", "checksum": "any", "b": [1, 0.5, None]}
    known = "21b7842baa4c4c283070237c812afb2b9901f80d40094b10e4f234185747dd65"
    assert checksum(record) == known
    assert checksum({"b": [1, 0.5, None], "a": "é"}) != known  # the order of columns counts


def test_space_between_items_is_no_change(receipt: Receipt) -> None:
    text = receipt.to_json()
    assert not was_changed(text)
    assert not was_changed(json.dumps(json.loads(text)))


@pytest.mark.parametrize(
    ("old", "new"), [("3500", "3400"), ("0.62", "0.72"), ('"seed": 0', '"seed": 1')]
)
def test_an_edited_receipt_is_noticed(receipt: Receipt, old: str, new: str) -> None:
    text = receipt.to_json()
    assert old in text
    assert was_changed(text.replace(old, new, 1))
    with pytest.raises(ReceiptError, match="changed after it was written"):
        Receipt.from_json(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("[]", "not a receipt"),
        ('{"receipt": 1}', "not a receipt"),
        ('{"receipt": 2, "checksum": ""}', "format 2"),
        (everything().to_json(), "not a receipt"),
    ],
)
def test_what_is_no_receipt_is_refused(text: str, message: str) -> None:
    with pytest.raises(ReceiptError, match=message):
        Receipt.from_json(text)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"written": 3}, "written is 3; expected a text"),
        ({"model": None}, "model is None; expected an object"),
        ({"model": {"name": []}}, r"model\.name is \[\]; expected a text"),
        ({"explanation": json.loads(everything().to_json())}, "of 5 rows; expected one"),
    ],
)
def test_a_receipt_whose_fields_are_wrong_is_refused(
    receipt: Receipt, fields: dict[str, Any], message: str
) -> None:
    record = json.loads(receipt.to_json()) | fields
    text = json.dumps(record | {"checksum": checksum(record)})
    with pytest.raises(ReceiptError, match=message):
        Receipt.from_json(text)


def test_the_same_model_says_the_same(receipt: Receipt) -> None:
    verdict = verify(Receipt.from_json(receipt.to_json()), Lender(3_500).model_for(None)[0], CODEC)
    assert verdict.holds
    assert [str(answer) for answer in verdict.answers] == [
        "the row itself: still rejected (target 31%, as it was)",
        "counterfactual 1: still approved (target 62%, as it was)",
    ]


@pytest.mark.parametrize(("limit", "holds"), [(4_000, [True, False]), (1_000, [False, True])])
def test_another_model_is_caught(receipt: Receipt, limit: float, holds: list[bool]) -> None:
    verdict = verify(receipt, Lender(limit).model_for(None)[0], CODEC)
    assert not verdict.holds
    assert [answer.holds for answer in verdict.answers] == holds
    assert "no longer" in str(verdict.answers[holds.index(False)])


def test_a_row_without_a_counterfactual_can_be_checked() -> None:
    receipt = explanations(explanation()).receipt()
    assert verify(receipt, Lender(3_500).model_for(None)[0], CODEC).holds
    assert not verify(receipt, Lender(1_000).model_for(None)[0], CODEC).holds


def test_a_model_of_other_classes_is_refused(receipt: Receipt) -> None:
    other = as_classifier(lambda frame: np.full((len(frame), 2), 0.5), CODEC)
    with pytest.raises(ModelError, match="the model's classes are 0, 1"):
        verify(receipt, other, CODEC)


def test_a_row_or_a_model_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SearchError, match="5 explanations"):
        everything().receipt(5)
    assert everything().receipt(-1).result[0].row == 4
    with pytest.raises(FileError, match="does not exist"):
        everything().receipt(0, model=tmp_path / "none.onnx")
    with pytest.raises(FileError, match=r"manifest.json' cannot be read"):
        everything().receipt(0, model=tmp_path)
    for text in ("[", "{}", '{"model_file": null}', '{"model_file": {"name": "../x.onnx"}}'):
        (tmp_path / "manifest.json").write_text(text)
        with pytest.raises(FileError, match="names no model"):
            everything().receipt(0, model=tmp_path)


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
