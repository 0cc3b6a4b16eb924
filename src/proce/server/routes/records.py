"""Records as they are sent: found by their id, in the view that is asked for."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import HTTPException, Path, Response

from proce.server.routes.service import Role, Service

ENDED = frozenset({"done", "failed", "cancelled", "interrupted"})

RecordId = Annotated[
    str, Path(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$", description="Its id.")
]


async def find_record(service: Service, record_id: str) -> dict[str, Any]:
    """Return a record; answer 404 where there is none."""
    record = await service.backend.record(record_id)
    if record is None:
        raise HTTPException(404, f"There is no explanation '{record_id}'.")
    return record


async def find_results(service: Service, record_id: str, view: Role) -> tuple[Any, str]:
    """Return the request of a finished record, and its explanations as JSON text."""
    record = await find_record(service, record_id)
    text = await service.backend.results(record_id, view)
    if text is None:
        raise HTTPException(
            409, f"The explanation has no result: it is {record['status']}, not done."
        )
    return record["request"], text


def without_result(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record as the log lists it."""
    return {key: value for key, value in record.items() if key != "result"}


async def record_in_view(
    service: Service,
    record: Mapping[str, Any],
    view: Role,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return a record with its result, whose text is sent as it was written."""
    result = await service.backend.results(record["id"], view)
    head = json.dumps(without_result(record), ensure_ascii=False, allow_nan=False)
    text = f'{head[:-1]}, "result": {result or "null"}}}'
    return Response(text, media_type="application/json", headers=dict(headers or {}))
