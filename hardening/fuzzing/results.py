"""Explanations as JSON, and receipts."""

import json
import sys
from typing import Any

import numpy as np
import pandas as pd

from fuzzing.seeds import ROOT
from fuzzing.target import Target, one_in, text_of
from proce.errors import ProceError
from proce.explanation import (
    Blocker,
    Context,
    Diagnosis,
    Explanations,
    Outcome,
    Receipt,
)
from proce.explanation.receipts import checksum, read_receipt
from proce.schema import Categorical, Codec, Continuous, Layout, Schema

_N_SAMPLED = 10  # one in so many accepted texts is turned into frames, words and a page
_N_DRAWN = 500  # and one in so many of them is drawn
_WORDS = b'{ } [ ] , : " null true 1 1e999 NaN -0 "row" "values"'.split()


def results() -> Target:
    """Return the target of explanations: what is accepted can be read, printed and drawn."""

    def check(content: bytes) -> None:
        _check_result(Explanations.from_json(text_of(content)), content)

    return Target("results", check, [_dumped(each) for each in _records()], _WORDS, is_json=True)


def receipts() -> Target:
    """Return the target of receipts, whose checksum fits again after most changes.

    The explanation in a receipt is the target ``results``, and is read here now and then.
    """

    def check(content: bytes) -> None:
        text = text_of(content)
        read_receipt(text)
        if one_in(_N_SAMPLED, content):
            written = Receipt.from_json(text).to_json()
            assert Receipt.from_json(written).to_json() == written, "a receipt comes back the same"

    seeds = []
    for record in _records():
        model = {"name": "model.skops", "sha256": "0" * 64}
        written = "2026-01-01T00:00:00+00:00"
        for row in record["explanations"]:
            single = {**record, "explanations": [row]}
            single["layout"] = {k: v for k, v in record["layout"].items() if k != "index"}
            whole = {"receipt": 1, "written": written, "model": model, "explanation": single}
            seeds.append(_sealed(_dumped({**whole, "checksum": ""})))
    return Target("receipts", check, seeds, _WORDS, is_json=True, seal=_sealed)


def _check_result(result: Explanations, content: bytes) -> None:
    if not one_in(_N_SAMPLED, content):
        return
    text = result.to_json()
    assert Explanations.from_json(text).to_json() == text, "JSON comes back the same"
    for name in ("to_frame", "outcomes", "changes", "summary", "best"):
        getattr(result, name)()
    result.reasons().frame()
    repr(result), str(result), result._repr_html_()
    for item in result:
        item.sentences(), str(item)
    if one_in(_N_DRAWN, content):
        _draw(result)


def _draw(result: Explanations) -> None:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    for draw in (result.plot_changes, result.plot_cohort, result.plot_front):
        try:
            draw()
        except ProceError:
            pass  # there is nothing to draw
        finally:
            pyplot.close("all")


def _records() -> list[dict[str, Any]]:
    """Return explanations of the tests, and some of two features, which are read faster."""
    sys.path.insert(0, str(ROOT))
    from tests.explanation import samples

    whole = samples.everything().to_json()
    old = (ROOT / "tests" / "fixtures" / "explanations_v1.json").read_text("utf-8")
    small = [
        _small_result(outcome).to_json() for outcome in Outcome if outcome is not Outcome.FAILED
    ]
    return [json.loads(text) for text in (*small, *small, whole, old)]


def _small_result(outcome: Outcome) -> Explanations:
    """Return the explanation of one row of two features."""
    from tests.explained import BY_HAND, changed_rows, explained_row, fronts_of_one

    frame = pd.DataFrame({"savings": [2_000, 9_000], "job": ["none", "office"]})
    schema = Schema([Continuous("savings", step=100), Categorical("job", ("none", "office"))])
    codec = Codec.fit(schema, frame)
    shared = Context(codec, ("no", "yes"), (0.5, 0.5), edges=(("job", "savings"),), origin="given")
    ways: list[Any] = [{"job": ("action", "office"), "savings": ("hold", 2_000, 4_000)}]
    rows, changes, _ = changed_rows(codec, codec.encode(frame)[0], ways)
    if outcome is not Outcome.FOUND:
        rows, changes = rows[:0], changes[:0]
    blockers = (Blocker("rule", "cf.savings <= 1", "without the rule", 0.5, 3),)
    missed = {"savings": 2_000, "job": None}
    why = Diagnosis("Nothing was found.", missed, 0.4, 0.5, ("cf.savings <= 1",), blockers, 7)
    item = explained_row(
        *(shared, codec.encode(frame)[0], codec.raw_of_frame(frame)[0], rows, changes),
        probabilities=np.full(len(rows), 0.7),
        losses=np.full((len(rows), 3), 0.1),
        outcome=outcome,
        front=fronts_of_one(rows, np.zeros((len(rows), 3))) if len(rows) else None,
        diagnosis=why if outcome is Outcome.NOT_FOUND else None,
        notes=("A note.",),
    )
    return Explanations(item.alone(), Layout.of(frame), BY_HAND)


def _dumped(record: Any) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode()


def _sealed(content: bytes) -> bytes:
    """Return a receipt with the checksum that fits what it says."""
    try:
        record = json.loads(content)
        record["checksum"] = checksum(record)
        return json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass")
    except (ValueError, TypeError, RecursionError):
        return content
