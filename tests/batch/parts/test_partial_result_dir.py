"""A folder for parts: marked, locked, and nobody else's files are touched in it."""

import json
import shutil
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from proce.batch.parts.partial_result_dir import PartialResultDir
from proce.batch.parts.spans import Span
from proce.errors import FileError
from proce.files import draft_of

FIRST = Span(0, 8)
MARKER = "proce-parts.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "result.csv.parts"


def opened(
    folder: Path, request: str = "1", *, restart: bool = False
) -> AbstractContextManager[PartialResultDir]:
    return PartialResultDir.open(folder, request, restart)


def finish(directory: PartialResultDir, span: Span = FIRST) -> None:
    """Write the files of a finished part."""
    directory.path(span, "results.parquet").write_text("results")
    directory.path(span, "outcomes.parquet").write_text("outcomes")


def unfinished(folder: Path, request: str = "1") -> None:
    with opened(folder, request, restart=False) as directory:
        finish(directory)


def test_a_place_without_parts_goes_away(folder: Path) -> None:
    with opened(folder) as directory:
        assert (folder / MARKER).exists()
        directory.path(FIRST, "results.parquet").write_text("never finished")
    assert not folder.exists()


def test_the_same_request_takes_up_what_is_finished(folder: Path) -> None:
    unfinished(folder)
    with opened(folder) as directory:
        assert directory.spans() == [FIRST]


def test_what_a_killed_process_left_is_no_part_and_goes_away(folder: Path) -> None:
    unfinished(folder)
    with opened(folder) as directory:
        half = directory.path(Span(8, 8), "results.parquet")
        half.write_text("no outcomes came after it")
        outcomes = directory.path(Span(8, 8), "outcomes.parquet")
        with draft_of(outcomes) as draft:
            draft.write_text("half")
        outcomes.rename(draft)
    with opened(folder) as directory:
        assert directory.spans() == [FIRST]
        assert not half.exists()
        assert not draft.exists()
        assert len(directory.files()) == 2


def test_another_request_is_refused_until_it_starts_anew(folder: Path) -> None:
    unfinished(folder)
    other = opened(folder, "2", restart=False)
    with pytest.raises(FileError, match=r"holds 1 part of an unfinished run.*--restart"), other:
        pass
    with opened(folder, "2", restart=True) as directory:
        assert directory.spans() == []
        assert len(list(folder.iterdir())) == 2  # the marker and the lock


@pytest.mark.parametrize("restart", [False, True])
def test_a_folder_that_is_not_ours_is_refused_and_left_as_it_is(
    folder: Path, restart: bool
) -> None:
    folder.mkdir()
    (folder / "00000000.parquet").write_text("mine")
    (folder / "request.json").write_text("{}")
    directory = opened(folder, restart=restart)
    with (
        pytest.raises(FileError, match=r"did not make \(it holds 00000000.parquet, requ"),
        directory,
    ):
        pass
    assert {path.name for path in folder.iterdir()} == {"00000000.parquet", "request.json"}


@pytest.mark.parametrize("restart", [False, True])
def test_what_somebody_keeps_in_our_folder_stays(folder: Path, restart: bool) -> None:
    """Not even a file that looks like a part of another run is removed."""
    unfinished(folder)
    kept = ["notes.txt", "0123456789abcdef-000000000000-000000000008.outcomes.parquet"]
    for name in kept:
        (folder / name).write_text("mine")
    (folder / "sub").mkdir()
    with opened(folder, restart=restart) as directory:
        assert len(directory.spans()) == (not restart)
        directory.clear()
    assert {path.name for path in folder.iterdir()} == {*kept, "sub"}
    assert all((folder / name).read_text() == "mine" for name in kept)


def test_an_empty_folder_is_taken(folder: Path) -> None:
    folder.mkdir()
    unfinished(folder)
    assert (folder / MARKER).exists()


def test_a_file_or_a_link_in_its_place_is_refused(folder: Path, tmp_path: Path) -> None:
    folder.write_text("mine")
    with (
        pytest.raises(FileError, match="is no folder"),
        opened(folder, restart=True),
    ):
        pass
    assert folder.read_text() == "mine"
    folder.unlink()
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    with (
        pytest.raises(FileError, match="is no folder"),
        opened(folder, restart=True),
    ):
        pass


@pytest.mark.parametrize("text", ["", "[]", '{"about": "", "run": "../x", "request": "1"}'])
def test_a_damaged_marker_is_not_trusted(folder: Path, text: str) -> None:
    unfinished(folder)
    before = {path.name for path in folder.iterdir()}
    (folder / MARKER).write_text(text)
    with (
        pytest.raises(FileError, match="damaged"),
        opened(folder, restart=True),
    ):
        pass
    assert {path.name for path in folder.iterdir()} == before


def test_the_marker_says_what_the_folder_is(folder: Path) -> None:
    unfinished(folder)
    assert json.loads((folder / MARKER).read_text())["about"].startswith("Unfinished results")


def test_two_runs_do_not_use_one_folder(folder: Path) -> None:
    with opened(folder) as directory:
        finish(directory)
        second = opened(folder, restart=True)
        with pytest.raises(FileError, match="another run is using"), second:
            pass
        assert directory.spans() == [FIRST]


def test_a_lock_that_its_holder_removed_is_no_lock(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run before ends, and removes its folder, just after the next one opened the lock."""
    from proce.batch.parts import partial_result_dir as module

    usual = module._open_lock
    calls: list[Path] = []

    def removed_once(path: Path) -> object:
        lock = usual(path)
        if not calls:
            (path / "proce-parts.lock").unlink()
            path.rmdir()
        calls.append(path)
        return lock

    monkeypatch.setattr(module, "_open_lock", removed_once)
    with opened(folder) as directory:
        finish(directory)
    assert len(calls) == 2
    assert (folder / MARKER).exists()


def test_a_folder_that_somebody_removes_meanwhile_holds_nothing(folder: Path) -> None:
    with opened(folder) as directory:
        finish(directory)
        shutil.rmtree(folder)
        assert directory.spans() == []
        with pytest.raises(FileNotFoundError, match=r"result.csv.parts"):
            finish(directory)
    assert not folder.exists()
