"""Paths that people give, and what the system says of those that it cannot use."""

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from proce.errors import FileError

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
    """Return a path that a caller gives; refuse what can be the path of nothing."""
    is_path = isinstance(path, str | os.PathLike) and not isinstance(os.fspath(path), bytes)
    if not is_path or not os.fspath(path):
        raise FileError(f"{what} is {path!r}; expected the path of a file or folder, as text.")
    try:
        os.lstat(path)
    except ValueError:  # a zero character, or half a character
        raise FileError(f"{what} {str(path)!r} has characters that no name may have.") from None
    except OSError as error:
        if error.errno not in _NO_ENTRY:
            raise error_at(f"{what} {str(path)!r} cannot be used", error) from error
    return Path(path)


def error_at(what: str, error: OSError) -> FileError:
    """Return our error for one of the system: why, and what to do."""
    reason = str(error).rstrip(".") if error.errno is None else os.strerror(error.errno)
    return _with_number(f"{what}: {reason}. {_ADVICE.get(error.errno or 0, _OTHER_ADVICE)}", error)


def unreadable(what: str, error: OSError) -> FileError:
    """Return our error for a file that the system does not let be read."""
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
    return error_at(f"{error.filename!r} cannot be used", error)


def refuse_odd_characters(words: Iterable[str]) -> None:
    """Refuse words with a zero character or half a character: no path may have those."""
    for word in words:
        try:
            odd = b"\0" in os.fsencode(word)
        except UnicodeEncodeError:
            odd = True
        if odd:
            raise FileError(f"{word!r} has characters that no name may have.")
