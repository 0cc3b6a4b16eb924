"""The ``manifest.json`` of a saved explainer: every field, its type, and how it is read."""

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from proce.causal.models.saved import SavedMechanism, SavedModel
from proce.classifier.saved import SavedClassifier
from proce.errors import PersistenceError
from proce.files import read_bytes
from proce.json_reading import parse_json
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


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class SavedFile(_Strict):
    """A file beside the manifest: its name, its length in bytes and its SHA-256 sum."""

    name: Annotated[str, Field(pattern=FILE_NAME)]
    size: Count
    sha256: Annotated[str, Field(pattern=_CHECKSUM)]


class SavedOptions(_Strict):
    """The parameters of the explainer that have no field of their own in the manifest.

    ``class_labels`` has words for each class of the model, or null; it is there where any has.
    ``models`` is how many refits of the model a call looks at; it is there where it was given.
    """

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
    _refuse_other_formats(record, path)
    fields = {key: value for key, value in record.items() if key != "sha256"}
    if record.get("sha256") != checksum(fields):
        _refuse(path, "its sum does not fit what it says")
    try:
        return Manifest.model_validate_json(json.dumps(fields), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        _refuse(path, f"{field}: {first['msg']}")
    except (ValueError, RecursionError) as error:
        _refuse(path, str(error))


def _record(content: bytes, path: Path) -> dict[str, Any]:
    try:
        record = parse_json(content.decode("utf-8"))
    except ValueError as error:
        _refuse(path, f"it is not JSON ({error})")
    if not isinstance(record, dict):
        _refuse(path, "it is not an object")
    return record


def _refuse_other_formats(record: dict[str, Any], path: Path) -> None:
    version = record.get("format")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        _refuse(path, f"its format is {version!r}")
    if version > FORMAT:
        writer = str(record.get("proce"))[:40]
        raise PersistenceError(
            f"{str(path)!r} was written by proce {writer}, in format {version}; this version of"
            f" proce reads up to {FORMAT}. Update proce, or save again with this version."
        )


def checksum(record: dict[str, Any]) -> str:
    """Return the SHA-256 sum of the fields of a manifest, in their order."""
    plain = json.dumps(record, separators=(",", ":"))
    return hashlib.sha256(plain.encode()).hexdigest()


def _refuse(path: Path, why: str) -> NoReturn:
    raise PersistenceError(
        f"{str(path)!r} cannot be read: {why}. It was changed or is damaged; save the explainer"
        " again."
    )
