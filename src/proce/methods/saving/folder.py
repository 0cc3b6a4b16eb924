"""The folder of a saved explainer: its files, written so that it is always whole.

A file carries the checksum of its content in its name and never changes. The manifest names the
files that belong together, and is put in place last, by one move. A save that is cut short leaves
the manifest as it was, and with it the explainer that it describes.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from proce.arrays import Array
from proce.causal.models.saved import SavedCauses
from proce.classifier.adapters.probe import probe_rows
from proce.classifier.skops_files import estimator_bytes
from proce.errors import FileError, PersistenceError
from proce.files import read_bytes, sync_folder, write_bytes, writing
from proce.methods.fitting.fitted import FittedParts
from proce.methods.saving.manifest import FILE_NAME, MANIFEST_NAME, Manifest, SavedFile
from proce.methods.saving.parts import looks_arrays

_DRAFT = re.compile(r"^\..+\.(part|trial)$")
_OURS = re.compile(FILE_NAME)


@contextmanager
def saving_into(folder: Path) -> Iterator[None]:
    """Make a folder to save into, or refuse one that holds anything else.

    Where saving fails, what it has added to the folder is removed again.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise PersistenceError(f"{str(folder)!r} is not a folder; save somewhere else.")
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        with _named(folder):
            folder.mkdir(parents=True, exist_ok=True)
            before = {path.name: path for path in folder.iterdir()}
        if strange := [name for name, path in before.items() if not _is_ours(path)]:
            raise PersistenceError(
                f"the folder {str(folder)!r} holds {strange[0]!r}, which no saved explainer has;"
                " save into a new folder, so that nothing of yours is overwritten."
            )
        manifest = _manifest_status(folder)
        try:
            yield
        except BaseException:
            if _manifest_status(folder) == manifest:  # it still describes what was there before
                _remove(path for path in folder.iterdir() if path.name not in before)
            raise
    except BaseException:
        with suppress(OSError):
            for path in new:
                path.rmdir()
        raise


def write_file(folder: Path, stem: str, suffix: str, content: bytes) -> SavedFile:
    """Write a file whose name holds the first digits of its checksum."""
    checksum = hashlib.sha256(content).hexdigest()
    name = f"{stem}-{checksum[:16]}.{suffix}"
    _write(folder / name, content)
    return SavedFile(name=name, size=len(content), sha256=checksum)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Put the manifest in place; then remove the files of the explainer that was there before."""
    _write(folder / MANIFEST_NAME, manifest.text().encode())
    files = (manifest.tensors, manifest.model_file)
    kept = {MANIFEST_NAME, *(file.name for file in files if file is not None)}
    _remove(path for path in folder.iterdir() if path.name not in kept and _is_ours(path))


def read_file(folder: Path, saved: SavedFile) -> bytes:
    """Read a file that the manifest names, and compare its length and its checksum."""
    content = read_bytes(folder / saved.name, saved.size)
    if len(content) != saved.size or hashlib.sha256(content).hexdigest() != saved.sha256:
        raise PersistenceError(
            f"{str(folder / saved.name)!r} is not the file that was saved: its length or its sum"
            " is another. Save the explainer again."
        )
    return content


def array_bytes(arrays: Mapping[str, Array]) -> bytes:
    """Return arrays as the content of a safetensors file."""
    from safetensors.numpy import save

    return save({name: np.asarray(part, order="C") for name, part in arrays.items()})


def arrays_of(content: bytes) -> dict[str, Array]:
    """Return the arrays of a safetensors file."""
    from safetensors.numpy import load

    try:
        return load(content)
    except Exception as error:  # of a damaged file; the library raises several
        line = (str(error).splitlines() or [type(error).__name__])[0]
        raise PersistenceError(f"the file of tensors is damaged: {line}.") from error


def _write(path: Path, content: bytes) -> None:
    with _named(path):
        write_bytes(path, content)
    with suppress(OSError):  # a power cut is all that could undo it
        sync_folder(path.parent)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name a file that cannot be written in an error of ours."""
    try:
        with writing(path):
            yield
    except FileError as error:
        raise PersistenceError(f"{error} What was saved there before is as it was.") from error


def _manifest_status(folder: Path) -> tuple[int, int] | None:
    """Return what tells a manifest from one that takes its place."""
    try:
        status = (folder / MANIFEST_NAME).stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _remove(paths: Iterable[Path]) -> None:
    """Remove files that nothing refers to; one that stays does no harm."""
    for path in paths:
        with suppress(OSError):
            path.unlink()


def _is_ours(path: Path) -> bool:
    named = path.name == MANIFEST_NAME or _OURS.match(path.name) or _DRAFT.match(path.name)
    return bool(named) and path.is_file() and not path.is_symlink()


def fitted_arrays(fitted: FittedParts, causes: SavedCauses, *, rows: bool) -> dict[str, Array]:
    """Return everything of fitted parts that is kept as an array, by name."""
    codec = fitted.codec
    latents, predicted = fitted.index.members
    arrays = {
        "codec.low": codec.low,
        "codec.span": codec.span,
        "codec.may_miss": codec.may_miss,
        "codec.seen_low": codec.seen_low,
        "codec.seen_high": codec.seen_high,
        "codec.resolution": codec.resolution,
        "latents": latents,
        "predicted": predicted,
        "answers": fitted.classifier.predict_proba(probe_rows(codec)),
        **{f"autoencoder.{name}": weight for name, weight in fitted.autoencoder.weights.items()},
        **looks_arrays(fitted.looks),
        **{f"equation.{number}": weights for number, weights in causes.weights.items()},
    }
    for number, model in causes.estimators.items():
        arrays[f"trees.{number}"] = np.frombuffer(estimator_bytes(model), dtype=np.uint8).copy()
    if rows and fitted.left_out is None:
        arrays["rows"] = fitted.rows
    return arrays
