"""What is fuzzed: a reader, what it is fed to begin with, and what must hold of any input."""

import random
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fuzzing.mutations import changed_bytes, changed_record

_RECORD_SHARE = 0.8  # of the changes of JSON that keep it JSON


@dataclass(frozen=True)
class Target:
    """A reader of texts or files that other people wrote.

    Attributes
    ----------
    name
        What the command calls it.
    check
        Reads some bytes and uses what was read. A ``ProceError`` refuses the bytes; any other
        exception or warning is a finding.
    seeds
        Texts to begin with.
    words
        The words and signs of the language.
    is_json
        Whether most changes should leave JSON text.
    seal
        Makes checksums fit again after a change; most changes are sealed, so that what lies behind
        the checksums is reached.
    """

    name: str
    check: Callable[[bytes], None]
    seeds: Sequence[bytes]
    words: Sequence[bytes] = ()
    is_json: bool = False
    seal: Callable[[bytes], bytes] | None = field(default=None)

    def changed(self, content: bytes, draw: random.Random) -> bytes:
        """Return some bytes after a change at random."""
        if self.is_json and draw.random() < _RECORD_SHARE:
            content = changed_record(content, draw, self.seeds)
        else:
            content = changed_bytes(content, draw, self.words, self.seeds)
        if self.seal is not None and draw.random() < 0.9:
            content = self.seal(content)
        return content


def one_in(number: int, content: bytes) -> bool:
    """Whether an input is among those of which more is tried: always the same ones."""
    return zlib.crc32(content) % number == 0


def text_of(content: bytes) -> str:
    """Return bytes as text; those that are no text become halves of characters."""
    return content.decode("utf-8", "surrogateescape")
