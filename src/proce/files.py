"""Reading and writing files.

A file is written under another name and then moved into place, so it is either whole or not there.
"""

import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from proce.errors import FileError, PersistenceError, ProceError

_BLOCK_SIZE = 1 << 20  # bytes read at a time
_MAX_TEXT_BYTES = 1 << 30
_MAX_STEM = 48  # characters of a file's name in that of its draft: systems take 255 bytes
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")
_NO_ENTRY = (errno.ENOENT, errno.ENOTDIR)
_ADVICE = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "Make room there, or write somewhere else."),
    **dict.fromkeys(_NO_ENTRY, "Make its folder first, or write somewhere else."),
    errno.ENAMETOOLONG: "Give it a shorter name.",
    errno.EISDIR: "It is a folder; give the name of a file.",
    errno.EIO: "Look after the disk, or write somewhere else.",
}
_OTHER_ADVICE = "Write somewhere else, or change the permissions or limits there."
_REQUEST_ERRORS = {  # errors of the system that another path would not have
    *_NO_ENTRY,
    *(errno.ENAMETOOLONG, errno.EISDIR, errno.EACCES, errno.EPERM, errno.EROFS),
    *(errno.EEXIST, errno.ENOTEMPTY, errno.EINVAL, errno.ELOOP),
}


def path_of(path: Any, what: str = "path") -> Path:
    """Return a path that a caller gives; refuse what can be the path of nothing.

    Parameters
    ----------
    path
        A text or a path; whether there is anything does not matter.
    what
        The name of the argument or the option, for the error.
    """
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise FileError(f"{what} is {path!r}; expected the path of a file or folder, as text.")
    try:
        os.lstat(path)
    except ValueError:  # a zero character, or half a character
        raise FileError(f"{what} {str(path)!r} has characters that no name may have.") from None
    except OSError as error:
        if error.errno not in _NO_ENTRY:
            raise _error_of(f"{what} {str(path)!r} cannot be used", error) from error
    return Path(path)


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


@contextmanager
def writing(path: Path, draft: Path | None = None) -> Iterator[None]:
    """Turn what the system cannot write into a ``FileError`` that names the file.

    Parameters
    ----------
    path
        The file or folder, as the person knows it.
    draft
        The file that is written in its stead, which is not named.
    """
    try:
        yield
    except OSError as error:
        if isinstance(error, ProceError):
            raise
        named = (None, str(draft), str(path))
        name = str(path) if error.filename in named else os.fsdecode(error.filename)
        raise _error_of(f"{name!r} cannot be written", error) from error


def _error_of(what: str, error: OSError) -> FileError:
    """Return our error for one of the system: why, and what to do."""
    reason = str(error).rstrip(".") if error.errno is None else os.strerror(error.errno)
    return _with_number(f"{what}: {reason}. {_ADVICE.get(error.errno or 0, _OTHER_ADVICE)}", error)


def _unreadable(what: str, error: OSError) -> FileError:
    return _with_number(f"{what} cannot be read: {error.strerror or error}.", error)


def _with_number(message: str, error: OSError) -> FileError:
    told = FileError(message)
    told.errno = error.errno
    return told


def is_fault(error: BaseException | None) -> bool:
    """Whether the system is to blame for an error, such as a full disk, and not the request."""
    while error is not None:
        if isinstance(error, OSError) and error.errno is not None:
            return error.errno not in _REQUEST_ERRORS
        error = error.__cause__
    return False


def path_error(error: OSError) -> FileError:
    """Return our error for one of the system about a path that it cannot use."""
    return _error_of(f"{error.filename!r} cannot be used", error)


def refuse_odd_characters(words: Iterable[str]) -> None:
    """Refuse words with a zero character or half a character: no path may have those."""
    for word in words:
        try:
            odd = b"\0" in os.fsencode(word)
        except UnicodeEncodeError:
            odd = True
        if odd:
            raise FileError(f"{word!r} has characters that no name may have.")


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
        raise _unreadable(f"{what} {str(path)!r}", error) from error
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
    folder = path_of(path, option).absolute().parent
    if path.is_dir():
        raise FileError(f"{option} {str(path)!r} is a folder; expected the name of a file.")
    if not folder.is_dir():
        raise FileError(
            f"{option} {str(path)!r}: the folder {str(folder)!r} does not exist; make it first, or"
            " write somewhere else."
        )
    trial = folder / f".{secrets.token_hex(4)}.trial"
    try:
        trial.touch(exist_ok=True)
        trial.unlink()
    except OSError as error:
        raise _error_of(f"{option} {str(path)!r} cannot be written", error) from error


def require_apart(path: Path, option: str, others: Mapping[str, Path | None]) -> None:
    """Refuse to write where the same command reads or writes something else.

    Parameters
    ----------
    path, option
        Where to write, and the name of the option that says so.
    others
        The other files and folders by the names of their options; ``None`` where one is not given.
    """
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
        raise _unreadable(repr(str(path)), error) from error
    return total.hexdigest()


def cache_folder() -> Path:
    """Return ``PROCE_CACHE``, or ``proce`` in the user's cache folder."""
    if folder := os.environ.get("PROCE_CACHE"):
        return Path(folder).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "proce"
