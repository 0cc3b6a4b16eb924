"""Feed random and damaged texts and files to everything that reads those of other people.

``python hardening/fuzz.py rules --runs 1000000`` runs one target, ``all`` runs one after the other.
Nothing but an error of ours may come of any input, in a bounded time and in bounded memory; what is
accepted can be used, and comes back the same from what it is written as. With atheris installed
(``pip install -e '.[hardening]'``) inputs that reach new code are kept and changed further; without
it the texts of the tests and of the documentation are changed at random. The guided part is slower,
so after ``--guided`` executions what it kept is changed at random too.
"""

import argparse
import importlib.util
import subprocess
import sys
from pathlib import Path

BUILD = Path("build") / "fuzzing"
PART = str(Path(__file__).parent / "fuzzing" / "part.py")
TARGETS = ("rules", "dagitty", "graph_json", "csv", "dot", "receipts", "manifests", "results")


def main() -> int:
    """Run the targets; return 1 where something was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("target", choices=[*TARGETS, "all"])
    parser.add_argument("--runs", type=int, default=1_000_000, help="executions of a target")
    parser.add_argument("--guided", type=int, default=100_000, help="how many atheris guides")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--corpus", type=Path, default=BUILD / "corpus", help="inputs worth keeping"
    )
    parser.add_argument("--findings", type=Path, default=BUILD / "findings")
    options = parser.parse_args()
    names = list(TARGETS) if options.target == "all" else [options.target]
    return max(_run(name, options) for name in names)


def _run(name: str, options: argparse.Namespace) -> int:
    """Run a target, each part of it in a process of its own: atheris ends that in which it runs."""
    n_guided = options.guided if importlib.util.find_spec("atheris") is not None else 0
    n_guided = min(n_guided, options.runs)
    shared = [str(options.seed), str(options.corpus), str(options.findings)]
    codes = [
        subprocess.run([sys.executable, PART, name, kind, str(count), *shared]).returncode
        for kind, count in (("guided", n_guided), ("plain", options.runs - n_guided))
        if count
    ]
    found = sorted(options.findings.glob(f"{name}-*"))
    for path in found:
        print(f"{path} found something")
    return int(any(codes) or bool(found))


if __name__ == "__main__":
    sys.exit(main())
