"""The licences of everything that the package needs, with all extras that it is served with.

``python hardening/licences.py`` writes the table of ``docs/licences.md`` anew. A distribution whose
licence is neither in the list of permitted ones nor named with a reason is refused, and so is one
that does not say what its licence is.
"""

import re
import sys
import tomllib
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "licences.md"
EXTRAS = ("serve", "batch", "onnx", "postgres")
PERMITTED = frozenset(
    {
        *("MIT", "MIT-0", "MIT-CMU", "ISC", "Zlib", "BSL-1.0", "PSF-2.0", "CC0-1.0", "0BSD"),
        *("BSD", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "LLVM-exception"),
    }
)
NAMED = {  # other licences that are fine, and why
    "tqdm": "Its MPL-2.0 part asks that changes of its own files are published; none are made.",
}
_SAYS_NOTHING = {"skops": "MIT"}  # read in the licence file of the distribution
_BEGINNINGS = {  # of the field License, of distributions that have no expression
    "3-clause bsd": "BSD-3-Clause",
    "2-clause bsd": "BSD-2-Clause",
    "bsd 3-clause": "BSD-3-Clause",
    "bsd 2-clause": "BSD-2-Clause",
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "mit license": "MIT",
    "isc license": "ISC",
}
_CLASSIFIERS = {
    "MIT License": "MIT",
    "BSD License": "BSD",
    "Apache Software License": "Apache-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "ISC License (ISCL)": "ISC",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
_NVIDIA = re.compile(r"nvidia-.*|cuda-.*|triton")  # come with torch where it is built for CUDA


@dataclass(frozen=True)
class Licensed:
    """A distribution and its licence; the licence is empty where it is not known."""

    name: str
    licence: str

    @property
    def is_permitted(self) -> bool:
        """Whether the licence asks for nothing but to be named, or is named with a reason."""
        parts = re.split(r"\s+(?:AND|OR|WITH)\s+", self.licence.replace("(", "").replace(")", ""))
        return self.name in NAMED or all(part in PERMITTED for part in parts)


def licence_of(found: Distribution) -> str:
    """Return the licence of a distribution, as an expression where it gives one."""
    fields = found.metadata
    name = normalized(fields["Name"])
    if name in _SAYS_NOTHING:
        return _SAYS_NOTHING[name]
    stated = (fields.get("License-Expression") or "").strip()
    words = (fields.get("License") or "").strip()
    if not stated and "\n" not in words:
        stated = next(
            (sure for start, sure in _BEGINNINGS.items() if words.lower().startswith(start)), words
        )
    if stated and Licensed(name, stated).is_permitted:
        return stated
    lines = fields.get_all("Classifier") or ()
    classifiers = [line.split(" :: ")[-1] for line in lines if line.startswith("License")]
    known = [_CLASSIFIERS[words] for words in classifiers if words in _CLASSIFIERS]
    return " AND ".join(known) or stated


def normalized(name: str) -> str:
    """Return a name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def closure() -> list[Licensed]:
    """Return everything that is installed with the package and its extras, by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    optional = project["optional-dependencies"]
    waiting = [*project["dependencies"], *(line for name in EXTRAS for line in optional[name])]
    seen: dict[str, set[str]] = {}
    found: dict[str, Licensed] = {}
    requirements = [(Requirement(line), {""}) for line in waiting]
    while requirements:
        needed, extras = requirements.pop()
        if needed.marker and not any(needed.marker.evaluate({"extra": e}) for e in extras):
            continue
        name = normalized(needed.name)
        wanted = {"", *needed.extras}
        if wanted <= seen.get(name, set()):
            continue
        seen[name] = seen.get(name, set()) | wanted
        own = distribution(name)
        found[name] = Licensed(name, licence_of(own))
        requirements += [(Requirement(line), seen[name]) for line in own.requires or ()]
    return [found[name] for name in sorted(found)]


def table(licensed: list[Licensed]) -> str:
    """Return the table of the page; what only CUDA needs is not in it."""
    lines = ["| package | licence | note |", "| --- | --- | --- |"]
    for each in licensed:
        if not _NVIDIA.fullmatch(each.name):
            lines.append(f"| {each.name} | {each.licence} | {NAMED.get(each.name, '')} |")
    return "\n".join(lines) + "\n"


def refused(licensed: list[Licensed]) -> list[Licensed]:
    """Return the distributions whose licence is not permitted, or not known."""
    return [e for e in licensed if not e.is_permitted and not _NVIDIA.fullmatch(e.name)]


def main() -> int:
    """Write the page; return 1 where a licence is not permitted."""
    try:
        licensed = closure()
    except PackageNotFoundError as error:
        print(f"{error}; install the package with all of {', '.join(EXTRAS)} first.")
        return 1
    head = PAGE.read_text("utf-8").partition("| package |")[0]
    PAGE.write_text(head + table(licensed), encoding="utf-8")
    for each in refused(licensed):
        print(f"{each.name}: {each.licence or 'no licence'} is not permitted")
    return int(bool(refused(licensed)))


if __name__ == "__main__":
    sys.exit(main())
