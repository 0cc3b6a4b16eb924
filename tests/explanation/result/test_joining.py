"""The explanations of pieces of a frame, put together, are those of the frame."""

import pickle
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from proce import SearchError
from proce.explanation import Explanations
from proce.schema import Codec, Layout

from ..samples import SCHEMA, context, everything, explanation, explanations, people


def pieces_of(result: Explanations, *ends: int) -> list[Explanations]:
    """Return a result cut after some of its rows, each piece as if it were a call of its own."""
    cuts = [0, *ends, len(result)]
    pieces = []
    for first, last in pairwise(cuts):
        piece = result[first:last].counted_from(-first)
        if result.layout.index is not None:
            layout = replace(result.layout, index=result.layout.index[first:last])
            piece = replace(piece, layout=layout)
        pieces.append(piece)
    return pieces


def same(joined: Explanations, whole: Explanations) -> bool:
    """Whether two results are the same in every form, but for the work that they were."""
    pd.testing.assert_frame_equal(joined.to_frame(), whole.to_frame())
    pd.testing.assert_frame_equal(joined.outcomes(), whole.outcomes())
    pd.testing.assert_frame_equal(joined.changes(), whole.changes())
    told = replace(joined, provenance=whole.provenance)
    assert told.to_json() == whole.to_json()
    return [str(item) for item in joined] == [str(item) for item in whole]


@pytest.mark.parametrize("ends", [(), (2,), (1, 2, 3, 4), (0, 0, 3, 5)], ids=str)
def test_pieces_that_count_from_0_are_counted_on(ends: tuple[int, ...]) -> None:
    whole = everything()
    assert same(Explanations.join(pieces_of(whole, *ends)), whole)


def test_pieces_that_were_counted_keep_their_positions_and_their_labels() -> None:
    whole = everything()
    first, second = pieces_of(whole, 2)
    joined = Explanations.join([first.counted_from(10), second.counted_from(12)])
    assert joined.outcomes()["row"].tolist() == [10, 11, 12, 13, 14]
    assert list(joined.outcomes().index) == list(people().index)
    assert same(joined, whole.counted_from(10))


def test_slices_of_a_result_go_together_again() -> None:
    whole = everything()
    assert same(Explanations.join([whole[:1], whole[1:4], whole[4:]]), whole)
    assert Explanations.join([whole[:1], whole[3:]]).outcomes()["row"].tolist() == [0, 3, 4]


def test_pieces_may_come_from_another_process_or_from_json() -> None:
    whole = everything()
    sent = [pickle.loads(pickle.dumps(piece)) for piece in pieces_of(whole, 3)]  # noqa: S301
    assert same(Explanations.join(sent), whole)
    read = [Explanations.from_json(piece.to_json()) for piece in pieces_of(whole, 3)]
    assert same(Explanations.join(read), Explanations.from_json(whole.to_json()))


def test_frames_of_other_libraries_stay_what_they_are() -> None:
    frame = pl.from_pandas(people())
    whole = everything(frame)
    joined = Explanations.join(pieces_of(whole, 2))
    assert joined.to_frame().equals(whole.to_frame())
    assert joined.to_json() == replace(whole, provenance=joined.provenance).to_json()


@pytest.mark.parametrize("mark", [None, np.nan, pd.NA], ids=str)
def test_a_missing_cell_is_marked_as_in_the_frame(mark: Any) -> None:
    frame = people().astype({"education": object})
    frame.loc["dee", "education"] = mark
    whole = everything(frame)
    pieces = [
        replace(piece, layout=Layout.of(part))
        for piece, part in zip(pieces_of(whole, 2), (frame[:2], frame[2:]), strict=True)
    ]
    assert Explanations.join(pieces).layout.missing["education"] is mark
    assert same(Explanations.join(pieces), whole)


def test_the_work_of_all_pieces_is_added_up() -> None:
    first, second = pieces_of(everything(), 2)
    work = replace(second.provenance, elapsed_seconds=2.0, generations=7, evaluations=30)
    second = replace(second, provenance=work)
    joined = Explanations.join([first, second]).provenance
    assert (joined.elapsed_seconds, joined.generations, joined.evaluations) == (3.25, 40, 4_030)
    assert Explanations.join([first, second], elapsed_seconds=0.5).provenance.elapsed_seconds == 0.5


def test_all_versions_are_told() -> None:
    first, second = pieces_of(everything(), 2)
    newer = replace(second.provenance, versions={"proce": "0.1.0", "python": "3.12.1"})
    joined = Explanations.join([first, replace(second, provenance=newer)])
    assert joined.provenance.versions == {"proce": "0.1.0", "python": "3.11.2, 3.12.1"}


def test_a_piece_of_another_explainer_or_call_is_refused() -> None:
    first, second = pieces_of(everything(), 2)
    other = everything(shared=context(classes=("no", "yes")))[2:]
    with pytest.raises(SearchError, match=r"piece 1 .* differs from the first in its model"):
        Explanations.join([first, other])
    with pytest.raises(SearchError, match="in its view"):
        Explanations.join([first, second.seen_by("auditor")])
    elsewhere = replace(second, provenance=replace(second.provenance, seed=1))
    with pytest.raises(SearchError, match="in its seed"):
        Explanations.join([first, elsewhere])


def test_a_piece_of_another_frame_is_refused() -> None:
    first, second = pieces_of(everything(), 2)
    other = everything(people().astype({"savings": float}))[2:]
    with pytest.raises(SearchError, match="other columns, other dtypes"):
        Explanations.join([first, other])
    assert len(Explanations.join([first, other[:0], second])) == 5  # without rows it is no matter


def test_pieces_out_of_order_are_refused() -> None:
    whole = everything()
    with pytest.raises(SearchError, match="Give the pieces in order"):
        Explanations.join([whole[3:], whole[:3]])
    with pytest.raises(SearchError, match="Give the pieces in order"):
        Explanations.join([whole[:3], whole[2:]])


def test_nothing_cannot_be_joined() -> None:
    with pytest.raises(SearchError, match="pieces is empty"):
        Explanations.join([])


def test_paths_of_some_pieces_are_kept() -> None:
    steps = (np.zeros((2, 8), dtype=np.float64),)
    with_path = explanation({"ratio": ("action", 0.25)}, row=0, steps=steps)
    without = explanation(row=1)
    whole = explanations(with_path, without)
    joined = Explanations.join([whole[:1], whole[1:]])
    assert [len(path) for path in joined[0].steps] == [2]
    assert joined[1].steps == ()


def test_what_was_written_for_an_applicant_stays_without_what_is_protected() -> None:
    schema = SCHEMA.edit("sex", protected=True)
    whole = everything(shared=context(codec=Codec.fit(schema, people())))
    read = [Explanations.from_json(piece.to_json()) for piece in pieces_of(whole, 2)]
    joined = replace(Explanations.join(read), provenance=whole.provenance)
    assert joined.context.withheld == 1
    assert joined.to_json() == Explanations.from_json(whole.to_json()).to_json()
