"""What it costs to keep explanations: writing, listing, exporting and removing records.

Run: ``python benchmarks/store.py [N]``; with ``PROCE_DATABASE=postgresql://...`` also on a server.
"""

import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from proce.server.store import RecordFilter, Retention, Store

RESULT = '{"x": "' + "y" * 27_000 + '"}'  # as long as that of one applicant for a loan
OTHER = '{"x": "' + "z" * 27_000 + '"}'
REQUEST = {"rows": [{f"feature {number}": number for number in range(12)}], "n": 4}


def milliseconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - began)


def write(store: Store, n_records: int) -> dict[str, list[float]]:
    """Take records through their life; return how long each step took."""
    times: dict[str, list[float]] = {"create": [], "start": [], "finish": []}
    results = {"applicant": RESULT, "auditor": OTHER}
    for _ in range(n_records):
        began = time.perf_counter()
        id = store.create(REQUEST, "applicant").id
        created = time.perf_counter()
        store.start(id)
        started = time.perf_counter()
        store.finish(id, results=results, summary={}, provenance={})
        finished = time.perf_counter()
        times["create"].append(1e3 * (created - began))
        times["start"].append(1e3 * (started - created))
        times["finish"].append(1e3 * (finished - started))
    return times


def measure(address: str, n_records: int) -> None:
    store = Store.open(address)
    print(f"== {store.address}, {n_records:,} records of {2 * len(RESULT):,} bytes")
    for step, times in write(store, n_records).items():
        tail = sorted(times)[int(0.99 * len(times))]
        print(f"{step:8} p50 {median(times):7.2f} ms   p99 {tail:7.2f} ms")
    id = store.records(limit=1).records[0].id
    print(f"record   {milliseconds(lambda: store.record(id)):11.2f} ms")
    print(f"result   {milliseconds(lambda: store.result(id, 'auditor')):11.2f} ms")
    print(f"list 50  {milliseconds(lambda: store.records(RecordFilter(status='done'))):11.2f} ms")
    for form in ("csv", "jsonl"):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        spent = milliseconds(lambda: sum(map(len, store.export(form))))  # noqa: B023
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(f"{form:8} {spent:11.0f} ms   memory grew by {grown / 1e3:.0f} MB")

    def remove() -> None:
        while store.remove_batch(Retention(records=1)):
            pass

    print(f"remove   {milliseconds(remove):11.0f} ms")
    print(f"vacuum   {milliseconds(store.give_back_space):11.0f} ms")
    store.close()


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    with tempfile.TemporaryDirectory() as folder:
        measure(str(Path(folder) / "explanations.sqlite"), count)
    if "PROCE_DATABASE" in os.environ:
        measure(os.environ["PROCE_DATABASE"], count)
