"""Install, ask and judge the packages; write ``docs/packages.csv`` and fill the page.

Run from the root: ``PROCE_DATA=... python -m benchmarks.packages --envs FOLDER [--out FOLDER]``.
Environments and answers that are there already are kept; ``--again`` asks anew, without
installing anew, which is how times are measured on a quiet machine. ``--only NAME`` asks one
package, and ``--judge`` none: it judges the answers that are there.
"""

import argparse
import platform
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
from benchmarks.packages.environments import (
    PACKAGES,
    CannotRunError,
    Package,
    failure_of,
    lines_of_code,
    python_of,
    read_run,
    run_adapter,
)
from benchmarks.packages.judge import judge, judge_following
from benchmarks.packages.table import (
    PAGE,
    RECORD,
    fill,
    line_of_following,
    line_of_verdicts,
    write_record,
)
from benchmarks.packages.task import DATASETS, World, build

_SAME_MODEL = 1e-6  # the largest difference of probabilities that is none


def ask_packages(worlds: dict[str, World], arguments: argparse.Namespace) -> None:
    """Install and ask the packages."""
    for package in PACKAGES:
        if arguments.judge or (arguments.only and package.name != arguments.only):
            continue
        try:
            python = python_of(package, arguments.envs, arguments.install_seconds)
        except CannotRunError as error:
            print(f"{package.name}: {error}", flush=True)
            continue
        for name in worlds:
            for method in methods_of(package, worlds[name]):
                out = arguments.out / name / f"{package.name.lower()}-{method.replace(' ', '-')}"
                if (out / "run.json").exists() and not arguments.again:
                    continue
                print(f"{name}: {package.name}, {method}", flush=True)
                limits = (arguments.seconds, arguments.row_seconds)
                run_adapter(package, method, python, arguments.out / name / "task", out, limits)


def methods_of(package: Package, world: World) -> list[str]:
    """Return what a package is asked about a data set; about causes only where they are known."""
    of_causes = ("what_if", "no graph")
    return [m for m in package.methods if m not in of_causes or world.data.truth is not None]


def judged(worlds: dict[str, World], out: Path, envs: Path) -> list[dict[str, str]]:
    """Return the lines of the table."""
    lines = []
    for name, world in worlds.items():
        for package in PACKAGES:
            for method in methods_of(package, world):
                folder = out / name / f"{package.name.lower()}-{method.replace(' ', '-')}"
                line = {"data set": name, "package": package.name, "method": method}
                line["lines of code"] = str(lines_of_code(package.adapter, method == "what_if"))
                line |= installed(package, envs)
                lines.append(line | measured(world, method, folder, failure_of(package, envs)))
    return lines


def measured(world: World, method: str, folder: Path, reason: str) -> dict[str, str]:
    """Return what one run of an adapter came to, or why it came to nothing."""
    record, answers, stopped = read_run(folder)
    if not answers:
        return {"note": reason or record.get("error") or stopped or "not asked"}
    by_row = {answer["row"]: answer for answer in answers}
    if method == "what_if":
        told = [
            judge_following(world, question, by_row.get(position))
            for position, question in enumerate(world.questions)
        ]
        line = line_of_following([following for following in told if following is not None])
    else:
        rows = range(len(world.rows))
        line = line_of_verdicts([judge(world, row, by_row.get(row)) for row in rows])
    line["fit, CPU s"] = f"{record['fit_seconds']:.1f}"
    line["a row, CPU s"] = f"{np.median([answer['seconds'] for answer in answers]):.3f}"
    notes = [stopped] if stopped else []
    if record["difference"] > _SAME_MODEL:
        notes.append(f"its model differs by {record['difference']:.1g}")
    silent = [answer["note"] for answer in answers if answer["note"]]
    if silent:
        notes.append(f"{len(silent)} times: {silent[0]}")
    return line | {"note": "; ".join(notes) or "–"}


def installed(package: Package, envs: Path) -> dict[str, str]:
    """Return the version of a package, and what its environment holds."""
    if not package.requirements:
        import proce

        return {"version": proce.__version__}
    name, _, version = package.requirements[0].partition("==")
    found = sorted((envs / package.name.lower()).glob("lib/python*/site-packages"))
    if not found:
        return {"version": version}
    size = sum(path.stat().st_size for path in found[0].rglob("*") if path.is_file())
    n_packages = len(list(found[0].glob("*.dist-info")))
    return {
        "version": f"{name} {version}",
        "packages installed": str(n_packages),
        "MB installed": f"{size / 1e6:,.0f}",
    }


def main() -> None:
    """Run what is not there yet, judge, record and fill the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--envs", type=Path, required=True, help="where environments are kept")
    parser.add_argument("--out", type=Path, default=Path("runs/packages"))
    parser.add_argument("--rows", type=int, default=30)
    parser.add_argument("--only", choices=[package.name for package in PACKAGES])
    parser.add_argument("--again", action="store_true", help="ask again, in the same environments")
    parser.add_argument("--judge", action="store_true", help="judge the answers that are there")
    parser.add_argument("--seconds", type=float, default=3_600, help="of one run, wall time")
    parser.add_argument("--row-seconds", type=float, default=60, help="of one row, CPU time")
    parser.add_argument("--install-seconds", type=float, default=3_600)
    arguments = parser.parse_args()
    arguments.out = arguments.out.absolute()
    arguments.envs = arguments.envs.absolute()
    worlds = {name: build(name, arguments.rows, arguments.out / name / "task") for name in DATASETS}
    ask_packages(worlds, arguments)
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
    )
    about = {
        "command": f"python -m benchmarks.packages --envs ENVS --rows {arguments.rows}",
        "commit": commit.stdout.strip(),
        "machine": f"Python {platform.python_version()}, one thread",
    }
    lines = judged(worlds, arguments.out, arguments.envs)
    write_record(lines, about, RECORD)
    PAGE.write_text(fill(PAGE.read_text("utf-8"), RECORD), "utf-8")
    print(f"wrote {RECORD.name} and {PAGE.name}: {shlex.join(sys.argv[1:])}")


if __name__ == "__main__":
    main()
