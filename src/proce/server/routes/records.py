"""Records as they are sent: found by their id, in the view that is asked for."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import HTTPException, Path, Response

from proce.server.routes.service import Role, Service
from proce.server.store import Record

RecordId = Annotated[
    str, Path(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$", description="Its id.")
]


async def find_record(service: Service, record_id: str) -> Record:
    """Return a record; answer 404 where there is none."""
    record = await service.jobs.record(record_id)
    if record is None:
        raise HTTPException(404, f"There is no explanation '{record_id}'.")
    return record


async def find_result(service: Service, record_id: str, view: Role) -> tuple[Record, str]:
    """Return a finished record, and its explanations as JSON text."""
    record = await find_record(service, record_id)
    text = await service.threads.read(service.store.result, record_id, view)
    if text is None:
        raise HTTPException(409, f"The explanation has no result: it is {record.status}.")
    return in_view(service, record, view), text


def in_view(service: Service, record: Record, view: Role) -> Record:
    """Return a record as a view may read it."""
    return record if view == "auditor" else record.redacted(service.redaction)


def listed(service: Service, record: Record, view: Role) -> dict[str, Any]:
    """Return a record without its result."""
    shown = in_view(service, record, view).as_json()
    return {**shown, "progress": service.jobs.progress(record.id)}


async def whole(
    service: Service, record: Record, view: Role, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a record with its result, whose text is sent as it was written."""
    result = None
    if record.status == "done":
        result = await service.threads.read(service.store.result, record.id, view)
    head = json.dumps(listed(service, record, view), ensure_ascii=False, allow_nan=False)
    text = f'{head[:-1]}, "result": {result or "null"}}}'
    return Response(text, media_type="application/json", headers=dict(headers or {}))
