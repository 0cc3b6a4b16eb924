"""A folder that all machines of a cluster reach: on a shared disk, or in an object store."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import uuid4

from proce.errors import FileError, MissingExtraError

# Stores in which an object appears whole when it was sent, or not at all.
_WHOLE_OBJECTS = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "memory"})
DRAFT_SUFFIX = ".draft"


@dataclass(frozen=True)
class Store:
    """A folder by its URL; small enough to travel with every task."""

    url: str  # an absolute path, or a URL that fsspec knows, such as s3://bucket/folder

    @classmethod
    def at(cls, text: str) -> "Store":
        """Return the store of a path or a URL; a relative path is one of this machine."""
        url = text.rstrip("/") if "://" in text else str(Path(text).absolute())
        return cls(url)

    @property
    def parent(self) -> "Store":
        """The folder that holds this one."""
        return Store(self.url.rsplit("/", 1)[0])

    @property
    def name(self) -> str:
        """The last part of the URL."""
        return self.url.rsplit("/", 1)[-1]

    def holds(self, other: "Store") -> bool:
        """Return whether another store is this one or inside of it."""
        (files, path), (other_files, other_path) = self._opened(), other._opened()
        is_inside = f"{other_path.rstrip('/')}/".startswith(f"{path.rstrip('/')}/")
        return is_inside and _protocols(files) == _protocols(other_files)

    def kind(self) -> str:
        """Return ``file``, ``folder`` or ``nothing``."""
        with self._named():
            files, path = self._opened()
            files.invalidate_cache()
            if files.isfile(path):
                return "file"
            return "folder" if files.isdir(path) else "nothing"

    def entries(self) -> dict[str, str]:
        """Return what lies in the folder: ``file`` or ``directory`` by name, in order."""
        with self._named():
            files, path = self._opened()
            files.invalidate_cache()
            found = files.ls(path, detail=True) if files.isdir(path) else []
        kinds = {PurePosixPath(entry["name"].rstrip("/")).name: entry["type"] for entry in found}
        return dict(sorted(kinds.items()))

    @contextmanager
    def reading(self, name: str) -> Iterator[tuple[Any, int]]:
        """Open a file of the folder; yield its stream and its length in bytes."""
        with self._named(name):
            files, path = self._opened()
            with files.open(f"{path}/{name}", "rb") as stream:
                yield stream, int(files.size(f"{path}/{name}"))

    def read(self, name: str) -> bytes:
        """Return the content of a file as it is now."""
        self._opened()[0].invalidate_cache()
        with self.reading(name) as (stream, _):
            content: bytes = stream.read()
            return content

    def write(
        self, name: str, content: bytes, confirm: Callable[["Store"], None] | None = None
    ) -> None:
        """Write a file, whole or not at all; one of that name is replaced."""
        confirm = confirm or (lambda store: None)
        with self._named(name):
            files, path = self._opened()
            target = f"{path}/{name}"
            if not _WHOLE_OBJECTS.isdisjoint(_protocols(files)):
                confirm(self)
                files.pipe_file(target, content)
                return
            draft = f"{path}/.{name}.{uuid4().hex}{DRAFT_SUFFIX}"
            try:
                _write_draft(files, draft, content)
                confirm(self)
                _replace(files, draft, target)
            except BaseException:
                if files.exists(draft):
                    files.rm_file(draft)
                raise

    def make(self) -> None:
        """Make the folder, where there is none."""
        with self._named():
            files, path = self._opened()
            files.makedirs(path, exist_ok=True)

    def remove(self, name: str) -> None:
        """Remove a file of the folder; it may be gone already."""
        with self._named(name):
            files, path = self._opened()
            with suppress(FileNotFoundError):
                files.rm_file(f"{path}/{name}")

    def _opened(self) -> tuple[Any, str]:
        from fsspec.core import url_to_fs

        try:
            files, path = url_to_fs(self.url)
        except ImportError as error:
            raise MissingExtraError(f"{self.url!r} cannot be reached: {error}.") from error
        except ValueError as error:
            raise FileError(
                f"{self.url!r} is not a place that can be reached: {error}. Expected a path, or a"
                " URL such as s3://bucket/folder."
            ) from error
        return files, path

    @contextmanager
    def _named(self, name: str = "") -> Iterator[None]:
        """Let an error of a disk or a store say which file it was about."""
        try:
            yield
        except FileError:
            raise
        except OSError as error:
            reason = error.strerror or str(error) or type(error).__name__
            where = f"{self.url}/{name}" if name else self.url
            told = StoreError(f"{reason} ({where})")
            told.errno = error.errno
            raise told from error


class StoreError(FileError):
    """A disk or a store that does not do what it was asked."""


def _protocols(files: Any) -> tuple[str, ...]:
    return (files.protocol,) if isinstance(files.protocol, str) else tuple(files.protocol)


def _write_draft(files: Any, draft: str, content: bytes) -> None:
    with files.open(draft, "wb") as stream:
        stream.write(content)
        if "file" in _protocols(files):
            stream.flush()
            os.fsync(stream.fileno())


def _replace(files: Any, draft: str, target: str) -> None:
    if "file" in _protocols(files):
        os.replace(draft, target)
    else:
        files.mv(draft, target)
