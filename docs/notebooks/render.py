"""Write the notebooks as pages of the site: ``python docs/notebooks/render.py [NAME ...]``.

A page has the cells of its notebook in order, each with what it printed, ended with and drew.
Nothing is executed: ``execute.py`` does that, and writes the page as well. A test compares.
"""

import base64
import json
import re
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
_STYLE = re.compile(r"<style.*?</style>", re.DOTALL)
_OWN_LOOK = re.compile(r"<table border=\"1\" class=\"dataframe\">")  # the site has its own
_COLUMNS = re.compile(r"\S {2,}\S")  # lines up, so it must not wrap
_ROW_LOOK = re.compile(r"<tr style=\"text-align: right;\">")


def page(name: str, notebook: dict[str, Any]) -> tuple[str, dict[str, bytes]]:
    """Return the text of a page, and its pictures by their paths beside it."""
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    for number, cell in enumerate(notebook["cells"], 1):
        source = "".join(cell["source"]).removesuffix(";")  # it only keeps Jupyter from printing
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(_fenced(source, "python"))
        for output in cell["outputs"]:
            if picture := output.get("data", {}).get("image/png"):
                path = f"{name}/{number}.png"
                pictures[path] = base64.b64decode("".join(picture))
                parts.append(f"![What {_last_line(source)} draws]({path})")
            else:
                parts.append(_shown(output))
    parts.insert(1, f"This page is [a notebook]({name}.ipynb) with the outputs of its last run.")
    return "\n\n".join(part.strip("\n") for part in parts) + "\n", pictures


def _shown(output: dict[str, Any]) -> str:
    """Return a text or a table as Markdown."""
    if output["output_type"] == "stream":
        return _printed("".join(output["text"]))
    data = output["data"]
    if "text/html" not in data:
        return _printed("".join(data["text/plain"]))
    table = _STYLE.sub("", "".join(data["text/html"]))
    table = _ROW_LOOK.sub("<tr>", _OWN_LOOK.sub("<table>", table))
    lines = [line.strip() for line in table.splitlines() if line.strip()]
    return "\n".join(["<div style='overflow-x:auto'>", *lines, "</div>"])


def _printed(text: str) -> str:
    return _fenced(text, "" if _COLUMNS.search(text) else "output")


def _fenced(text: str, language: str = "") -> str:
    """Return a code block; its fence is longer than any in the text."""
    inside = [len(ticks) for ticks in re.findall(r"^`{3,}", text, re.MULTILINE)]
    fence = "`" * (max(inside, default=2) + 1)
    return f"{fence}{language}\n{text.strip(chr(10))}\n{fence}"


def _last_line(source: str) -> str:
    return f"`{source.strip().splitlines()[-1]}`"


def write(path: Path) -> None:
    """Write the page of a notebook and its pictures, and remove pictures that it no longer has."""
    text, pictures = page(path.stem, json.loads(path.read_text("utf-8")))
    path.with_suffix(".md").write_text(text, "utf-8")
    for old in path.with_suffix("").glob("*.png"):
        old.unlink()
    for name, content in pictures.items():
        goal = path.parent / name
        goal.parent.mkdir(exist_ok=True)
        goal.write_bytes(content)


def main(names: list[str]) -> None:
    """Write the pages of some notebooks; without any name, of all."""
    for path in [FOLDER / f"{name}.ipynb" for name in names] or sorted(FOLDER.glob("*.ipynb")):
        write(path)
        print(f"{path.stem}.md: {path.with_suffix('.md').stat().st_size // 1000} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
