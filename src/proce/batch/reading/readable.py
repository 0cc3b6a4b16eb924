"""Errors of files that name the file and the reason, whatever library found them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from proce.errors import FileError, ProceError


@contextmanager
def readable(path: Path, kind: str) -> Iterator[None]:
    """Turn what a library raises into an error that names the file and the reason."""
    try:
        yield
    except ProceError:
        raise
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0].rstrip(".")
        if isinstance(error, OSError) and error.errno is not None:  # of the system, not of Arrow
            raise FileError(f"{str(path)!r} cannot be read: {reason}.") from error
        raise FileError(
            f"{str(path)!r} cannot be read as {kind}: {reason}. Check that it is whole and of that"
            " format."
        ) from error
