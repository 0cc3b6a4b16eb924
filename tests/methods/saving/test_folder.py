"""The folder is always whole, is never taken for another, and is read with suspicion."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from proce import NotFittedError, PersistenceError, ProCE, SearchError, SearchSettings
from proce.methods.saving.folder import checksum

from ...worlds import SCHEMA, TINY, bank, people


@pytest.fixture
def folder(banker: ProCE, tmp_path: Path) -> Path:
    return banker.save(tmp_path / "saved")


def contents(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def resealed(folder: Path, **changes: Any) -> None:
    """Change fields of the manifest, and its sum with them."""
    path = folder / "manifest.json"
    record = json.loads(path.read_text("utf-8")) | changes
    del record["sha256"]
    path.write_text(json.dumps({**record, "sha256": checksum(record)}), "utf-8")


def with_field(folder: Path, part: str, name: str, value: object) -> None:
    """Change one field of a part of the manifest, and the sum of all."""
    record = json.loads((folder / "manifest.json").read_text("utf-8"))
    resealed(folder, **{part: record[part] | {name: value}})


def test_what_is_in_it(folder: Path) -> None:
    kinds = sorted(each.name.split("-")[0] for each in folder.iterdir())
    assert kinds == ["manifest.json", "tensors"]
    record = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert record["format"] == 1
    assert {"python", "torch", "scikit-learn"} <= set(record["versions"])


def test_an_explainer_that_is_not_fitted() -> None:
    with pytest.raises(NotFittedError):
        ProCE(bank).save("nowhere")


def test_saving_again_replaces_all(folder: Path, banker: ProCE) -> None:
    before = contents(folder)
    banker.save(folder, rows=False)
    after = contents(folder)
    assert len(after) == len(before)
    assert sum(map(len, after.values())) < sum(map(len, before.values()))
    assert len(ProCE.load(folder, model=bank).fitted_.rows) == 0


@pytest.mark.parametrize("stop_at", [0, 1])
def test_a_save_that_fails_leaves_what_was_there(
    stop_at: int, folder: Path, banker: ProCE, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as on a full disk: at the tensors, or at the manifest."""
    before = contents(folder)
    writes = []
    write = Path.write_bytes

    def fails(path: Path, content: bytes) -> int:
        writes.append(path)
        if len(writes) <= stop_at:
            return write(path, content)
        write(path, content[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fails)
    with pytest.raises(PersistenceError, match=r"No space left on device.*as it was"):
        banker.save(folder, rows=False)
    monkeypatch.undo()
    now = contents(folder)
    assert {name: now[name] for name in before} == before
    assert len(ProCE.load(folder, model=bank).fitted_.rows) == 300
    banker.save(folder)
    assert contents(folder).keys() == before.keys()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs a signal that kills")
def test_a_save_that_is_killed_leaves_what_was_there(folder: Path, tmp_path: Path) -> None:
    """The process stops for good just before the new manifest is put in place."""
    before = contents(folder)
    loaded = ProCE.load(folder, model=bank)
    path = tmp_path / "copy"
    loaded.save(path, rows=False)
    program = (
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "from proce.methods.saving import folder as saved_folder\n"
        "from proce.methods.saving.folder import read_manifest\n"
        "old, new = map(Path, sys.argv[1:])\n"
        "manifest = read_manifest(new)\n"
        "content = (new / manifest.tensors.name).read_bytes()\n"
        "saved_folder.write_file(old, 'tensors', 'safetensors', content)\n"
        "os.replace = lambda *names: (print('here', flush=True), time.sleep(600))\n"
        "saved_folder.write_manifest(old, manifest)\n"
    )
    command = [sys.executable, "-c", program, str(folder), str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)
    process.stdout.close()
    now = contents(folder)
    assert len(now) > len(before)
    assert {name: now[name] for name in before} == before
    ProCE.load(folder, model=bank).save(folder)
    assert contents(folder).keys() == before.keys()


def test_a_folder_with_something_else_is_refused(banker: ProCE, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(PersistenceError, match=r"holds 'thesis.tex'.*new folder"):
        banker.save(tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_in_the_place_of_the_folder(banker: ProCE, tmp_path: Path) -> None:
    (tmp_path / "saved").write_text("a file")
    with pytest.raises(PersistenceError, match="not a folder"):
        banker.save(tmp_path / "saved")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(banker: ProCE, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(PersistenceError, match="Permission denied"):
        banker.save(tmp_path / "saved")
    tmp_path.chmod(0o700)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(PersistenceError, match="there is no folder"):
        ProCE.load(tmp_path / "nowhere")


def test_a_folder_that_is_no_explainer(tmp_path: Path) -> None:
    with pytest.raises(PersistenceError, match=r"holds no manifest.json"):
        ProCE.load(tmp_path)


def test_a_folder_from_the_future(folder: Path) -> None:
    resealed(folder, format=7, proce="9.4.2", warp="drive")
    with pytest.raises(PersistenceError, match=r"proce 9.4.2, in format 7.*Update proce"):
        ProCE.load(folder, model=bank)


def test_a_name_that_leads_out_of_the_folder(folder: Path, tmp_path: Path) -> None:
    record = json.loads((folder / "manifest.json").read_text("utf-8"))
    os.replace(folder / record["tensors"]["name"], tmp_path / "tensors.safetensors")
    resealed(folder, tensors={**record["tensors"], "name": "../tensors.safetensors"})
    with pytest.raises(PersistenceError, match=r"tensors.name: String should match pattern"):
        ProCE.load(folder, model=bank)


@pytest.mark.parametrize("which", ["manifest.json", "tensors"])
def test_links_are_not_followed(which: str, folder: Path, tmp_path: Path) -> None:
    path = next(each for each in folder.iterdir() if each.name.startswith(which))
    path.rename(tmp_path / path.name)
    path.symlink_to(tmp_path / path.name)
    with pytest.raises(PersistenceError, match="is a link"):
        ProCE.load(folder, model=bank)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with a name")
def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    path = next(each for each in folder.iterdir() if each.name.startswith("tensors"))
    path.unlink()
    os.mkfifo(path)
    began = time.monotonic()
    with pytest.raises(PersistenceError, match="not a plain file"):
        ProCE.load(folder, model=bank)
    assert time.monotonic() - began < 60


def test_a_file_of_another_length_is_not_read(folder: Path) -> None:
    path = next(each for each in folder.iterdir() if each.name.startswith("tensors"))
    with path.open("ab") as stream:
        stream.truncate(2**40)  # a hole: nothing is written
    with pytest.raises(PersistenceError, match=r"1,099,511,627,776 bytes; expected at most"):
        ProCE.load(folder, model=bank)


ABSURD = ("population_size", "n_offspring", "stop_window", "n_refits", "latent_size")


@pytest.mark.parametrize("name", ABSURD)
def test_settings_that_no_memory_holds_are_refused(name: str, folder: Path) -> None:
    with pytest.raises(SearchError, match=f"{name} is 1000000000000; expected .* to "):
        SearchSettings(**{name: 10**12})
    with_field(folder, "settings", name, 10**12)
    with pytest.raises(PersistenceError, match=f"manifest.json.*{name} is 1000000000000"):
        ProCE.load(folder, model=bank)


@pytest.mark.parametrize(
    ("part", "name", "value", "message"),
    [
        ("tensors", "size", 10**12, "is not the file that was saved: its length"),
        ("options", "threshold", 5.0, "manifest.json.*threshold"),
    ],
)
def test_a_length_or_a_threshold_that_cannot_be_is_refused(
    part: str, name: str, value: object, message: str, folder: Path
) -> None:
    with_field(folder, part, name, value)
    with pytest.raises(PersistenceError, match=message):
        ProCE.load(folder, model=bank)


def test_an_explainer_with_the_largest_seed_is_saved_and_loaded(tmp_path: Path) -> None:
    explainer = ProCE(bank, SCHEMA, settings=TINY, seed=2**63 - 1).fit(people(60))
    assert ProCE.load(explainer.save(tmp_path / "saved"), model=bank).seed == 2**63 - 1
