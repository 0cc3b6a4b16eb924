"""The folder that results are written to: a part for every piece, and a marker of the request."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from proce.batch.cluster.place import DRAFT_SUFFIX, Place
from proce.errors import FileError

MARKER = "_proce.json"
_PART = re.compile(r"part-\d{5}-\d{5}-[0-9a-f]{12}\.parquet")
_DRAFT = re.compile(rf"\.(part-.*|{MARKER})\.[0-9a-f]{{32}}{re.escape(DRAFT_SUFFIX)}")


class Marker(BaseModel):
    """What a folder of results says of itself.

    Attributes
    ----------
    format
        The number of this form.
    holds
        Whether its parts are counterfactuals or outcomes.
    request
        What the parts depend on.
    finished
        Whether every piece has its part.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1
    holds: Literal["counterfactuals", "outcomes"]
    request: dict[str, Any]
    finished: bool = False


def check_output(place: Place, marker: Marker, restart: bool) -> None:
    """Refuse a folder that holds anything but parts of the same request.

    Parameters
    ----------
    place
        The folder; it may not exist yet.
    marker
        What this run would write.
    restart
        Whether parts of another request will be discarded, and so are no reason to refuse.
    """
    if place.kind() == "file":
        raise FileError(f"{place.url!r} is a file; a cluster writes a folder of Parquet files.")
    entries = place.entries()
    if not entries:
        return
    known = _read_marker(place) if MARKER in entries else None
    if known is None:
        raise FileError(
            f"the folder {place.url!r} holds {next(iter(entries))!r} and no {MARKER} of a run of"
            " ours; nothing in it is touched. Write into a new folder."
        )
    strange = [name for name in entries if not _is_ours(name)]
    if strange:
        raise FileError(
            f"the folder {place.url!r} holds {strange[0]!r}, which no run of ours writes. Move it"
            " away, or write into a new folder."
        )
    if not restart and (known.request, known.holds) != (marker.request, marker.holds):
        differing = sorted(
            name
            for name in {*known.request, *marker.request}
            if known.request.get(name) != marker.request.get(name)
        )
        raise FileError(
            f"the folder {place.url!r} holds parts of another run ({', '.join(differing)} differ)."
            " Write into a new folder, or discard them with --restart."
        )


def open_output(place: Place, marker: Marker, restart: bool) -> set[str]:
    """Make the folder or take it up; return the names of the parts that are there."""
    check_output(place, marker, restart)
    entries = place.entries()
    if restart:
        for name in entries:
            place.remove(name)
        entries = {}
    place.make()
    if not entries:
        place.write(MARKER, _text(marker))
    return {name for name in entries if _PART.fullmatch(name)}


def require_current(place: Place, parts: Iterable[str], expected: Iterable[str]) -> None:
    """Refuse parts of rows as they were before somebody changed them."""
    wanted = {_position(name): name for name in expected}
    for part in sorted(parts):
        if wanted.get(_position(part), part) != part:
            raise FileError(
                f"the folder {place.url!r} holds {part!r}, whose rows have changed since it was"
                " written. Write into a new folder, or discard all parts with --restart."
            )


def close_output(place: Place, marker: Marker) -> None:
    """Mark a folder as finished, and remove what killed workers left half written."""
    for name in place.entries():
        if _DRAFT.fullmatch(name):
            place.remove(name)
    place.write(MARKER, _text(marker.model_copy(update={"finished": True})))


def plain_request(**values: Any) -> dict[str, Any]:
    """Return what parts depend on as it would be read from a marker."""
    import json

    text = json.dumps(values, sort_keys=True, default=str)
    read: Mapping[str, Any] = json.loads(text)
    return dict(read)


def _text(marker: Marker) -> bytes:
    return marker.model_dump_json(indent=1).encode()


def _read_marker(place: Place) -> Marker | None:
    try:
        return Marker.model_validate_json(place.read(MARKER))
    except ValidationError:
        return None


def _is_ours(name: str) -> bool:
    return name == MARKER or bool(_PART.fullmatch(name) or _DRAFT.fullmatch(name))


def _position(part: str) -> str:
    """Return the number of the file and of the piece in a part's name."""
    return part.rsplit("-", 1)[0]
