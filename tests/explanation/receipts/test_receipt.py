"""Receipts: what was said can be checked on the model again, and a changed receipt is noticed."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce.classifier import as_classifier
from proce.errors import FileError, ModelError, ReceiptError, SearchError
from proce.explanation import Receipt, verify
from proce.explanation.receipts import ModelFile, checksum, was_changed

from ...worlds import two_classes
from ..samples import CODEC, RAISE_SAVINGS, everything, explanation, explanations


def lender(limit: float) -> Any:
    """Return a model that approves where savings reach a limit."""

    def chances(frame: pd.DataFrame) -> Any:
        return two_classes(np.where(frame["savings"] >= limit, 0.62, 0.31))

    return as_classifier(chances, CODEC, classes=("rejected", "approved"))


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
    verdict = verify(Receipt.from_json(receipt.to_json()), lender(3_500), CODEC)
    assert verdict.holds
    assert [str(answer) for answer in verdict.answers] == [
        "the row itself: still rejected (target 31%, as it was)",
        "counterfactual 1: still approved (target 62%, as it was)",
    ]


@pytest.mark.parametrize(("limit", "holds"), [(4_000, [True, False]), (1_000, [False, True])])
def test_another_model_is_caught(receipt: Receipt, limit: float, holds: list[bool]) -> None:
    verdict = verify(receipt, lender(limit), CODEC)
    assert not verdict.holds
    assert [answer.holds for answer in verdict.answers] == holds
    assert "no longer" in str(verdict.answers[holds.index(False)])


def test_a_row_without_a_counterfactual_can_be_checked() -> None:
    receipt = explanations(explanation()).receipt()
    assert verify(receipt, lender(3_500), CODEC).holds
    assert not verify(receipt, lender(1_000), CODEC).holds


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
