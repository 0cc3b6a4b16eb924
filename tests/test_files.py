"""Files that are whole or not there."""

import errno
import os
import stat
from pathlib import Path

import pytest

from proce.errors import FileError
from proce.files import (
    atomic_write,
    read_text,
    require_apart,
    require_folder,
    require_place,
    sha256_of,
    write_text,
)


def test_what_is_written_takes_its_place_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "result.csv"
    with atomic_write(path) as draft:
        draft.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError("full"), KeyboardInterrupt()])
def test_whatever_goes_wrong_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, error: BaseException
) -> None:
    path = tmp_path / "result.csv"
    path.write_text("old")
    with pytest.raises(type(error)), atomic_write(path) as draft:  # noqa: PT012
        draft.write_text("half")
        raise error
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_the_system_could_not_write_is_named(tmp_path: Path) -> None:
    """The person knows the file by its final name; the error is ours, and says what to do."""
    path = tmp_path / "result.csv"
    full = "cannot be written: No space left on device. Make room there, or write somewhere else."
    with pytest.raises(FileError) as caught, atomic_write(path):
        raise OSError(errno.ENOSPC, "[errno 28] bytes could not be written")
    assert str(caught.value) == f"{str(path)!r} {full}"
    assert caught.value.errno == errno.ENOSPC
    with pytest.raises(FileError, match="Permission denied") as caught, atomic_write(path) as draft:
        raise PermissionError(errno.EACCES, "Permission denied", str(draft))
    assert str(caught.value).startswith(f"{str(path)!r} cannot be written")
    with pytest.raises(FileError) as caught, atomic_write(path):
        raise OSError(errno.ENOSPC, "No space left on device", "elsewhere")
    assert str(caught.value) == f"'elsewhere' {full}"
    with pytest.raises(FileError, match=r"^wrong$"), atomic_write(path):
        raise FileError("wrong")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_or_a_device_is_never_replaced_by_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FileError, match="pipe' is a device, a pipe"):
        write_text(pipe, "new")
    with pytest.raises(FileError, match=r"--out .*pipe' is a device, a pipe"):
        require_place(pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


def test_text_is_read_with_or_without_a_mark_at_its_start(tmp_path: Path) -> None:
    path = tmp_path / "rules.txt"
    write_text(path, "é")
    assert read_text(path, "the rules") == "é"
    path.write_bytes("é".encode("utf-8-sig"))
    assert read_text(path, "the rules") == "é"


def test_text_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rules.txt"
    with pytest.raises(FileError, match=r"the rules .*rules.txt' cannot be read: No such file"):
        read_text(path, "the rules")
    path.write_bytes(b"\xe9")
    with pytest.raises(FileError, match="not UTF-8"):
        read_text(path, "the rules")


def test_a_place_is_tried_before_work_is_done_for_it(tmp_path: Path) -> None:
    require_place(tmp_path / "result.csv")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileError, match=r"--out .* does not exist; make it first"):
        require_place(tmp_path / "none" / "result.csv")
    with pytest.raises(FileError, match=r"test_files\.py' is no folder"):
        require_place(Path(__file__) / "result.csv")
    with pytest.raises(FileError, match="is a folder"):
        require_place(tmp_path)
    with pytest.raises(FileError, match="cannot be written"):
        require_place(Path("/proc/result.csv"))


def test_nothing_is_written_where_something_else_is_read(tmp_path: Path) -> None:
    rows, folder, link = tmp_path / "rows.csv", tmp_path / "rows", tmp_path / "link"
    rows.touch()
    folder.mkdir()
    link.symlink_to(folder)
    require_apart(tmp_path / "r.csv", "--out", {"ROWS": rows, "FOLDER": folder, "--id": None})
    with pytest.raises(FileError, match=r"--out and ROWS are both .*rows.csv.; write"):
        require_apart(folder / ".." / "rows.csv", "--out", {"ROWS": rows})
    for inside in (folder / "r.csv", link / "r.csv", link / "inner" / "r.csv"):
        with pytest.raises(FileError, match=r"--out .* lies in the folder .*, which is ROWS;"):
            require_apart(inside, "--out", {"--outcomes": None, "ROWS": folder})


def test_a_folder_is_made_where_there_is_none(tmp_path: Path) -> None:
    require_folder(tmp_path / "receipts", "--receipts")
    require_folder(tmp_path / "receipts", "--receipts")
    assert (tmp_path / "receipts").is_dir()
    with pytest.raises(FileError, match="--receipts"):
        require_folder(tmp_path / "none" / "receipts", "--receipts")


def test_the_sum_of_a_folder_is_that_of_its_names_and_contents(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "one").write_text("1")
    assert sha256_of(tmp_path / "a") == sha256_of(tmp_path / "b")
    # printf 1 | sha256sum
    known = "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"
    assert sha256_of(tmp_path / "a" / "one") == known
    (tmp_path / "b" / "one").rename(tmp_path / "b" / "two")
    assert sha256_of(tmp_path / "a") != sha256_of(tmp_path / "b")
