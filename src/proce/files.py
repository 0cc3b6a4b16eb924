"""Reading and writing files.

A file is written under another name and then moved into place, so it is either whole or not there.
"""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from proce.errors import FileError, PersistenceError, ProceError

_BLOCK_SIZE = 1 << 20  # bytes read at a time
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield the path of a draft beside ``path``; the draft replaces ``path`` at the end.

    An error, Ctrl-C or a full disk leaves ``path`` as it was before. What the system could not
    write is an ``OSError`` that names ``path``, whichever library wrote the draft.
    """
    with named_errors(path), draft_of(path) as draft:
        yield draft


@contextmanager
def draft_of(path: Path) -> Iterator[Path]:
    """Yield what :func:`atomic_write` does, where more is done meanwhile than to write it."""
    draft = _draft_path(path)
    try:
        yield draft
        with named_errors(path):
            with draft.open("rb") as written:
                os.fsync(written.fileno())
            os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


@contextmanager
def named_errors(path: Path) -> Iterator[None]:
    """Name a file, rather than its draft or nothing, in the error of a system that cannot write."""
    try:
        yield
    except OSError as error:
        if isinstance(error, ProceError) or error.filename not in (None, str(_draft_path(path))):
            raise
        reason = str(error) if error.errno is None else os.strerror(error.errno)
        raise OSError(error.errno, reason, str(path)) from error


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with atomic_write(path) as draft:
        draft.write_text(text, encoding="utf-8")


def read_text(path: Path, what: str) -> str:
    """Read a text file, or say why it cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise FileError(f"{what} {str(path)!r} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError:
        raise FileError(
            f"{what} {str(path)!r} is not UTF-8 text; save it as UTF-8, or check that it is the"
            " right file."
        ) from None


def read_bytes(path: Path, max_bytes: int) -> bytes:
    """Read a file that may come from anybody: no link is followed, no pipe waited for.

    Parameters
    ----------
    path
        The path of a plain file.
    max_bytes
        A longer file is refused before it is read.
    """
    flags = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
    try:
        if path.is_symlink():
            raise PersistenceError(f"{str(path)!r} is a link; expected the file itself.")
        with open(os.open(path, os.O_RDONLY | flags), "rb") as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise PersistenceError(f"{str(path)!r} is not a plain file.")
            if status.st_size > max_bytes:
                raise PersistenceError(
                    f"{str(path)!r} has {status.st_size:,} bytes; expected at most {max_bytes:,}."
                )
            return stream.read(max_bytes)
    except OSError as error:
        raise PersistenceError(f"{str(path)!r} cannot be read: {error.strerror}.") from error


def plain_cell(text: str) -> str:
    """Return a text for a cell of csv; what a spreadsheet would take for a formula gets a quote."""
    return f"'{text}" if text.startswith(_FORMULA_SIGNS) else text


def require_place(path: Path, option: str = "--out") -> None:
    """Refuse a path that cannot be written, before any work is done for it."""
    folder = path.absolute().parent
    if path.is_dir():
        raise FileError(f"{option} {str(path)!r} is a folder; expected the name of a file.")
    if not folder.is_dir():
        raise FileError(
            f"{option} {str(path)!r}: the folder {str(folder)!r} does not exist; make it first, or"
            " write somewhere else."
        )
    trial = folder / f".{path.name}.{os.getpid()}.trial"
    try:
        trial.touch(exist_ok=True)
        trial.unlink()
    except OSError as error:
        raise FileError(
            f"{option} {str(path)!r} cannot be written: {error.strerror}. Write somewhere else, or"
            " change the folder's permissions."
        ) from error


def require_apart(path: Path, option: str, others: Mapping[str, Path | None]) -> None:
    """Refuse to write where the same command reads or writes something else.

    Parameters
    ----------
    path, option
        Where to write, and the name of the option that says so.
    others
        The other files and folders by the names of their options; ``None`` where one is not given.
    """
    own = path.resolve()
    for name, other in others.items():
        if other is None or not own.is_relative_to(other.resolve()):
            continue
        if own == other.resolve():
            raise FileError(f"{option} and {name} are both {str(path)!r}; write somewhere else.")
        raise FileError(
            f"{option} {str(path)!r} lies in the folder {str(other)!r}, which is {name}; write"
            " somewhere else."
        )


def require_folder(path: Path, option: str) -> None:
    """Make a folder if it does not exist; refuse one that cannot be written into."""
    if not path.is_dir():
        require_place(path, option)
        path.mkdir()
    require_place(path / "file", option)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 sum of a file, or of all files in a folder and their names."""
    total = hashlib.sha256()
    if path.is_dir():
        for file in sorted(inner for inner in path.rglob("*") if inner.is_file()):
            total.update(f"{file.relative_to(path).as_posix()}\0{sha256_of(file)}\0".encode())
        return total.hexdigest()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK_SIZE):
            total.update(block)
    return total.hexdigest()


def _draft_path(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def cache_folder() -> Path:
    """Return ``PROCE_CACHE``, or ``proce`` in the user's cache folder."""
    if folder := os.environ.get("PROCE_CACHE"):
        return Path(folder).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "proce"
