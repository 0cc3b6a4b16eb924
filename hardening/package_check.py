"""Build the wheel and the source archive, and use both as somebody would who has only them.

``python hardening/package_check.py`` builds both, looks at what is in them, installs each into an
environment of its own with the versions of ``constraints.txt``, and runs ``proce demo`` outside of
this folder. It needs a package index, and some minutes.
"""

import argparse
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "proce"


def build(folder: Path) -> tuple[Path, Path]:
    """Return a new wheel and a new source archive."""
    python = _environment(folder / "building")
    _run(python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", "hatchling")
    _run(python, "-m", "hatchling", "build", "--directory", folder / "built", folder=ROOT)
    (wheel,) = (folder / "built").glob("*.whl")
    (archive,) = (folder / "built").glob("*.tar.gz")
    return wheel, archive


def wrong_in_wheel(names: set[str]) -> list[str]:
    """Return what is wrong with the files in a wheel."""
    ours = {
        path.relative_to(SOURCE.parent).as_posix()
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    faults = [f"{name} is missing" for name in sorted(ours - names)]
    inside = {name for name in names if ".dist-info/" in name}
    faults += [f"{name} does not belong there" for name in sorted(names - ours - inside)]
    for licence in ("LICENSE", "NOTICE"):
        if not any(name.endswith(f".dist-info/licenses/{licence}") for name in inside):
            faults.append(f"{licence} is missing")
    return faults


def wrong_in_archive(names: set[str]) -> list[str]:
    """Return what is missing in a source archive; names begin with the folder of the archive."""
    inside = {name.partition("/")[2] for name in names}
    needed = [
        *("LICENSE", "NOTICE", "README.md", "pyproject.toml", "constraints.txt", "Makefile"),
        *("CHANGELOG.md", "src/proce/__init__.py", "tests/conftest.py", "docs/index.md"),
        *("benchmarks/explain.py", "hardening/fuzz.py"),
    ]
    faults = [f"{name} is missing" for name in needed if name not in inside]
    odd = [name for name in inside if name.startswith((".venv", "build/")) or "__pycache__" in name]
    return faults + [f"{name} does not belong there" for name in sorted(odd)]


def try_out(package: Path, folder: Path) -> str:
    """Install a package into a bare environment; return what ``proce demo`` prints there."""
    python = _environment(folder)
    options = ("--quiet", "--disable-pip-version-check", "-c", ROOT / "constraints.txt")
    _run(python, "-m", "pip", "install", *options, package)
    return _run(python.with_name("proce"), "demo", folder=folder)


def main() -> int:
    """Build, look and try; return 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--build-only", action="store_true", help="install nothing")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, archive = build(folder)
        with zipfile.ZipFile(wheel) as opened:
            faults = [f"{wheel.name}: {fault}" for fault in wrong_in_wheel(set(opened.namelist()))]
        with tarfile.open(archive) as opened:
            faults += [f"{archive.name}: {why}" for why in wrong_in_archive(set(opened.getnames()))]
        print(f"{wheel.name}: {wheel.stat().st_size >> 10} kB, {archive.name}:", end=" ")
        print(f"{archive.stat().st_size >> 10} kB")
        for package in () if options.build_only else (wheel, archive):
            told = try_out(package, folder / package.suffix)
            print(f"{package.name}: proce demo prints {len(told.splitlines())} lines")
            if "approved" not in told:
                faults.append(f"{package.name}: proce demo told nothing: {told[-300:]}")
    for fault in faults:
        print(fault)
    return int(bool(faults))


def _environment(folder: Path) -> Path:
    """Make an environment; return its interpreter."""
    _run(sys.executable, "-m", "venv", folder)
    return folder / "bin" / "python"


def _run(*command: object, folder: Path | None = None) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
