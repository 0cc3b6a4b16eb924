"""Get a data file that does not come with the package, and prove that it is the right one.

The file is looked for in the folder ``PROCE_DATA``, then in the cache, and then downloaded.
Wherever it comes from, its uncompressed bytes must have the published SHA-256 sum.
"""

import gzip
import http.client
import logging
import os
import time
import urllib.error
import urllib.request
import zlib
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from proce.errors import DownloadError
from proce.files import cache_folder, write_bytes

_log = logging.getLogger(__name__)
_CHUNK_BYTES = 1 << 16


@dataclass(frozen=True)
class DataFile:
    """A published file."""

    path: str  # where the file lies under ``PROCE_DATA`` and in the cache
    url: str  # where the file is published, uncompressed
    sha256: str  # the SHA-256 sum and the number of the uncompressed bytes
    size: int


class _DamagedError(Exception):
    """The bytes are not those that were published; the text says why."""


def fetch(file: DataFile, *, timeout_seconds: float = 30, max_seconds: float = 600) -> bytes:
    """Return the uncompressed bytes of a file, from the nearest place that has it."""
    data, cache = data_folder(), cache_folder()
    if data is not None and (given := _existing_copy(data, file)):
        try:
            return _read_copy(given, file)
        except (_DamagedError, OSError) as error:
            raise DownloadError(
                f"{given} cannot be used: {error}. Replace it by {file.url}, or unset PROCE_DATA"
                " to let it be downloaded."
            ) from error
    if cached := _existing_copy(cache, file):
        try:
            return _read_copy(cached, file)
        except (_DamagedError, OSError) as error:
            _log.warning("%s cannot be used (%s); downloading it again", cached, error)
    content = _download(file, timeout_seconds, max_seconds, _advice(file, data, cache))
    _write_to_cache(content, cache / file.path)
    return content


def data_folder() -> Path | None:
    """Return the folder that holds copies of the data files, if ``PROCE_DATA`` names one."""
    folder = os.environ.get("PROCE_DATA")
    return Path(folder).expanduser() if folder else None


def _existing_copy(folder: Path, file: DataFile) -> Path | None:
    candidates = [folder / file.path, folder / f"{file.path}.gz"]
    return next((path for path in candidates if path.is_file()), None)


def _read_copy(path: Path, file: DataFile) -> bytes:
    """Read a copy, at most one byte more than it should have, so that no gzip bomb is unpacked."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            content = stream.read(file.size + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _DamagedError(f"it is not a whole gzip file ({error})") from None
    return _verify(content, file)


def _verify(content: bytes, file: DataFile) -> bytes:
    """Return the content if it is that of the published file."""
    if len(content) > file.size:
        raise _DamagedError(f"it is longer than the expected {file.size:,} bytes")
    if len(content) < file.size:
        raise _DamagedError(f"it ends after {len(content):,} of {file.size:,} bytes")
    if (digest := sha256(content).hexdigest()) != file.sha256:
        raise _DamagedError(f"its SHA-256 sum is {digest}; expected {file.sha256}")
    return content


def _download(file: DataFile, timeout: float, max_seconds: float, advice: str) -> bytes:
    _log.info("downloading %s", file.url)
    try:
        return _verify(_receive(file, timeout, max_seconds), file)
    except _DamagedError as error:
        reason = f"what came is not the published file: {error}"
    except urllib.error.HTTPError as error:
        with error:
            reason = f"the server answered {error.code} {error.reason}"
    except urllib.error.URLError as error:
        reason = f"the server cannot be reached ({error.reason})"
    except (OSError, http.client.HTTPException) as error:
        reason = f"the connection broke ({str(error) or type(error).__name__})"
    raise DownloadError(f"{file.path} could not be downloaded: {reason}. {advice}")


def _receive(file: DataFile, timeout: float, max_seconds: float) -> bytes:
    deadline = time.monotonic() + max_seconds
    content = bytearray()
    with urllib.request.urlopen(file.url, timeout=timeout) as response:
        while len(content) <= file.size and (chunk := response.read1(_CHUNK_BYTES)):
            content += chunk
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"only {len(content):,} of {file.size:,} bytes in {max_seconds:g} seconds"
                )
    return bytes(content)


def _advice(file: DataFile, data: Path | None, cache: Path) -> str:
    """Return where the file was looked for, and how to put it there by hand."""
    given = "PROCE_DATA, which is not set" if data is None else f"PROCE_DATA ({data})"
    return (
        f"It was looked for in {given}, in the cache ({cache}) and at {file.url}. Download it by"
        f" hand and put it at {cache / file.path}, or set PROCE_DATA to a folder that holds"
        f" {file.path} or {file.path}.gz."
    )


def _write_to_cache(content: bytes, path: Path) -> None:
    """Write a file to the cache, whole or not at all; a failure costs a warning in the log."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, content)
    except OSError as error:
        _log.warning("%s cannot be kept (%s); it will be downloaded again next time", path, error)
