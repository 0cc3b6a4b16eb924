"""What is known about the mutants of a room: read again, written one by one, and counted."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mutants.mutant import Mutant, Verdict, key_of, record_of

EQUIVALENT = Path(__file__).parents[1] / "equivalent.json"
Record = dict[str, Any]


def read_records(path: Path) -> dict[tuple[Any, ...], Record]:
    """Return the records of a file, one for each line, by mutant; the last one of each counts."""
    if not path.exists():
        return {}
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return {key_of(record): record for record in records}


def write_record(path: Path, mutant: Mutant, verdict: Verdict) -> Record:
    """Add what became of a mutant to a file."""
    record = record_of(mutant, verdict)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
    return record


def is_killed(record: Record) -> bool:
    """Whether the tests noticed the mutant of a record."""
    return record["outcome"] not in ("survived", "unreached")


def equivalents() -> dict[tuple[Any, ...], str]:
    """Return why each change that no test can notice makes no difference, by mutant."""
    entries = json.loads(EQUIVALENT.read_text("utf-8"))
    return {key_of(entry): entry["reason"] for entry in entries}


def score_lines(records: Iterable[Record], equal: Mapping[tuple[Any, ...], str]) -> list[str]:
    """Return a table of the scores by module, as Markdown."""
    counts: dict[str, Counter[str]] = {}
    for record in records:
        outcome = record["outcome"]
        is_equal = not is_killed(record) and key_of(record) in equal
        for name in (record["module"], "all"):
            counts.setdefault(name, Counter())["equivalent" if is_equal else outcome] += 1
    kinds = ("killed", "time", "crash", "equivalent", "survived", "unreached")
    lines = ["| module | mutants | " + " | ".join(kinds) + " | score |", "| --- |" + " ---: |" * 8]
    for name, own in sorted(counts.items(), key=lambda pair: (pair[0] == "all", pair[0])):
        total = sum(own.values())
        share = sum(own[kind] for kind in kinds[:3]) / total
        told = " | ".join(str(own[kind]) for kind in kinds)
        lines.append(f"| {name} | {total} | {told} | {share:.0%} |")
    return lines
