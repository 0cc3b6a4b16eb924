"""scikit-learn estimators as bytes: skops, with a fixed list of what may be inside."""

import json
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from typing import Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from proce.classifier.sklearn_trees import check_trees
from proce.classifier.sklearn_types import PERMITTED, TRUSTED
from proce.classifier.skops_import import import_skops
from proce.errors import PersistenceError
from proce.schema.features.levels import shown

_REFERENCE = "CachedNode"  # a node that refers to an object built before
_DESCRIPTION = "schema.json"


def estimator_bytes(model: Any) -> bytes:
    """Return a fitted estimator as the content of a skops file that can be read again.

    Raises
    ------
    PersistenceError
        The estimator holds something that :func:`estimator_of` would refuse.
    """
    skops = import_skops()

    try:
        content: bytes = skops.dumps(model)
    except Exception as error:
        raise PersistenceError(f"skops cannot write it: {_first_line(error)}.") from error
    estimator_of(content)
    return content


def estimator_of(content: bytes) -> Any:
    """Return the estimator in a skops file; nothing else is built or run.

    Raises
    ------
    PersistenceError
        The file is damaged, or holds a type that is not on the list.
    """
    skops = import_skops()

    _check_types(_description(content))
    try:
        _check_arrays(content)
        model = skops.loads(content, trusted=TRUSTED)
        check_trees(model)
    except Exception as error:  # of a file that somebody changed; skops and numpy raise any
        raise PersistenceError(f"the skops file is damaged: {_first_line(error)}.") from error
    return model


def _description(content: bytes) -> Any:
    """Return the file's description of its content; all parts of the file must be uncompressed."""
    try:
        with ZipFile(BytesIO(content)) as archive:
            if any(not _is_plain(part, len(content)) for part in archive.infolist()):
                raise ValueError("its parts are compressed")
            return json.loads(archive.read(_DESCRIPTION))
    except Exception as error:  # zipfile and json raise many
        raise PersistenceError(f"this is not a skops file: {_first_line(error)}.") from error


def _is_plain(part: ZipInfo, size: int) -> bool:
    stored = part.compress_type == ZIP_STORED and part.compress_size == part.file_size
    return stored and part.file_size <= size


def _check_types(description: Any) -> None:
    refused = set()
    for node in _nodes(description):
        loader, module, name = (node.get(f"__{key}__") for key in ("loader", "module", "class"))
        if loader != _REFERENCE and f"{module}.{name}" not in PERMITTED.get(str(loader), ()):
            refused.add(f"{module}.{name}")
    if refused:
        raise PersistenceError(
            f"it holds {shown(sorted(refused))}, which is not on the list of types that are"
            " saved and loaded."
        )


def _nodes(description: Any) -> Iterator[dict[str, Any]]:
    """Yield every object of the description, of whatever type."""
    waiting = [description]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if any(key in value for key in ("__loader__", "__class__", "__module__")):
                yield value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _check_arrays(content: bytes) -> None:
    """Refuse arrays that claim another length than they have, and trees of several outputs.

    Of nodes with the same id skops builds the first, so all of them must say the same.
    """
    with ZipFile(BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if name != _DESCRIPTION]
        shapes = {name: _shape(archive.read(name)) for name in names}
        nodes = list(_nodes(json.loads(archive.read(_DESCRIPTION))))
    facts_by_id: dict[Any, Any] = {}
    n_uses = Counter(node.get("__id__") for node in nodes)
    for node in nodes:
        facts = tuple(str(node.get(key)) for key in ("__loader__", "type", "file"))
        facts += (node["content"],) if node["__loader__"] == "JsonNode" else ()
        if facts_by_id.setdefault(node.get("__id__"), facts) != facts:
            raise ValueError("two objects in the place of one")
        if node["__loader__"] == "TreeNode":
            arguments = node["__reduce__"]["args"]
            _, classes, outputs = arguments["content"]
            is_single = outputs["content"] == "1" and shapes[classes["file"]] == (1,)
            if not is_single or n_uses[arguments["__id__"]] > 1:
                raise ValueError("a tree of several outputs")


def _shape(content: bytes) -> tuple[int, ...]:
    stream = BytesIO(content)
    version = np.lib.format.read_magic(stream)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    shape, _, dtype = read[version](stream)
    size = dtype.itemsize
    for length in shape:
        size *= length
    if dtype.hasobject or size != len(content) - stream.tell():
        raise ValueError("an array of another length than it says")
    return shape


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")
