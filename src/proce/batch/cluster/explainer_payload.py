"""An explainer on its way to the workers of a cluster.

It travels to a worker process once, whatever the number of rows that the process explains.
"""

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from proce.errors import ModelError, PersistenceError
from proce.explanation import Explanations
from proce.files import sha256_of
from proce.methods import Method, ProCE
from proce.methods.calls.method import check_method
from proce.paths import path_of

_MAX_OPENED = 2  # explainers that a worker process keeps
_opened: dict[str, Any] = {}  # those of this process, by their checksum
_lock = threading.RLock()  # an explainer answers one call at a time


@dataclass(frozen=True, eq=False)
class ExplainerPayload:
    """An explainer that can be sent to another process."""

    sha256: str  # the checksum by which a process knows that it has the explainer already
    # the files of a saved explainer by name; None where it travels as an object
    files: Mapping[str, bytes] | None
    explainer: Any = None  # the explainer itself, where it cannot be saved; Dask serialises it

    def open(self) -> Any:
        """Return the explainer, loaded at the first call in this process."""
        if self.files is None:
            return self.explainer
        with _lock:
            if self.sha256 not in _opened:
                while len(_opened) >= _MAX_OPENED:
                    del _opened[next(iter(_opened))]
                _opened[self.sha256] = _load(self.files)
            return _opened[self.sha256]

    def explain(self, frame: Any, options: Mapping[str, Any]) -> Explanations:
        """Explain some rows; the threads of a process take turns."""
        with _lock:
            result: Explanations = self.open().explain(frame, **options)
            return result

    def with_looks(self) -> "ExplainerPayload":
        """Return the explainer with what the pick ``typical`` needs, learned here and not there.

        Workers would learn the same, each for itself.
        """
        explainer = self.open()
        if not isinstance(explainer, ProCE):
            return self
        explainer.fitted_.learn_looks()
        taught = None if self.files is None else _saved(explainer)
        return self if taught is None else replace(self, files=taught.files)

    def __dask_tokenize__(self) -> tuple[str, str]:
        return "proce.ExplainerPayload", self.sha256


def pack(explainer: "Method | str | PathLike[str]") -> ExplainerPayload:
    """Make the payload of a fitted explainer, or of the folder that one was saved to.

    A saved explainer travels as the bytes of its files. One that cannot be saved whole, such as
    that of a function, travels as an object.
    """
    if isinstance(explainer, str | PathLike):
        folder = path_of(explainer, "explainer")
        files = _files(folder)
        payload = ExplainerPayload(sha256_of(folder), files)
        payload.open()
        return payload
    check_method(explainer, ", or the folder that one was saved to")
    return _saved(explainer) or _pickled(explainer)


def _saved(explainer: Any) -> ExplainerPayload | None:
    """Return an explainer as files, or ``None`` where they would not hold all of it."""
    models = getattr(explainer, "models", None)
    if not isinstance(explainer, ProCE) or not (models is None or isinstance(models, int)):
        return None
    with TemporaryDirectory(prefix="proce-") as name:
        folder = Path(name) / "explainer"
        try:
            explainer.save(folder)
            payload = ExplainerPayload(sha256_of(folder), _files(folder))
            payload.open()
        except PersistenceError:
            return None
    return payload


def _pickled(explainer: Any) -> ExplainerPayload:
    import cloudpickle

    try:
        content = cloudpickle.dumps(explainer)
    except Exception as error:  # of any object inside a model
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise ModelError(
            f"the explainer cannot be sent to other processes: {reason}. Save it to a folder, or"
            " explain with a model that can be pickled."
        ) from error
    return ExplainerPayload(hashlib.sha256(content).hexdigest(), None, explainer)


def _files(folder: Path) -> dict[str, bytes]:
    if not folder.is_dir():
        raise PersistenceError(
            f"{str(folder)!r} is not a folder; expected the one that an explainer was saved to."
        )
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def _load(files: Mapping[str, bytes]) -> ProCE:
    with TemporaryDirectory(prefix="proce-") as name:
        for file, content in files.items():
            (Path(name) / file).write_bytes(content)
        return ProCE.load(name)
