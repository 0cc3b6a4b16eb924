"""A result that grows part by part in a folder beside its final name.

Every part is a Parquet file that is either whole or not there, so an interrupted run can be taken
up again. The last step puts the parts together.
"""

import fcntl
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from proce.errors import FileError
from proce.files import atomic_write, write_text

_TALLY_KEY = b"proce"  # of a part's metadata: how many of its rows have each outcome
_DOUBTS_KEY = b"proce.doubts"  # and how many of those found have each doubt


@dataclass(frozen=True)
class Parts:
    """The finished parts of a result.

    Attributes
    ----------
    out
        Where the result goes in the end.
    folder
        Where the parts are kept until then.
    """

    out: Path
    folder: Path

    @classmethod
    @contextmanager
    def open(cls, out: Path, request: Mapping[str, Any], restart: bool) -> Iterator["Parts"]:
        """Take up the parts of the same request, or begin; hold a lock for as long as it is open.

        Parameters
        ----------
        out
            Where the result goes, its suffix ``.csv`` or ``.parquet``.
        request
            What the parts depend on, in plain values.
        restart
            Whether to discard the parts of another request.
        """
        folder = out.with_name(f"{out.name}.parts")
        folder.mkdir(exist_ok=True)
        parts = cls(out, folder)
        with (folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise FileError(
                    f"another run is writing {str(out)!r}; wait for it, or write somewhere else."
                ) from None
            try:
                for path in parts.paths() if restart else ():
                    path.unlink()
                parts._refuse_other_request(request)
                yield parts
            finally:
                if not parts.paths():
                    shutil.rmtree(folder, ignore_errors=True)

    def paths(self) -> list[Path]:
        """Return the files of the finished parts, in order."""
        return sorted(self.folder.glob("[0-9]*.parquet"))

    def add(
        self,
        number: int,
        table: pa.Table,
        tally: Mapping[str, int],
        doubts: Mapping[str, int] | None = None,
    ) -> None:
        """Keep a part, how many of its rows have each outcome, and how many found ones a doubt."""
        counts = {_TALLY_KEY: tally, _DOUBTS_KEY: doubts or {}}
        marked = table.replace_schema_metadata(
            {key: json.dumps(dict(count)).encode() for key, count in counts.items()}
        )
        with atomic_write(self.folder / f"{number:08d}.parquet") as draft:
            pq.write_table(marked, draft)

    def tally(self) -> Counter[str]:
        """Return how many rows of all finished parts have each outcome."""
        return self._sum(_TALLY_KEY)

    def doubts(self) -> Counter[str]:
        """Return how many rows of all finished parts have each doubt."""
        return self._sum(_DOUBTS_KEY)

    def _sum(self, key: bytes) -> Counter[str]:
        total: Counter[str] = Counter()
        for path in self.paths():
            total.update(json.loads(pq.read_schema(path).metadata[key]))
        return total

    def put_together(self) -> int:
        """Write the result and remove the parts; return how many lines the result has."""
        tables = (pq.read_table(path).replace_schema_metadata(None) for path in self.paths())
        count = 0
        with atomic_write(self.out) as draft, _writer(draft, self.out.suffix) as write:
            for table in tables:
                write(table)
                count += table.num_rows
        shutil.rmtree(self.folder)
        return count

    def _refuse_other_request(self, request: Mapping[str, Any]) -> None:
        request_path = self.folder / "request.json"
        text = json.dumps(dict(request), sort_keys=True, default=str)
        if not self.paths():
            write_text(request_path, text)
            return
        numbers = [int(path.stem) for path in self.paths()]
        is_whole = numbers == list(range(len(numbers)))
        is_same = request_path.is_file() and request_path.read_text("utf-8") == text
        if not is_whole or not is_same:
            raise FileError(
                f"{str(self.folder)!r} holds {len(self.paths())} parts of an unfinished run with"
                " other rows, options or another explainer. Finish that run by the same command"
                " as then, or discard it with --restart."
            )


def csv_text(table: pa.Table, *, header: bool) -> str:
    """Return a table as csv, with an empty cell for a missing value."""
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    text: str = frame.to_csv(index=False, header=header, lineterminator="\n")
    return text


@contextmanager
def _writer(path: Path, suffix: str) -> Iterator[Callable[[pa.Table], None]]:
    """Yield a function that appends a table to a csv or Parquet file."""
    with ExitStack() as stack:
        if suffix == ".csv":
            stream = stack.enter_context(path.open("w", encoding="utf-8", newline=""))
            yield lambda table: _append_csv(stream, table)
            return
        writers: list[pq.ParquetWriter] = []

        def write(table: pa.Table) -> None:
            if not writers:
                writers.append(stack.enter_context(pq.ParquetWriter(path, table.schema)))
            writers[0].write_table(table)

        yield write


def _append_csv(stream: TextIO, table: pa.Table) -> None:
    stream.write(csv_text(table, header=not stream.tell()))
