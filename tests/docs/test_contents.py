"""The documentation is whole: every page in the contents, every link, every public name."""

import re
from pathlib import Path

import pytest

import proce
import proce.errors
import proce.methods

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("**/*.md"))
GUIDE = ROOT / "CONTRIBUTING.md"
CONTENTS = (ROOT / "mkdocs.yml").read_text("utf-8")
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def text_of(page: Path) -> str:
    """Return a page without its code blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors_of(page: Path) -> set[str]:
    """Return what the headings of a page can be linked by."""
    titles = [re.sub(r"[^\w\s-]", "", title).strip() for title in HEADING.findall(text_of(page))]
    return {re.sub(r"[-\s]+", "-", title).lower() for title in titles}


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_page_is_in_the_contents(page: Path) -> None:
    name = re.escape(page.relative_to(DOCS).as_posix())
    assert re.search(rf" {name}$", CONTENTS, re.MULTILINE)


def test_pages_and_links_are_recognised() -> None:
    assert DOCS / "index.md" in PAGES
    assert ("quickstart.md", "") in LINK.findall(text_of(DOCS / "index.md"))


@pytest.mark.parametrize("page", [ROOT / "README.md", GUIDE, *PAGES], ids=named)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target, anchor in LINK.findall(text_of(page)):
        goal = (page.parent / target).resolve() if target else page
        assert goal.is_file(), f"{target} is not there"
        assert not anchor or anchor in anchors_of(goal), f"{target} has no heading #{anchor}"


def test_every_path_in_the_guide_for_contributors_exists() -> None:
    paths = set(re.findall(r"`((?:src|tests|docs|benchmarks)/[\w/.]+)`", GUIDE.read_text("utf-8")))
    assert "tests/contracts/method_cases.py" in paths
    existing = [path for path in paths if "NAME" not in path]  # NAME is for the reader to fill in
    assert [path for path in existing if not (ROOT / path).exists()] == []


def test_the_reference_has_every_public_name() -> None:
    documented = set(re.findall(r"^::: (\S+)$", (DOCS / "api.md").read_text("utf-8"), re.MULTILINE))
    errors = set(vars(proce.errors))  # documented as one module
    public = {f"proce.{name}" for name in set(proce.__all__) - errors - {"__version__"}}
    own = set(proce.methods.__all__) - set(proce.__all__)
    assert documented == public | {f"proce.methods.{name}" for name in own} | {"proce.errors"}
