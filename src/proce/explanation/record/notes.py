"""What the readers of explained rows should know; a text that rows share is kept once."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

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
    owner: Tensor
    text: Tensor

    @classmethod
    def collect(cls, parts: Iterable[tuple[Tensor, str]]) -> "Notes":
        """Return notes that were given one after the other, each for some rows."""
        known: dict[str, int] = {}
        owners, codes = [torch.zeros(0, dtype=torch.long)], [torch.zeros(0, dtype=torch.long)]
        for rows, text in parts:
            owners.append(rows)
            codes.append(torch.full_like(rows, known.setdefault(text, len(known))))
        owner = torch.cat(owners)
        order = owner.argsort(stable=True)
        return cls(tuple(known), owner[order], torch.cat(codes)[order])

    @classmethod
    def of(cls, by_row: Sequence[Sequence[str]]) -> "Notes":
        """Return the notes of rows that are given as texts."""
        known: dict[str, int] = {}
        codes = [known.setdefault(text, len(known)) for texts in by_row for text in texts]
        counts = torch.tensor([len(texts) for texts in by_row], dtype=torch.long)
        owner = torch.repeat_interleave(torch.arange(len(by_row)), counts)
        return cls(tuple(known), owner, torch.tensor(codes, dtype=torch.long))

    @classmethod
    def concatenate(cls, parts: Sequence["Notes"]) -> "Notes":
        """Return the notes of some parts, the rows of each after those of the one before."""
        known: dict[str, int] = {}
        codes = []
        for part in parts:
            own = [known.setdefault(text, len(known)) for text in part.texts]
            codes.append(torch.tensor(own, dtype=torch.long)[part.text])
        return cls(tuple(known), torch.cat([part.owner for part in parts]), torch.cat(codes))

    def of_row(self, row: int) -> tuple[str, ...]:
        """Return the notes of one row."""
        first, last = torch.searchsorted(self.owner, torch.tensor([row, row + 1])).tolist()
        return tuple(self.texts[code] for code in self.text[first:last].tolist())

    def by_row(self, n_rows: int) -> list[list[str]]:
        """Return the notes of each of so many rows."""
        notes: list[list[str]] = [[] for _ in range(n_rows)]
        for row, code in zip(self.owner.tolist(), self.text.tolist(), strict=True):
            notes[row].append(self.texts[code])
        return notes

    def owned_by(self, rows: Tensor) -> "Notes":
        """Return the notes of some rows, renumbered to the order given."""
        lines, owner = lines_of(self.owner, rows)
        return replace(self, owner=owner, text=self.text[lines])

    def without(self, is_withheld: Callable[[str], bool]) -> "Notes":
        """Return the notes but for those whose text is withheld."""
        kept = torch.tensor([not is_withheld(text) for text in self.texts], dtype=torch.bool)
        texts = [self.texts[code] for code in torch.nonzero(kept).flatten().tolist()]
        lines = kept[self.text]
        return Notes(tuple(texts), self.owner[lines], (kept.cumsum(0) - 1)[self.text[lines]])
