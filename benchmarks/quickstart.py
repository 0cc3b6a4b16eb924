"""Time the quickstart as a newcomer walks it: each step of ``docs/quickstart.md``, as written.

``python benchmarks/quickstart.py`` makes a bare environment in a new folder, installs the package
as the page says, and runs ``proce demo`` and the code of the page there, outside of this folder.
It needs a package index. ``--here`` leaves the environment out and times the rest in this one.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "quickstart.md"
PART = re.compile(
    r"^## (?P<heading>[^\n]+)$|^```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)
CLOCK = """
import json as _json, sys as _sys, time as _time
_began = [_time.perf_counter(), _time.process_time()]
def _told(heading):
    now = [_time.perf_counter(), _time.process_time()]
    times = [later - before for before, later in zip(_began, now)]
    print(_json.dumps([heading, *times]), file=_sys.stderr)
    _began[:] = [_time.perf_counter(), _time.process_time()]
"""


def script() -> str:
    """Return the code of the page with a clock that tells the time of each heading."""
    lines, heading, waiting = [CLOCK], "", False
    for part in PART.finditer(PAGE.read_text("utf-8") + "\n## end\n"):
        if part["code"] is not None:
            lines.append(part["code"])
            waiting = True
        else:
            lines += [f"_told({heading!r})"] if waiting else []
            heading, waiting = part["heading"], False
    return "\n".join(lines)


def timed(name: str, *command: str | Path, folder: Path) -> str:
    """Run a command, print its times; return what it wrote to stderr."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(
        list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode:
        raise SystemExit(f"{name} failed:\n{run.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    line(name, time.perf_counter() - began, cpu)
    return run.stderr


def line(name: str, wall: float, cpu: float) -> None:
    """Print a line of the table."""
    print(f"| {name} | {wall:.1f} | {cpu:.1f} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--here", action="store_true", help="time in this environment")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f} at the start")
    print("| step | wall, s | CPU, s |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        programs = Path(sys.executable).parent
        if not options.here:
            programs = folder / "bare" / "bin"
            timed("`python -m venv`", sys.executable, "-m", "venv", folder / "bare", folder=folder)
            pip = [programs / "pip", "install", "-c", "constraints.txt", "."]
            timed("`pip install -c constraints.txt .`", *pip, folder=ROOT)
        demo = [programs / "proce", "demo", "--out", "demo"]
        timed("`proce demo --out demo`, the first time", *demo, folder=folder)
        timed("the same again", *demo, folder=folder)
        (folder / "quickstart.py").write_text(script(), "utf-8")
        told = timed("all code of the page", programs / "python", "quickstart.py", folder=folder)
        for text in told.splitlines():
            if text.startswith("["):
                heading, wall, cpu = json.loads(text)
                line(f"*{heading}*", wall, cpu)


if __name__ == "__main__":
    main()
