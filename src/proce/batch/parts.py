"""A result that grows part by part beside its final name, and can be taken up again.

Each part is a Parquet file, whole or not there. The last step puts them together.
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
from proce.files import placed, write_text

FORMATS = (".csv", ".parquet")
_TALLY = b"proce"  # where a part's metadata keeps how its rows ended


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
        """Take up the parts of the same request, or begin; nobody else does so meanwhile.

        Parameters
        ----------
        out
            Where the result goes, its suffix one of :data:`FORMATS`.
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
                for path in parts.names() if restart else ():
                    path.unlink()
                parts._refuse_another(request)
                yield parts
            finally:
                if not parts.names():
                    shutil.rmtree(folder, ignore_errors=True)

    def names(self) -> list[Path]:
        """Return the finished parts, in order."""
        return sorted(self.folder.glob("[0-9]*.parquet"))

    def add(self, number: int, table: pa.Table, tally: Mapping[str, int]) -> None:
        """Keep a part, and how its rows ended."""
        marked = table.replace_schema_metadata({_TALLY: json.dumps(dict(tally)).encode()})
        with placed(self.folder / f"{number:08d}.parquet") as draft:
            pq.write_table(marked, draft)

    def tally(self) -> Counter[str]:
        """Return how the rows of all finished parts ended."""
        total: Counter[str] = Counter()
        for path in self.names():
            total.update(json.loads(pq.read_schema(path).metadata[_TALLY]))
        return total

    def put_together(self) -> int:
        """Write the result and remove the parts; return its number of lines."""
        tables = (pq.read_table(path).replace_schema_metadata(None) for path in self.names())
        count = 0
        with placed(self.out) as draft, _writer(draft, self.out.suffix) as write:
            for table in tables:
                write(table)
                count += table.num_rows
        shutil.rmtree(self.folder)
        return count

    def _refuse_another(self, request: Mapping[str, Any]) -> None:
        kept = self.folder / "request.json"
        text = json.dumps(dict(request), sort_keys=True, default=str)
        if not self.names():
            write_text(kept, text)
            return
        numbers = [int(path.stem) for path in self.names()]
        whole = numbers == list(range(len(numbers)))
        if not whole or not kept.is_file() or kept.read_text("utf-8") != text:
            raise FileError(
                f"{str(self.folder)!r} holds {len(self.names())} parts of an unfinished run with"
                " other rows, options or another explainer. Finish that run by the same command"
                " as then, or discard it with --restart."
            )


def csv_text(table: pa.Table, *, header: bool) -> str:
    """Return a table as csv; what is missing is empty."""
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    text: str = frame.to_csv(index=False, header=header, lineterminator="\n")
    return text


@contextmanager
def _writer(path: Path, suffix: str) -> Iterator[Callable[[pa.Table], None]]:
    """Yield what appends a table to a csv or Parquet file."""
    with ExitStack() as stack:
        if suffix == ".csv":
            stream = stack.enter_context(path.open("w", encoding="utf-8", newline=""))
            yield lambda table: _append(stream, table)
            return
        writers: list[pq.ParquetWriter] = []

        def write(table: pa.Table) -> None:
            if not writers:
                writers.append(stack.enter_context(pq.ParquetWriter(path, table.schema)))
            writers[0].write_table(table)

        yield write


def _append(stream: TextIO, table: pa.Table) -> None:
    stream.write(csv_text(table, header=not stream.tell()))
