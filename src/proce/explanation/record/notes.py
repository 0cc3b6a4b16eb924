"""What the readers of explained rows should know; a text that rows share is kept once."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from proce.arrays import Array
from proce.explanation.record.lines import lines_of


@dataclass(frozen=True, eq=False)
class Notes:
    """The notes of explained rows, such as cells that are missing and so stay as they are.

    Attributes
    ----------
    texts
        Every text once.
    owner
        ``(n,)``, the index of the explained row that each note belongs to; ascending.
    text
        ``(n,)``, the position of each note's text; those of a row in the order of reading.
    """

    texts: tuple[str, ...]
    owner: Array
    text: Array

    @classmethod
    def collect(cls, parts: Iterable[tuple[Array, str]]) -> "Notes":
        """Return notes that were given one after the other, each for some rows."""
        known: dict[str, int] = {}
        owners, codes = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for rows, text in parts:
            owners.append(rows)
            codes.append(np.full_like(rows, known.setdefault(text, len(known))))
        owner = np.concatenate(owners)
        order = np.argsort(owner, kind="stable")
        return cls(tuple(known), owner[order], np.concatenate(codes)[order])

    @classmethod
    def of(cls, by_row: Sequence[Sequence[str]]) -> "Notes":
        """Return the notes of rows that are given as texts."""
        known: dict[str, int] = {}
        codes = [known.setdefault(text, len(known)) for texts in by_row for text in texts]
        counts = np.array([len(texts) for texts in by_row], dtype=np.int64)
        owner = np.repeat(np.arange(len(by_row)), counts)
        return cls(tuple(known), owner, np.array(codes, dtype=np.int64))

    @classmethod
    def concatenate(cls, parts: Sequence["Notes"]) -> "Notes":
        """Return the notes of some parts, the rows of each after those of the one before."""
        known: dict[str, int] = {}
        codes = []
        for part in parts:
            own = [known.setdefault(text, len(known)) for text in part.texts]
            codes.append(np.array(own, dtype=np.int64)[part.text])
        owner = np.concatenate([part.owner for part in parts])
        return cls(tuple(known), owner, np.concatenate(codes))

    def of_row(self, row: int) -> tuple[str, ...]:
        """Return the notes of one row."""
        first, last = np.searchsorted(self.owner, np.array([row, row + 1])).tolist()
        return tuple(self.texts[code] for code in self.text[first:last].tolist())

    def by_row(self, n_rows: int) -> list[list[str]]:
        """Return the notes of each of so many rows."""
        notes: list[list[str]] = [[] for _ in range(n_rows)]
        for row, code in zip(self.owner.tolist(), self.text.tolist(), strict=True):
            notes[row].append(self.texts[code])
        return notes

    def owned_by(self, rows: Array) -> "Notes":
        """Return the notes of some rows, renumbered to the order given."""
        lines, owner = lines_of(self.owner, rows)
        return replace(self, owner=owner, text=self.text[lines])

    def without(self, is_withheld: Callable[[str], bool]) -> "Notes":
        """Return the notes but for those whose text is withheld."""
        kept = np.array([not is_withheld(text) for text in self.texts], dtype=np.bool_)
        texts = [self.texts[code] for code in np.flatnonzero(kept).tolist()]
        lines = kept[self.text]
        return Notes(tuple(texts), self.owner[lines], (kept.cumsum(0) - 1)[self.text[lines]])
