"""The rows of a frame, as a job takes them."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import narwhals as nw

from proce.batch.reading.file_types import FileType
from proce.batch.reading.rows import Chunk
from proce.explanation import Explanations
from proce.schema import Codec
from proce.schema.frames.frame import open_frame
from proce.schema.matching import only_features


@dataclass(frozen=True, eq=False)
class FrameRows:
    """The rows of a frame of any library, cut into chunks."""

    frame: Any  # the frame; only the columns of features are sent to workers
    chunk_rows: int  # how many rows a chunk has

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.frame)

    @property
    def result_types(self) -> dict[str, FileType]:
        """The types of columns in files: those that the frame gives them."""
        return {}

    def chunks(self) -> Iterator[Chunk]:
        """Yield the rows, cut into chunks."""
        opened = nw.from_native(self.frame, eager_only=True)
        for first_row in range(0, max(self.count, 1), self.chunk_rows):
            part = opened[first_row : first_row + self.chunk_rows]
            yield Chunk(first_row, part.to_native())

    @property
    def labelled(self) -> "CountRows":
        """What gives explanations their positions; their labels they have from the frame."""
        return CountRows()


class CountRows:
    """Gives explanations of rows the positions that they have in the whole frame."""

    def __call__(self, result: Explanations, _table: Any, first_row: int = 0) -> Explanations:
        """Count the rows from ``first_row``."""
        return result.counted_from(first_row)


def no_rows(frame: Any) -> Any:
    """Return a frame without its rows, or say that it is none."""
    return open_frame(frame)[:0].to_native()


def checked_frame(codec: Codec, frame: Any) -> tuple[Any, str]:
    """Return the features of a frame, or say which cell does not fit, and a sum of its rows."""
    features = only_features(codec.schema, frame)
    total = hashlib.sha256(codec.raw_of_frame(features).tobytes())
    index = getattr(frame, "index", None)
    if index is not None:
        total.update(repr(index.tolist()).encode())
    return features, total.hexdigest()
