"""The checksum of a model's file: the same where the same model was written twice."""

import hashlib
import json
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from proce.files import sha256_of

_DESCRIPTION = "schema.json"


def model_sum(path: Path) -> str:
    """Return the SHA-256 sum of a model's file.

    A ``.skops`` file names its arrays after places in memory, so that it differs each time it is
    written; what is summed up is its description, with the sum of each array for its name.
    """
    if path.suffix != ".skops":
        return sha256_of(path)
    try:
        with ZipFile(path) as parts:
            sums = {
                name: hashlib.sha256(parts.read(name)).hexdigest()
                for name in parts.namelist()
                if name != _DESCRIPTION
            }
            description = json.loads(parts.read(_DESCRIPTION))
    except (BadZipFile, KeyError, ValueError, RecursionError):
        return sha256_of(path)
    text = json.dumps(_settled(description, sums, {}))
    return hashlib.sha256(text.encode()).hexdigest()


def _settled(value: Any, sums: dict[str, str], places: dict[Any, int]) -> Any:
    """Return a description without places in memory: objects are numbered as they come."""
    if isinstance(value, list):
        return [_settled(each, sums, places) for each in value]
    if not isinstance(value, dict):
        return value
    settled: dict[str, Any] = {}
    for key, each in value.items():
        if key == "__id__":
            settled[key] = places.setdefault(each, len(places))
        elif key == "file":
            settled[key] = sums.get(each, each)
        else:
            settled[key] = _settled(each, sums, places)
    return settled
