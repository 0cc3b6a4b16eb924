"""What the commands show: text on stdout, bars on a terminal's stderr and nowhere else."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from proce.training import Epoch


@contextmanager
def training_bar(title: str) -> "Iterator[Callable[[Epoch], None]]":
    """Draw a bar while a network learns; the callback moves it."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=None)

        def move(epoch: "Epoch") -> None:
            bar.update(task, completed=epoch.number, total=epoch.n_epochs)

        yield move


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Return rows of text in columns under a head."""
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    lines = [head, tuple("-" * width for width in widths), *rows]
    padded = ["  ".join(cell.ljust(w) for cell, w in zip(r, widths, strict=True)) for r in lines]
    return "\n".join(line.rstrip() for line in padded)
