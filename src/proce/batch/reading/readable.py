"""Errors of files that name the file and the reason, whatever library found them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from proce.errors import FileError


@contextmanager
def readable(path: Path, kind: str) -> Iterator[None]:
    """Turn what a library raises into an error that names the file and the reason.

    Parameters
    ----------
    path
        The file that is read.
    kind
        What it is read as, ``csv`` or ``Parquet``.
    """
    try:
        yield
    except FileError:
        raise
    except (OSError, UnicodeError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0].rstrip(".")
        if not isinstance(error, pa.ArrowException) and not _is_damage(error):
            raise FileError(f"{str(path)!r} cannot be read: {reason}.") from error
        raise FileError(
            f"{str(path)!r} cannot be read as {kind}: {reason}. Check that it is whole and of that"
            " format."
        ) from error


def _is_damage(error: Exception) -> bool:
    """Whether Arrow means the content of a file, and not the system: it has no error number."""
    return isinstance(error, OSError) and error.errno is None
