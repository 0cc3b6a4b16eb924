"""One part of a run: ``part.py TARGET guided|plain RUNS SEED CORPUS FINDINGS``."""

import importlib
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

ROOM = {
    **dict.fromkeys(("rules", "dagitty", "dot", "graph_json"), "texts"),
    **dict.fromkeys(("csv", "manifests"), "files"),
    **dict.fromkeys(("receipts", "results"), "results"),
}
_N_WARMING = 20  # inputs that are run first, for the modules that they import


def main() -> None:
    """Run one part."""
    name, kind, count, seed, corpus, findings = sys.argv[1:]
    sys.path.insert(0, str(Path(__file__).parents[1]))
    with _instrumented() if kind == "guided" else nullcontext():
        target = getattr(importlib.import_module(f"fuzzing.{ROOM[name]}"), name)()
        for content in target.seeds[:_N_WARMING]:
            with suppress(Exception):
                target.check(content)
    from fuzzing import engine

    engine.turn_warnings_into_errors()
    record = engine.Record(name, Path(findings))
    execute = engine.Executor(target, record, int(count))
    run = engine.run_guided if kind == "guided" else engine.run_plain
    run(target, execute, int(count), int(seed), Path(corpus))


@contextmanager
def _instrumented() -> Iterator[None]:
    """Let atheris watch the modules of ours that are imported meanwhile."""
    import atheris

    with atheris.instrument_imports(["proce"], _compiled(), enable_loader_override=False):
        yield


def _compiled() -> list[str]:
    """Return the modules with functions that numba compiles, which atheris cannot look into."""
    source = Path(__file__).parents[2] / "src"
    uses = re.compile(r"^(import numba|from numba|from proce\.compiled)", re.MULTILINE)
    return [
        ".".join(path.relative_to(source).with_suffix("").parts)
        for path in sorted(source.rglob("*.py"))
        if uses.search(path.read_text("utf-8"))
    ]


if __name__ == "__main__":
    main()
