"""What a picture says."""

from typing import Any


def words(ax: Any) -> list[str]:
    """Return every text of the axes."""
    ticks = [*ax.get_xticklabels(), *ax.get_yticklabels()]
    return [text.get_text() for text in [*ax.texts, *ticks, ax.title, ax.xaxis.label]]
