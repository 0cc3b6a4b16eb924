"""The folder of a saved explainer: its files and its manifest, written so that it is always whole.

A file carries the checksum of its content in its name and never changes. The manifest names the
files that belong together, and is put in place last, by one move. A save that is cut short leaves
the manifest as it was, and with it the explainer that it describes. Every field of a manifest is
checked when it is read.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from proce.causal.models.saved import SavedMechanism, SavedModel
from proce.classifier.saved import SavedClassifier
from proce.errors import FileError, PersistenceError
from proce.files import read_bytes, sync_folder, write_bytes, writing
from proce.json_reading import check_format, parse_json
from proce.methods.fitting.settings import SearchSettings
from proce.objective import Mode

FORMAT = 1
MANIFEST_NAME = "manifest.json"
FILE_NAME = r"^(tensors|model)-[0-9a-f]{16}\.(safetensors|skops|onnx)$"
_MAX_BYTES = 64 * 2**20  # of a manifest
_CHECKSUM = r"^[0-9a-f]{64}$"
Count = Annotated[int, Field(ge=0, lt=2**53)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]
Threshold = Annotated[float, Field(gt=0, lt=1)]
_DRAFT = re.compile(r"^\..+\.(part|trial)$")
_OURS = re.compile(FILE_NAME)


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class SavedFile(_Strict):
    """A file beside the manifest: its name, its length in bytes and its SHA-256 sum."""

    name: Annotated[str, Field(pattern=FILE_NAME)]
    size: Count
    sha256: Annotated[str, Field(pattern=_CHECKSUM)]


class SavedOptions(_Strict):
    """The parameters of the explainer that have no field of their own in the manifest."""

    # ``class_labels`` has words for each class of the model, or null; it is there where any has.
    # ``models`` is how many refits of the model a call looks at; it is there where it was given.

    seed: Seed
    device: str
    causal: Literal["auto", "hard", "soft", "paper", "off"]
    threshold: Threshold | None
    class_labels: tuple[str | None, ...] | None = None
    models: Count | None = None


class SavedRule(_Strict):
    """A rule; for one with ``~>``, the number of the causal model that has its equation."""

    text: str
    model: Count | None


class SavedRows(_Strict):
    """The training rows: how many, their SHA-256 sum, and whether they are in the folder."""

    count: Count
    sha256: Annotated[str, Field(pattern=_CHECKSUM)]
    kept: bool


class Manifest(_Strict):
    """Everything about a saved explainer that is not an array or the model itself."""

    format: int  # the version of this form
    # proce, versions: the version of the package that wrote the manifest, and those of the packages
    # on which results depend
    proce: str
    versions: dict[str, str]
    # features, layout: the schema, and how the training frame looked
    features: dict[str, Any]
    layout: dict[str, Any]
    # options, settings, mode: the parameters of the explainer, the settings of its search, and the
    # causal mode in use
    options: SavedOptions
    settings: SearchSettings
    mode: Mode
    model: SavedClassifier  # what is known of the classifier
    rules: tuple[SavedRule, ...]  # the rules of the explainer
    # graphs, mechanisms, models: all causal models, taken apart
    graphs: tuple[dict[str, Any], ...]
    mechanisms: tuple[SavedMechanism, ...]
    models: tuple[SavedModel, ...]
    # scm, ensemble, refits: which of the causal models is the explainer's own, and which are those
    # of its bootstrap graphs and of its refits, as positions in models
    scm: Count | None
    ensemble: tuple[Count, ...] | None
    refits: tuple[Count, ...] | None
    training: SavedRows  # what is known of the training rows
    # tensors, model_file: the files beside the manifest
    tensors: SavedFile
    model_file: SavedFile | None

    @field_validator("settings", mode="before")
    @classmethod
    def _with_scale(cls, settings: Any) -> Any:
        """Return settings of before there was a choice of scales with the scale of then."""
        return {"scale": "range", **settings} if isinstance(settings, dict) else settings

    def text(self) -> str:
        """Return the content of the file: JSON whose last field is a checksum of all others."""
        record = self.model_dump(mode="json")
        for name in ("class_labels", "models"):
            if record["options"][name] is None:
                del record["options"][name]
        return (
            json.dumps({**record, "sha256": checksum(record)}, indent=1, ensure_ascii=False) + "\n"
        )


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of a folder."""
    path = folder / MANIFEST_NAME
    if not folder.is_dir():
        raise PersistenceError(
            f"there is no folder {str(folder)!r}; expected one that explainer.save(folder) wrote."
        )
    if not path.exists() and not path.is_symlink():
        raise PersistenceError(
            f"{str(folder)!r} holds no {MANIFEST_NAME}, so it is not a saved explainer, or its"
            " first save was cut short; save the explainer again."
        )
    record = _record(read_bytes(path, _MAX_BYTES), path)
    version, writer = record.get("format"), str(record.get("proce"))[:40]
    wrong = _damage(path, f"its format is {version!r}")
    newer = f"{str(path)!r} was written by proce {writer}, in format {version}"
    check_format(version, FORMAT, wrong, newer, "save again", PersistenceError)
    fields = {key: value for key, value in record.items() if key != "sha256"}
    if record.get("sha256") != checksum(fields):
        raise _damage(path, "its sum does not fit what it says")
    try:
        return Manifest.model_validate_json(json.dumps(fields), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise _damage(path, f"{field}: {first['msg']}") from error
    except (ValueError, RecursionError) as error:
        raise _damage(path, str(error)) from error


def _record(content: bytes, path: Path) -> dict[str, Any]:
    try:
        record = parse_json(content.decode("utf-8"))
    except ValueError as error:
        raise _damage(path, f"it is not JSON ({error})") from error
    if not isinstance(record, dict):
        raise _damage(path, "it is not an object")
    return record


def checksum(record: dict[str, Any]) -> str:
    """Return the SHA-256 sum of the fields of a manifest, in their order."""
    plain = json.dumps(record, separators=(",", ":"))
    return hashlib.sha256(plain.encode()).hexdigest()


def _damage(path: Path, why: str) -> PersistenceError:
    return PersistenceError(
        f"{str(path)!r} cannot be read: {why}. It was changed or is damaged; save the explainer"
        " again."
    )


@contextmanager
def saving_into(folder: Path) -> Iterator[None]:
    """Make a folder to save into, or refuse one that holds anything else."""
    # Where saving fails, what it has added to the folder is removed again.
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
