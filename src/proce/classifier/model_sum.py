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

    A ``.skops`` file names its arrays after addresses in memory, so that it differs each time it is
    written. The sum is therefore taken of its description, in which every array is named by its
    own sum.
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
    text = json.dumps(_without_addresses(description, sums, {}))
    return hashlib.sha256(text.encode()).hexdigest()


def _without_addresses(value: Any, sums: dict[str, str], numbers: dict[Any, int]) -> Any:
    """Return a description in which objects are numbered in order instead of by address."""
    if isinstance(value, list):
        return [_without_addresses(item, sums, numbers) for item in value]
    if not isinstance(value, dict):
        return value
    record: dict[str, Any] = {}
    for key, item in value.items():
        if key == "__id__":
            record[key] = numbers.setdefault(item, len(numbers))
        elif key == "file":
            record[key] = sums.get(item, item)
        else:
            record[key] = _without_addresses(item, sums, numbers)
    return record
