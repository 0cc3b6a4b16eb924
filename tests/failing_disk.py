"""A disk on which one write fails: the nth opening, write, sync, move, making or removal.

The functions of Python through which this package, pandas, Arrow's streams and matplotlib write are
replaced while a disk is in use, and only under its folder. A write that fails has put half of its
bytes there before, as a full disk does.
"""

import builtins
import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FULL, BROKEN, READ_ONLY = errno.ENOSPC, errno.EIO, errno.EROFS
_WRITING = set("wax+")
_MOVES = ("replace", "rename")
_SINGLES = ("mkdir", "unlink", "rmdir", "remove")


@dataclass
class FailingDisk:
    """Counts what is done to a disk, and lets one of the doings fail.

    Attributes
    ----------
    folder
        What lies on the disk; other files are left alone.
    failing
        The number of the doing that fails, from 1 on; 0 for none.
    code
        The system's number for why it fails.
    lasting
        Whether all later ones fail too, but for removals.
    """

    folder: Path
    failing: int = 0
    code: int = FULL
    lasting: bool = False
    done: list[str] = field(default_factory=list)

    def holds(self, path: Any) -> bool:
        """Return whether a path lies on this disk."""
        if isinstance(path, int):
            path = os.readlink(f"/proc/self/fd/{path}")
        return Path(os.path.abspath(os.fspath(path))).is_relative_to(self.folder)

    def count(self, doing: str, path: Any, *, removes: bool = False) -> None:
        """Count one doing, or let it fail."""
        self.done.append(f"{doing} {os.path.basename(str(path))}")
        number = len(self.done)
        if number == self.failing or (self.lasting and 0 < self.failing < number and not removes):
            raise OSError(self.code, os.strerror(self.code), os.fspath(path))

    @property
    def failed(self) -> bool:
        """Whether the doing that was to fail has been reached."""
        return 0 < self.failing <= len(self.done)


class _FailingFile(io.FileIO):
    disk: FailingDisk

    def write(self, content: Any) -> int:
        try:
            self.disk.count("write", self.name)
        except OSError:
            super().write(memoryview(content).cast("B")[: len(memoryview(content)) // 2])
            raise
        return super().write(content)


@contextmanager
def use(disk: FailingDisk) -> Iterator[FailingDisk]:
    """Let everything that Python code writes go through a failing disk."""
    usual_open, usual = io.open, {name: getattr(os, name) for name in (*_MOVES, *_SINGLES)}
    usual_fsync, usual_os_open = os.fsync, os.open

    def opened(file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        writes = bool(_WRITING & set(mode)) and not isinstance(file, int)
        if not writes or not disk.holds(file):
            return usual_open(file, mode, *arguments, **options)
        disk.count("open", file)
        names = ("buffering", "encoding", "errors", "newline")
        given = {**dict(zip(names, arguments, strict=False)), **options}
        raw = _FailingFile(os.fspath(file), mode.replace("b", "").replace("t", ""))
        raw.disk = disk
        if given.pop("buffering", -1) == 0:
            return raw
        stream = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return stream if "b" in mode else io.TextIOWrapper(stream, **given)

    def moved(name: str) -> Any:
        def move(source: Any, target: Any, **options: Any) -> None:
            if disk.holds(target):
                disk.count(name, target)
            usual[name](source, target, **options)

        return move

    def single(name: str) -> Any:
        def do(path: Any, *arguments: Any, **options: Any) -> None:
            if options.get("dir_fd") is None and disk.holds(path):
                disk.count(name, path, removes=name != "mkdir")
            usual[name](path, *arguments, **options)

        return do

    def fsync(handle: Any) -> None:
        number = handle if isinstance(handle, int) else handle.fileno()
        if disk.holds(number):
            disk.count("fsync", os.readlink(f"/proc/self/fd/{number}"))
        usual_fsync(handle)

    def os_opened(path: Any, flags: int, *arguments: Any, **options: Any) -> int:
        if options.get("dir_fd") is None and flags & os.O_CREAT and disk.holds(path):
            disk.count("os.open", path)
        return usual_os_open(path, flags, *arguments, **options)

    replaced: list[tuple[Any, str, Any]] = [
        (io, "open", opened),
        (builtins, "open", opened),
        (os, "fsync", fsync),
        (os, "open", os_opened),
        *((os, name, moved(name)) for name in _MOVES),
        *((os, name, single(name)) for name in _SINGLES),
    ]
    before = [(module, name, getattr(module, name)) for module, name, _ in replaced]
    try:
        for module, name, function in replaced:
            setattr(module, name, function)
        yield disk
    finally:
        for module, name, function in before:
            setattr(module, name, function)
