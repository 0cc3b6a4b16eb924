"""Run scripts of this folder, keep what they print, and show it in the documentation.

Run: ``PROCE_DATA=... python benchmarks/record.py methods optimum`` for some of :data:`RUNS`, with
``--all`` for every one that was not recorded at this commit, and without a name to fill the pages
again. What a script printed is kept in ``docs/recorded/NAME.txt``, under the command, the commit
and the machine. A page shows a table of it between ``<!-- recorded NAME -->``, or ``<!-- recorded
NAME: PART -->``, and ``<!-- end -->``; a part is the number of a table, or the heading over it.

A number that no commit can repeat is no record: with changes that are not committed in ``src`` or
``benchmarks`` nothing is run. A script that fails leaves the record before it as it was.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from proce.benchmark.folder import describe_environment

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
RECORDS = DOCS / "recorded"
RUNS = {  # by name: the script and its arguments; {kept} is where it keeps cells that are done
    "claims": "claims.py",
    "quickstart": "quickstart.py",
    "methods": "methods.py",
    "explain": "explain.py",
    "questions": "questions.py",
    "batch": "batch.py --sizes 50000",
    "search": "search.py",
    "codec": "codec.py",
    "classifier": "classifier.py",
    "latent": "latent.py",
    "causal": "causal.py",
    "cost": "cost.py",
    "recourse": "recourse.py --seeds 0 1 2 --rows 100 --discovered --out {kept}/cells.jsonl",
    "exactness": "exactness.py --rows 200000",
    "optimum": "optimum.py",
    "real_data": "real_data.py --out {kept}",
}
_BLOCK = re.compile(r"(<!-- recorded (\w+)(?:: ([^>]+?))? -->\n).*?(<!-- end -->)", re.DOTALL)
_TABLE = re.compile(r"(?:^\|.*\n?)+", re.MULTILINE)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_HOURS = 2.0  # after which a script is ended


@dataclass(frozen=True, slots=True)
class Record:
    """What a script printed, and where that came from.

    Attributes
    ----------
    command, commit, machine
        What was run, of which version, on what.
    output
        What it printed.
    """

    command: str
    commit: str
    machine: str
    output: str

    @classmethod
    def read(cls, name: str) -> "Record":
        """Read a record by its name."""
        path = RECORDS / f"{name}.txt"
        if not path.exists():
            raise SystemExit(f"nothing is recorded as {name!r}: run benchmarks/record.py {name}.")
        head, _, output = path.read_text(encoding="utf-8").partition("\n\n")
        lines = dict(line.split(": ", 1) for line in head.splitlines())
        return cls(lines["command"], lines["commit"], lines["machine"], output)

    def write(self, name: str) -> None:
        """Write the record, in one step."""
        RECORDS.mkdir(exist_ok=True)
        path = RECORDS / f"{name}.txt"
        draft = path.with_suffix(".draft")
        draft.write_text(
            f"command: {self.command}\ncommit: {self.commit}\nmachine: {self.machine}\n\n"
            f"{self.output}",
            encoding="utf-8",
        )
        draft.replace(path)

    def table(self, part: str | None) -> str:
        """Return a table of the output: by number, by the heading over it, or the first."""
        matches = list(_TABLE.finditer(self.output))
        if part is None or part.isdigit():
            number = int(part or 1)
            if not 1 <= number <= len(matches):
                raise SystemExit(f"{self.command} printed {len(matches)} tables, not {number}.")
            return matches[number - 1][0]
        for match in matches:
            headings = _HEADING.findall(self.output[: match.start()])
            if headings and headings[-1] == part:
                return match[0]
        raise SystemExit(f"{self.command} printed no table under the heading {part!r}.")


def git(*arguments: str) -> str:
    """Return what git says."""
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def commit_of(script: str) -> str:
    """Return the last commit that changed the package or a script; later ones have the same."""
    return git("log", "-1", "--format=%h", "--", "src", f"benchmarks/{script}")


def describe_machine(minutes: float) -> str:
    """Return the processor and how busy it was, for whoever compares times."""
    hardware = describe_environment()["hardware"]
    load = os.getloadavg()[2] if hasattr(os, "getloadavg") else float("nan")
    return (
        f"{hardware['processor'] or hardware['machine']}, {hardware['cores']} cores,"
        f" {minutes:.1f} min, load {load:.1f} over the last 15 min"
    )


def run(name: str) -> None:
    """Run a script and keep what it printed; its messages go to the terminal."""
    command = f"python benchmarks/{RUNS[name].format(kept=f'runs/{name}')}"
    script, *arguments = shlex.split(RUNS[name])
    kept = ROOT / "build" / "recorded" / commit_of(script) / name  # of this commit alone
    kept.mkdir(parents=True, exist_ok=True)
    arguments = [argument.format(kept=kept) for argument in arguments]
    print(f"{name}: {command}", file=sys.stderr, flush=True)
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, f"benchmarks/{script}", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        timeout=_HOURS * 3600,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{command} ended with {done.returncode}; {name} was not recorded.")
    machine = describe_machine((time.monotonic() - start) / 60)
    Record(command, commit_of(script), machine, done.stdout).write(name)


def fill(page: str) -> str:
    """Return a page with every block of a record filled from its file."""

    def filled(match: re.Match[str]) -> str:
        record = Record.read(match[2])
        source = f"`{record.command}`, commit {record.commit}:"
        return f"{match[1]}\n{source}\n\n{record.table(match[3])}\n{match[4]}"

    return _BLOCK.sub(filled, page)


def pages() -> Iterator[Path]:
    """Yield the pages that show something recorded."""
    for path in sorted(DOCS.rglob("*.md")):
        if _BLOCK.search(path.read_text(encoding="utf-8")):
            yield path


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for, then fill the pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(RUNS))
    parser.add_argument("--all", action="store_true", help="all that this commit has not recorded")
    parsed = parser.parse_args(arguments)
    names = list(parsed.names)
    if unknown := set(names) - set(RUNS):
        parser.error(f"unknown {', '.join(sorted(unknown))}; expected some of {', '.join(RUNS)}")
    if parsed.all:
        names = [name for name in RUNS if not _is_recorded(name)]
    if names and (changed := git("status", "--porcelain", "src", "benchmarks")):
        raise SystemExit(f"commit what changed first, so that it can be repeated:\n{changed}")
    for name in names:
        run(name)
    for path in pages():
        path.write_text(fill(path.read_text(encoding="utf-8")), encoding="utf-8")


def _is_recorded(name: str) -> bool:
    script, *_ = shlex.split(RUNS[name])
    return (RECORDS / f"{name}.txt").exists() and Record.read(name).commit == commit_of(script)


if __name__ == "__main__":
    main()
