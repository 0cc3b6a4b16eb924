"""Reading and writing files.

A file is written under another name and then moved into place, so it is either whole or not there.
"""

import hashlib
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from proce.errors import FileError, PersistenceError, ProceError
from proce.paths import error_at, path_of, unreadable

_BLOCK_SIZE = 1 << 20  # bytes read at a time
_MAX_TEXT_BYTES = 1 << 30
_MAX_STEM = 48  # characters of a file's name in that of its draft: systems take 255 bytes
DRAFT_END = r"\.[0-9a-f]{8}\.part"  # a pattern: how the names of drafts end
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield the path of a draft beside ``path``; the draft replaces ``path`` at the end.

    An error, Ctrl-C or a full disk leaves ``path`` as it was before. What the system could not
    write is a ``FileError`` that names ``path``, whichever library wrote the draft.
    """
    with draft_of(path) as draft, writing(path, draft):
        yield draft


@contextmanager
def draft_of(path: Path) -> Iterator[Path]:
    """Yield what :func:`atomic_write` does, where more is done meanwhile than to write it."""
    if not path.name:
        raise FileError(f"{str(path)!r} is a folder; expected the name of a file.")
    _require_plain(path, f"{str(path)!r}")
    draft = path.with_name(f".{path.name[:_MAX_STEM]}.{secrets.token_hex(4)}.part")
    try:
        yield draft
        with writing(path, draft):
            with draft.open("rb") as written:
                os.fsync(written.fileno())
            os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def _require_plain(path: Path, name: str) -> None:
    """Refuse a device, a pipe or a socket, which a file moved into place would take away."""
    try:
        mode = path.stat().st_mode
    except OSError:  # nothing is there, or what is wrong with it is told on writing
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise FileError(
            f"{name} is a device, a pipe or a socket, which a file would replace; expected the name"
            " of a file."
        )


@contextmanager
def writing(path: Path, draft: Path | None = None) -> Iterator[None]:
    """Turn what the system cannot write into a ``FileError`` that names the file."""
    try:
        yield
    except OSError as error:
        if isinstance(error, ProceError):
            raise
        named = (None, str(draft), str(path))
        name = str(path) if error.filename in named else os.fsdecode(error.filename)
        raise error_at(f"{name!r} cannot be written", error) from error


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, where there is none."""
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise FileError(
            f"{str(path)!r} cannot be written: the text has half a character,"
            f" {text[error.start]!r}, which no file holds. Look for it among the names and levels."
        ) from None
    write_bytes(path, content)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all."""
    with atomic_write(path) as draft:
        draft.write_bytes(content)


def sync_folder(path: Path) -> None:
    """Let the system put the names of new files in a folder onto the disk."""
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def read_text(path: Path, what: str) -> str:
    """Read a text file, or say why it cannot be read."""
    try:
        with path.open("rb") as stream:
            content = stream.read(_MAX_TEXT_BYTES + 1)
        if len(content) <= _MAX_TEXT_BYTES:
            return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except OSError as error:
        raise unreadable(f"{what} {str(path)!r}", error) from error
    except UnicodeDecodeError:
        raise FileError(
            f"{what} {str(path)!r} is not UTF-8 text; save it as UTF-8, or check that it is the"
            " right file."
        ) from None
    raise FileError(
        f"{what} {str(path)!r} has more than {_MAX_TEXT_BYTES:,} bytes; check that it is the right"
        " file."
    )


def read_bytes(path: Path, max_bytes: int) -> bytes:
    """Read a file that may come from anybody: no link is followed, no pipe waited for."""
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
            return stream.read(min(max_bytes, status.st_size))
    except OSError as error:
        raise PersistenceError(f"{str(path)!r} cannot be read: {error.strerror}.") from error


def plain_cell(text: str) -> str:
    """Return a text for a cell of csv; what a spreadsheet would take for a formula gets a quote."""
    return f"'{text}" if text.startswith(_FORMULA_SIGNS) else text


def require_place(path: Path, option: str = "--out") -> None:
    """Refuse a path that cannot be written, before any work is done for it."""
    folder = path_of(path, option).absolute().parent
    if path.is_dir():
        raise FileError(f"{option} {str(path)!r} is a folder; expected the name of a file.")
    if folder.exists() and not folder.is_dir():
        raise FileError(
            f"{option} {str(path)!r}: {str(folder)!r} is no folder; write somewhere else."
        )
    if not folder.is_dir():
        raise FileError(
            f"{option} {str(path)!r}: the folder {str(folder)!r} does not exist; make it first, or"
            " write somewhere else."
        )
    _require_plain(path, f"{option} {str(path)!r}")
    trial = folder / f".{secrets.token_hex(4)}.trial"
    try:
        trial.touch(exist_ok=True)
        trial.unlink()
    except OSError as error:
        raise error_at(f"{option} {str(path)!r} cannot be written", error) from error


def require_apart(path: Path, option: str, others: Mapping[str, Path | None]) -> None:
    """Refuse to write where the same command reads or writes something else."""
    own = path_of(path, option).resolve()
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
        make_folder(path)
    require_place(path / "file", option)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 sum of a file, or of all files in a folder and their names."""
    total = hashlib.sha256()
    if path.is_dir():
        for file in sorted(inner for inner in path.rglob("*") if inner.is_file()):
            total.update(f"{file.relative_to(path).as_posix()}\0{sha256_of(file)}\0".encode())
        return total.hexdigest()
    try:
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK_SIZE):
                total.update(block)
    except OSError as error:
        raise unreadable(repr(str(path)), error) from error
    return total.hexdigest()


def cache_folder() -> Path:
    """Return ``PROCE_CACHE``, or ``proce`` in the user's cache folder."""
    if folder := os.environ.get("PROCE_CACHE"):
        return Path(folder).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "proce"
