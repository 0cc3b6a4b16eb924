"""The code blocks of the documentation, one after the other."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(?P<language>\S*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block with the language of its fence and the line of its first line."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def is_output(self) -> bool:
        """Whether the block shows what the one before it printed; `output` wraps in the site."""
        return self.language in ("", "output")

    @property
    def padded(self) -> str:
        """The text at its own line numbers, which errors then name."""
        return "\n" * (self.line - 1) + self.text

    @property
    def commands(self) -> list[str]:
        """The commands of a shell block, without comments; quotes may span lines."""
        if self.language != "shell":
            return []
        commands, begun = [], ""
        for line in self.text.replace("\\\n", " ").splitlines():
            begun += line
            try:
                words = shlex.split(begun, comments=True)
            except ValueError:  # a quote is open
                begun += "\n"
                continue
            commands += [begun] if words else []
            begun = ""
        return commands


def is_rendered(page: Path) -> bool:
    """Whether a page is written from a notebook, whose code the notebook's own test runs."""
    return page.with_suffix(".ipynb").exists()


PAGES = [
    ROOT / "README.md",
    *(page for page in sorted(ROOT.glob("docs/**/*.md")) if not is_rendered(page)),
]


def named(page: Path) -> str:
    """Return what a page is called in the name of a test."""
    return page.relative_to(ROOT).with_suffix("").as_posix()


def blocks_of(page: Path) -> list[Block]:
    """Return the blocks of a page in order."""
    text = page.read_text("utf-8")
    return [
        Block(page, text.count("\n", 0, found.start()) + 2, found["language"], found["text"])
        for found in _BLOCK.finditer(text)
    ]
