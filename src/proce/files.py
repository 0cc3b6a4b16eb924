"""Files that are whole or not there: written under another name, then moved into place."""

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proce.errors import FileError, PersistenceError

_BLOCK = 1 << 20


@contextmanager
def placed(path: Path) -> Iterator[Path]:
    """Yield a name beside ``path``; what is written there takes its place at the end.

    An error, Ctrl-C or a full disk leaves whatever ``path`` was before.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield draft
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with placed(path) as draft:
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


def read_bytes(path: Path, at_most: int) -> bytes:
    """Read a file that may come from anybody: no link is followed, no pipe waited for.

    Parameters
    ----------
    path
        Of a plain file.
    at_most
        Bytes; a longer file is refused before it is read.
    """
    flags = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
    try:
        if path.is_symlink():
            raise PersistenceError(f"{str(path)!r} is a link; expected the file itself.")
        with open(os.open(path, os.O_RDONLY | flags), "rb") as stream:
            about = os.fstat(stream.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise PersistenceError(f"{str(path)!r} is not a plain file.")
            if about.st_size > at_most:
                raise PersistenceError(
                    f"{str(path)!r} has {about.st_size:,} bytes; expected at most {at_most:,}."
                )
            return stream.read(at_most)
    except OSError as error:
        raise PersistenceError(f"{str(path)!r} cannot be read: {error.strerror}.") from error


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


def require_folder(path: Path, option: str) -> None:
    """Make a folder where there is none; refuse one that cannot be written into."""
    if not path.is_dir():
        require_place(path, option)
        path.mkdir()
    require_place(path / "file", option)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 sum of a file, or of all files in a folder and their names."""
    total = hashlib.sha256()
    if path.is_dir():
        for each in sorted(inner for inner in path.rglob("*") if inner.is_file()):
            total.update(f"{each.relative_to(path).as_posix()}\0{sha256_of(each)}\0".encode())
        return total.hexdigest()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            total.update(block)
    return total.hexdigest()
