"""The store called from an event loop."""

import asyncio
import threading
from contextlib import closing

import pytest

from proce.errors import StoreError
from proce.server.store import Store, StoreThreads


def test_a_story_of_reads_and_writes_from_a_loop(store: Store) -> None:
    async def story() -> list[str]:
        with closing(StoreThreads()) as threads:
            records = await asyncio.gather(
                *[threads.write(store.create, {"n": n}, role="applicant") for n in range(5)]
            )
            await threads.write(store.end, records[0].id, "failed", error="why")
            read = await asyncio.gather(
                *[threads.read(store.record, record.id) for record in records]
            )
            pieces = [piece async for piece in threads.stream(store.export("csv"))]
            assert "".join(pieces).count("\n") == 6
            return [record.status for record in read if record is not None]

    assert asyncio.run(story()) == ["failed", *["queued"] * 4]


async def test_errors_come_back_to_the_caller(store: Store) -> None:
    def fail() -> None:
        raise StoreError("the disk is full")

    with closing(StoreThreads()) as threads:
        for call in (threads.read, threads.write):
            with pytest.raises(StoreError, match="disk is full"):
                await call(fail)


async def test_writes_keep_their_order_and_a_slow_one_keeps_no_reader_waiting() -> None:
    slow, order = threading.Event(), []
    with closing(StoreThreads()) as threads:
        writes = [
            asyncio.ensure_future(threads.write(lambda: order.append(slow.wait(10)))),
            asyncio.ensure_future(threads.write(order.append, 2)),
        ]
        assert await threads.read(lambda: "read") == "read"
        assert order == []
        slow.set()
        await asyncio.gather(*writes)
    assert order == [True, 2]


def test_the_loop_goes_on_while_a_thread_waits() -> None:
    waits, go_on = threading.Event(), threading.Event()

    def wait() -> bool:
        waits.set()
        return go_on.wait(10)

    async def story() -> bool:
        with closing(StoreThreads()) as threads:
            waiting = asyncio.ensure_future(threads.read(wait))
            while not waits.is_set():
                await asyncio.sleep(0.001)
            go_on.set()  # said by the loop, which is therefore not blocked
            return await waiting

    assert asyncio.run(story())


async def test_a_stream_that_is_left_early_leaves_nothing_open(store: Store) -> None:
    for _ in range(3):
        store.create({}, "applicant")
    with closing(StoreThreads()) as threads:
        pieces = threads.stream(store.export("csv"))
        assert "id,status" in await anext(pieces)
        await pieces.aclose()  # type: ignore[attr-defined]
    assert store._database._engine.pool.checkedout() == 0  # type: ignore[attr-defined]
