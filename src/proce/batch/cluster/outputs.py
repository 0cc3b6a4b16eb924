"""The folder that results are written to: a part for every piece, and a marker of the request."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from proce.batch.cluster.store import DRAFT_SUFFIX, Store, StoreError
from proce.errors import FileError

MARKER = "_proce.json"
_DIGEST_DIGITS = 12  # of the checksum of a request, which the names of its parts carry
_PART = re.compile(r"part-\d{5,}-\d{5,}-[0-9a-f]{12}-([0-9a-f]{12})\.parquet")
_DRAFT = re.compile(rf"\.(part-.*|{MARKER})\.[0-9a-f]{{32}}{re.escape(DRAFT_SUFFIX)}")


class RunMarker(BaseModel):
    """What a folder of results says of itself."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1  # the number of this form
    # whether its parts are counterfactuals or outcomes
    holds: Literal["counterfactuals", "outcomes"]
    request: dict[str, Any]  # what the parts depend on
    finished: bool = False  # whether every piece has its part

    @property
    def digest(self) -> str:
        """The digits by which a part of this request is known."""
        return digest_of(self.request)


def digest_of(request: Mapping[str, Any]) -> str:
    """Return digits that change with what is asked for."""
    text = json.dumps(request, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_DIGITS]


def check_output(store: Store, marker: RunMarker, restart: bool) -> None:
    """Refuse a folder that holds anything but parts of the same request."""
    if store.kind() == "file":
        raise FileError(f"{store.url!r} is a file; a cluster writes a folder of Parquet files.")
    entries = store.entries()
    if all(_DRAFT.fullmatch(name) for name in entries):  # of a run that ended as it began
        return
    known = read_marker(store)
    if known is None:
        raise FileError(
            f"the folder {store.url!r} holds {next(iter(entries))!r} and no {MARKER} of a run of"
            " ours; nothing in it is touched. Write into a new folder."
        )
    strange = [name for name, kind in entries.items() if kind != "file" or not _is_ours(name)]
    if strange:
        raise FileError(
            f"the folder {store.url!r} holds {strange[0]!r}, which no run of ours writes. Move it"
            " away, or write into a new folder."
        )
    if restart and known.finished:
        raise FileError(
            f"the folder {store.url!r} holds a finished result; --restart discards unfinished ones"
            " alone. Write into a new folder, or remove this one yourself."
        )
    if not restart and (known.request, known.holds) != (marker.request, marker.holds):
        differing = sorted(
            name
            for name in {*known.request, *marker.request}
            if known.request.get(name) != marker.request.get(name)
        ) or ["what they hold"]
        raise FileError(
            f"the folder {store.url!r} holds parts of another run ({', '.join(differing)} differ)."
            f" {_advice(known)}"
        )


def open_output(store: Store, marker: RunMarker, restart: bool) -> set[str]:
    """Make the folder or take it up; return the names of the parts that are there."""
    check_output(store, marker, restart)
    store.make()
    if restart or MARKER not in store.entries():
        # The marker is first: a worker of the run before writes nothing more once it is there.
        store.write(MARKER, _text(marker))
    parts = set() if restart else _parts_of(store, marker)
    _remove(store, (name for name in store.entries() if _PART.fullmatch(name)), parts)
    return parts


def require_current(
    store: Store, marker: RunMarker, parts: Iterable[str], expected: Iterable[str]
) -> None:
    """Refuse parts of rows as they were before somebody changed them."""
    wanted = {_position(name): name for name in expected}
    for part in sorted(parts):
        if wanted.get(_position(part), part) != part:
            raise FileError(
                f"the folder {store.url!r} holds {part!r}, whose rows have changed since it was"
                f" written. {_advice(read_marker(store) or marker)}"
            )


def is_current(store: Store, digest: str) -> bool:
    """Return whether a folder still is that of the request with these digits."""
    known = read_marker(store)
    return known is not None and known.digest == digest


def close_output(store: Store, marker: RunMarker, expected: Iterable[str]) -> None:
    """Mark a folder as finished, and remove what killed workers left."""
    if not is_current(store, marker.digest):
        raise FileError(
            f"the folder {store.url!r} was taken by another run, or removed, meanwhile."
        )
    parts = _parts_of(store, marker)
    if absent := sorted(set(expected) - parts):
        raise FileError(
            f"{len(absent):,} of the parts in {store.url!r} have been removed since they were"
            f" written, {absent[0]!r} first. Run the same command again to make them anew."
        )
    _remove(store, (name for name in store.entries() if _is_ours(name)), {MARKER, *parts})
    store.write(MARKER, _text(marker.model_copy(update={"finished": True})))


def plain_request(**values: Any) -> dict[str, Any]:
    """Return what parts depend on as it would be read from a marker."""
    text = json.dumps(values, sort_keys=True, default=str)
    read: Mapping[str, Any] = json.loads(text)
    return dict(read)


def _text(marker: RunMarker) -> bytes:
    return marker.model_dump_json(indent=1).encode()


def read_marker(store: Store) -> RunMarker | None:
    """Return what a folder says of itself; ``None`` where nothing of ours is there."""
    try:
        return RunMarker.model_validate_json(store.read(MARKER))
    except ValidationError:
        return None
    except StoreError as error:
        if isinstance(error.__cause__, FileNotFoundError | NotADirectoryError):
            return None
        raise


def _advice(known: RunMarker) -> str:
    if known.finished:
        return "Write into a new folder."
    return "Write into a new folder, or discard them with --restart."


def _parts_of(store: Store, marker: RunMarker) -> set[str]:
    """Return the parts of a request that are there."""
    named = {name: _PART.fullmatch(name) for name in store.entries()}
    return {name for name, match in named.items() if match and match[1] == marker.digest}


def _remove(store: Store, names: Iterable[str], kept: set[str]) -> None:
    """Remove files but those to keep; a worker of an earlier request may have written too late."""
    for name in names:
        if name not in kept:
            store.remove(name)


def _is_ours(name: str) -> bool:
    return name == MARKER or bool(_PART.fullmatch(name) or _DRAFT.fullmatch(name))


def _position(part: str) -> str:
    """Return the number of the file and of the piece in a part's name."""
    return part.rsplit("-", 2)[0]
