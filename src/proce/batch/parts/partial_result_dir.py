"""A folder for parts: marked as ours, locked while a run uses it, never rid of others' files.

The names of all files in it begin with the number of the run that wrote them. Only such files are
ever read, replaced or removed.
"""

import fcntl
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TextIO

from pydantic import StringConstraints

from proce.batch.parts.spans import Span
from proce.errors import FileError
from proce.files import DRAFT_END, read_text, write_text, writing
from proce.schema.records import StrictRecord

OUTCOMES_KIND = "outcomes.parquet"  # written last: a part is finished once it is there
_MARKER_NAME = "proce-parts.json"
_LOCK_NAME = "proce-parts.lock"
_WORDS = "Unfinished results of ProCE. Run the same command again to go on."
_MAX_TRIES = 3  # to lock a folder that another run removes at the same moment
_MAX_NAMED = 3  # files of others that a message names


class _Marker(StrictRecord):
    """What the marker file holds: which run wrote the parts, and what it was asked for."""

    about: str
    run: Annotated[str, StringConstraints(pattern="^[0-9a-f]{16}$")]
    request: str


@dataclass(frozen=True)
class PartialResultDir:
    """A folder that holds the parts of one run."""

    folder: Path  # the folder
    run: str  # what the names of the run's files begin with

    @classmethod
    @contextmanager
    def open(cls, folder: Path, request: str, restart: bool) -> "Iterator[PartialResultDir]":
        """Take up the run of the same request, or begin one; hold a lock while it is open.

        One without parts is removed in the end, and so is its folder, if nobody else has put
        anything there.
        """
        with _locked(folder):
            directory = cls._begin(folder, request, restart)
            try:
                yield directory
            finally:
                directory.sweep()

    @classmethod
    def _begin(cls, folder: Path, request: str, restart: bool) -> "PartialResultDir":
        marker = _read_marker(folder)
        if marker is not None:
            earlier = cls(folder, marker.run)
            if restart:
                with writing(folder):
                    for path in earlier.files():
                        path.unlink(missing_ok=True)
            n_parts = len(earlier.spans())
            if n_parts and marker.request != request:
                raise FileError(
                    f"{str(folder)!r} holds {n_parts} part{'s' * (n_parts != 1)} of an unfinished"
                    " run with other rows, options or another explainer. Ask for the same as then"
                    " to finish it, or discard it: --restart, or resume=False in Python."
                )
            if n_parts:
                earlier._remove_remains()
                return earlier
        run = secrets.token_hex(8)
        record = _Marker(about=_WORDS, run=run, request=request)
        write_text(folder / _MARKER_NAME, record.model_dump_json(indent=1))
        return cls(folder, run)

    def path(self, span: Span, kind: str) -> Path:
        """Return the file of a part; ``kind`` is the end of its name."""
        return self.folder / f"{self.run}-{span.first_row:012d}-{span.n_rows:012d}.{kind}"

    def files(self) -> list[Path]:
        """Return all files of the run, also those that were not finished."""
        named = re.compile(rf"\.?{self.run}-\d{{12}}-\d{{12}}\.[a-z.]+({DRAFT_END})?")
        return sorted(path for path in self._entries() if named.fullmatch(path.name))

    def spans(self) -> list[Span]:
        """Return the rows of each part of which both files are there, in any order."""
        named = re.compile(rf"({self.run}-(\d{{12}})-(\d{{12}}))\.([a-z.]+)")
        found = [match for path in self._entries() if (match := named.fullmatch(path.name))]
        have_results = {match[1] for match in found if match[4] != OUTCOMES_KIND}
        return [
            Span(int(match[2]), int(match[3]))
            for match in found
            if match[4] == OUTCOMES_KIND and match[1] in have_results
        ]

    def sweep(self) -> None:
        """Remove the run's own files where no part is finished."""
        if self.spans():
            return
        self._remove_remains()
        _remove(self.folder / _MARKER_NAME)

    def clear(self) -> None:
        """Remove the parts."""
        for path in self.files():
            _remove(path)

    def _entries(self) -> list[Path]:
        """Return all that is in the folder; nothing where somebody has removed it."""
        try:
            return list(self.folder.iterdir())
        except FileNotFoundError:
            return []

    def _remove_remains(self) -> None:
        """Remove what belongs to no finished part."""
        finished = tuple(self.path(span, "").name for span in self.spans())
        for path in self.files():
            if not path.name.startswith(finished):
                _remove(path)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Make a folder, or take one that is ours, and hold its lock."""
    for _ in range(_MAX_TRIES):
        with _open_lock(folder) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                break
            if _is_still_there(lock, folder / _LOCK_NAME):
                try:
                    yield
                finally:
                    _leave(folder)
                return
    raise FileError(
        f"another run is using {str(folder)!r}; wait for it, or write somewhere else."
    ) from None


def _leave(folder: Path) -> None:
    """Remove the lock of a folder that holds no run, and the folder where nothing else is in it."""
    if not (folder / _MARKER_NAME).exists():
        _remove(folder / _LOCK_NAME)
        with suppress(OSError):  # somebody keeps something there
            folder.rmdir()


def _open_lock(folder: Path) -> TextIO:
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise FileError(
            f"{str(folder)!r} is no folder, and unfinished results have to go there. Rename it, or"
            " write the result somewhere else."
        )
    with writing(folder):
        folder.mkdir(exist_ok=True)
        _refuse_others_folder(folder)
        return (folder / _LOCK_NAME).open("a", encoding="utf-8")


def _is_still_there(lock: TextIO, path: Path) -> bool:
    """Whether a lock is that of a file which its holder before has not removed."""
    try:
        return os.path.samestat(os.fstat(lock.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _refuse_others_folder(folder: Path) -> None:
    """Refuse a folder without our marker in which somebody keeps something."""
    names = sorted(path.name for path in folder.iterdir())
    draft = re.compile(rf"\.{re.escape(_MARKER_NAME)}{DRAFT_END}")
    others = [name for name in names if name != _LOCK_NAME and not draft.fullmatch(name)]
    if _MARKER_NAME in names or not others:
        return
    shown = ", ".join(others[:_MAX_NAMED]) + (", …" * (len(others) > _MAX_NAMED))
    raise FileError(
        f"{str(folder)!r} is a folder that ProCE did not make (it holds {shown}), and unfinished"
        " results have to go there. Rename it, or write the result somewhere else."
    )


def _read_marker(folder: Path) -> _Marker | None:
    path = folder / _MARKER_NAME
    if not path.exists():
        return None
    try:
        return _Marker.model_validate_json(read_text(path, "the marker"))
    except ValueError:
        raise FileError(
            f"{str(path)!r} was changed or is damaged, so it cannot be said which files beside it"
            " are ours. Rename the folder, or write the result somewhere else."
        ) from None


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
