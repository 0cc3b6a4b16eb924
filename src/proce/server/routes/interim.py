"""A desk in threads of this process, with records in memory."""

import asyncio
import json
import secrets
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Any

from fastapi import HTTPException


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class ThreadBackend:
    """Answers from a desk in this process."""

    def __init__(self, opener: Any) -> None:
        self._opener = opener
        self._desk: Any = None
        self._asking = asyncio.Lock()
        self._records: dict[str, dict[str, Any]] = {}
        self._documents: dict[str, Any] = {}
        self._changed = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()
        self._views: dict[str, Any] = {}

    async def start(self) -> None:
        """Load the desk."""
        self._desk = await asyncio.to_thread(self._opener)

    async def close(self) -> None:
        """End what runs."""
        for task in self._tasks:
            task.cancel()

    async def ask(self, question: str, **arguments: Any) -> Any:
        """Return what a method of the desk answers."""
        method = getattr(self._desk, question, None)
        if method is None:
            raise HTTPException(503, f"The desk has no '{question}' yet.", {"retry-after": "5"})
        async with self._asking:
            return await asyncio.to_thread(method, **arguments)

    def health(self) -> dict[str, Any]:
        """Return the state of the workers and the queue."""
        ready = int(self._desk is not None)
        busy = sum(record["status"] == "running" for record in self._records.values())
        return {
            "status": "ok" if ready else "starting",
            "workers": {"total": 1, "ready": ready, "busy": busy},
            "queue": {"length": 0, "limit": 64},
        }

    async def submit(self, request: dict[str, Any], role: str) -> dict[str, Any]:
        """Start a search."""
        record: dict[str, Any] = {
            "id": secrets.token_urlsafe(12),
            "status": "running",
            "created": _now(),
            "started": _now(),
            "finished": None,
            "request": request,
            "progress": None,
            "result": None,
            "error": None,
            "summary": None,
            "provenance": None,
            "role": role,
        }
        self._records[record["id"]] = record
        task = asyncio.create_task(self._run(record))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return record

    async def _run(self, record: dict[str, Any]) -> None:
        loop = asyncio.get_running_loop()

        def progress(state: Any) -> bool:
            loop.call_soon_threadsafe(self._progress, record, state)
            return bool(record["status"] == "running")

        try:
            found = await asyncio.to_thread(self._desk.explain, record["request"], progress)
            if record["status"] == "running":
                record.update(
                    status="done",
                    summary=found.get("summary"),
                    provenance=found.get("provenance"),
                )
                self._documents[record["id"]] = found["results"]
        except Exception as error:
            record.update(status="failed", error=str(error))
        record["finished"] = _now()
        async with self._changed:
            self._changed.notify_all()

    def _progress(self, record: dict[str, Any], state: Any) -> None:
        record["progress"] = state
        task = asyncio.create_task(self._notify())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def wait(self, record_id: str, seconds: float) -> dict[str, Any]:
        """Wait for the end."""
        record = self._records[record_id]
        try:
            async with asyncio.timeout(seconds), self._changed:
                await self._changed.wait_for(lambda: record["finished"] is not None)
        except TimeoutError:
            pass
        return record

    async def record(self, record_id: str) -> dict[str, Any] | None:
        """Return a record."""
        return self._records.get(record_id)

    async def results(self, record_id: str, view: str) -> str | None:
        """Return the JSON text of the explanations in a view."""
        found = self._documents.get(record_id)
        if found is None:
            return None
        text = found[view]
        return text if isinstance(text, str) else json.dumps(text)

    async def records(self, **filters: Any) -> tuple[int, list[dict[str, Any]]]:
        """Return some of the log."""
        fit = [
            record
            for record in reversed(self._records.values())
            if filters["status"] in (None, record["status"])
        ]
        return len(fit), fit[filters["offset"] :][: filters["limit"]]

    async def cancel(self, record_id: str) -> dict[str, Any]:
        """Cancel a search."""
        self._records[record_id]["status"] = "cancelled"
        return self._records[record_id]

    async def events(self, record_id: str) -> AsyncGenerator[tuple[str, dict[str, Any]], None]:
        """Return the events of a record."""
        record, told = self._records[record_id], None
        while True:
            if record["progress"] is not told:
                told = record["progress"]
                yield "progress", told
            async with self._changed:
                if record["progress"] is told and not record["finished"]:
                    await self._changed.wait()
            if record["finished"] and record["progress"] is told:
                yield "end", {"status": record["status"], "error": record["error"]}
                return

    async def save_view(self, state: dict[str, Any], role: str) -> str:
        """Keep a view."""
        name = secrets.token_urlsafe(12)
        self._views[name] = {"state": state, "role": role}
        return name

    async def view(self, view_id: str) -> dict[str, Any] | None:
        """Return a view."""
        return self._views.get(view_id)
