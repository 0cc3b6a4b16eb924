"""Photograph the answer of the first page: ``python docs/figures/answer.py``; it needs Chromium.

The ten lines of ``docs/index.md`` run as they stand there, and the top of the page that they write
is photographed, wide and narrow, light and dark: to the caution and how sure the answer is. Each
picture keeps the words of that part; a test runs the ten lines again and compares.
"""

import os
import re
import runpy
import tempfile
from collections.abc import Iterator
from html import unescape
from io import BytesIO
from pathlib import Path
from shutil import which
from typing import Any

from PIL import Image
from PIL.PngImagePlugin import PngInfo

FIGURES = Path(__file__).parent
INDEX = FIGURES.parent / "index.md"
SHAPES = {  # the width of the window, and the parts of the report that a picture shows
    "answer": (1160, ".summary, .flow"),
    "answer-narrow": (420, ".summary, .flow > section:first-child"),
}
MARGIN = 12  # around them
SHORTER = ".flow > section:nth-of-type(n + 3), .flow > .small { display: none }"
COLOURS = 96
PICTURES = [f"{name}-{scheme}.png" for name in SHAPES for scheme in ("light", "dark")]
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def ten_lines() -> str:
    """Return the code of the first page."""
    code = re.search(r"^```python\n(.*?)^```$", INDEX.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert code is not None
    return code[1]


def run(folder: Path) -> Path:
    """Run the ten lines in a folder; return the page that they write."""
    script = folder / "ten_lines.py"
    script.write_text(ten_lines(), "utf-8")
    before = Path.cwd()
    os.chdir(folder)
    try:
        runpy.run_path(str(script))
    finally:
        os.chdir(before)
    return folder / "answer.html"


def words(report: str) -> str:
    """Return what the photographed part of a report says, a line for each piece of text."""
    part = report[
        report.index('<div class="summary') : report.index('<section class="with-cards">')
    ]
    pieces = (unescape(piece).strip() for piece in re.split(r"<[^>]*>", part))
    return "\n".join(" ".join(piece.split()) for piece in pieces if piece)


def around(boxes: list[Any]) -> Any:
    """Return the rectangle that holds the boxes and a margin."""
    left, top = (min(box[side] for box in boxes) - MARGIN for side in "xy")
    right = max(box["x"] + box["width"] for box in boxes) + MARGIN
    bottom = max(box["y"] + box["height"] for box in boxes) + MARGIN
    return {"x": left, "y": top, "width": right - left, "height": bottom - top}


def photographs(page: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the png of each picture."""
    from playwright.sync_api import sync_playwright

    browser_path = which("chromium") or which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=ARGUMENTS)
        for name, (width, shown) in SHAPES.items():
            for scheme in ("light", "dark"):
                view = browser.new_page(
                    viewport={"width": width, "height": 800},
                    color_scheme="dark" if scheme == "dark" else "light",
                    device_scale_factor=2,
                )
                view.goto(page.as_uri())
                view.add_style_tag(content=SHORTER)
                boxes = [part.bounding_box() for part in view.locator(shown).all()]
                clip = around([box for box in boxes if box is not None])
                yield f"{name}-{scheme}.png", view.screenshot(clip=clip, full_page=True)
        browser.close()


def main() -> None:
    """Write the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        page = run(Path(folder))
        note = PngInfo()
        note.add_itxt("Description", words(page.read_text("utf-8")), zip=True)
        for name, png in photographs(page):
            picture = Image.open(BytesIO(png)).convert("RGB")
            few = picture.quantize(COLOURS, dither=Image.Dither.NONE)
            few.save(FIGURES / name, optimize=True, pnginfo=note)
            print(f"{name}: {few.width}x{few.height}, {(FIGURES / name).stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
