"""A folder of results holds the parts of one request, all of them once it says so."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

from proce import Progress
from proce.batch.cluster import store
from proce.batch.cluster.explainer_payload import ExplainerPayload
from proce.batch.cluster.outputs import MARKER, open_output
from proce.batch.cluster.plan import plan_run
from proce.batch.cluster.run import run_plan
from proce.batch.cluster.task import explain_piece
from proce.errors import FileError

from ... import worlds
from .jobs import OPTIONS, FolderOf, lines, parts, run


def unfinish(out: str) -> None:
    """Let a folder say that it is not finished."""
    marker = Path(out) / MARKER
    told = json.loads(marker.read_text())
    marker.write_text(json.dumps({**told, "finished": False}))


def test_a_task_of_an_ended_run_writes_nothing_among_the_parts_of_the_next(
    payload: ExplainerPayload, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    request = request_of(folder_of(a=worlds.people(9, seed=1)), piece_rows=3)
    old = plan_run(payload, request)
    open_output(old.assignment.out, old.marker, restart=False)
    assert explain_piece(old.payload, old.assignment, old.pieces[0]).failure is None
    other = replace(request, options={**OPTIONS, "n": 2})
    new = plan_run(payload, replace(other, restart=True))
    open_output(new.assignment.out, new.marker, restart=True)
    late = explain_piece(old.payload, old.assignment, old.pieces[-1])
    assert "was taken by another run" in (late.failure or "")
    assert not parts(request.out)
    assert not run(payload, other, client).failures
    assert lines(request.out).groupby(["row"])["rank"].max().eq(2).any()
    assert len(parts(request.out)) == 3


def test_a_folder_that_is_taken_while_a_draft_is_written_gets_no_part(
    payload: ExplainerPayload, folder_of: FolderOf, request_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = request_of(folder_of(a=worlds.people(3, seed=1)))
    old = plan_run(payload, request)
    new = plan_run(payload, replace(request, options={**OPTIONS, "n": 2}, restart=True))
    out, write = old.assignment.out, store._write_draft
    open_output(out, old.marker, restart=False)

    def take(files: Any, draft: str, content: bytes) -> None:
        write(files, draft, content)
        monkeypatch.setattr(store, "_write_draft", write)
        open_output(out, new.marker, restart=True)

    monkeypatch.setattr(store, "_write_draft", take)
    report = explain_piece(old.payload, old.assignment, old.pieces[0])
    assert "was taken by another run" in (report.failure or "")
    assert not report.cannot_write
    assert [path.name for path in Path(request.out).iterdir()] == [MARKER]


def test_a_part_of_another_request_is_not_taken_for_ours(
    payload: ExplainerPayload, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    """It was written between the look at the marker and the end of the write."""
    request = request_of(folder_of(a=worlds.people(3, seed=1)))
    run(payload, request, client)
    (old,) = parts(request.out)
    other = replace(request, options={**OPTIONS, "n": 2}, out=request.out + "-other")
    run(payload, other, client)
    (own,) = parts(other.out)
    expected = lines(other.out)
    own.unlink()
    shutil.copy(old, other.out)
    assert run(payload, other, client).n_done_before == 0
    assert parts(other.out) == [own]
    assert lines(other.out).equals(expected)


def test_a_folder_that_lacks_a_part_is_not_called_finished(
    payload: ExplainerPayload, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    request = request_of(folder_of(a=worlds.people(6, seed=1)), piece_rows=3)
    plan = plan_run(payload, request)

    def remove(progress: Progress) -> None:
        if progress.done == progress.total:
            parts(request.out)[0].unlink()

    with pytest.raises(FileError, match=r"1 of the parts .* removed .*'part-00000-00000-.*again"):
        run_plan(plan, client, remove)
    assert json.loads((Path(request.out) / MARKER).read_text())["finished"] is False
    assert run(payload, request, client).n_done_before == 3
    assert json.loads((Path(request.out) / MARKER).read_text())["finished"] is True


def test_a_finished_result_is_not_discarded(
    payload: ExplainerPayload, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    request = request_of(folder_of(a=worlds.people(3, seed=1)))
    run(payload, request, client)
    kept = {part: part.read_bytes() for part in parts(request.out)}
    for options in (OPTIONS, {**OPTIONS, "n": 2}):
        with pytest.raises(FileError, match="holds a finished result"):
            plan_run(payload, replace(request, options=options, restart=True))
    with pytest.raises(FileError, match=r"options differ\). Write into a new folder\.$"):
        plan_run(payload, replace(request, options={**OPTIONS, "n": 2}))
    assert {part: part.read_bytes() for part in parts(request.out)} == kept


def test_a_folder_with_our_names_for_folders_is_refused(
    payload: ExplainerPayload, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    request = request_of(folder_of(a=worlds.people(3, seed=1)))
    run(payload, request, client)
    unfinish(request.out)
    (part,) = parts(request.out)
    part.unlink()
    part.mkdir()
    with pytest.raises(FileError, match="which no run of ours writes"):
        plan_run(payload, replace(request, restart=True))


def test_a_run_that_ended_while_it_wrote_the_marker_is_no_hindrance(
    payload: ExplainerPayload, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    request = request_of(folder_of(a=worlds.people(3, seed=1)))
    out = Path(request.out)
    out.mkdir()
    (out / f".{MARKER}.{'0' * 32}.draft").write_text("{")
    run(payload, request, client)
    assert sorted(path.name for path in out.iterdir())[:1] == [MARKER]
    assert len(parts(out)) == 1


def test_parts_of_more_than_100_000_files_are_ours(
    payload: ExplainerPayload, client: Client, folder_of: FolderOf, request_of: Any
) -> None:
    request = request_of(folder_of(a=worlds.people(3, seed=1)))
    run(payload, request, client)
    (part,) = parts(request.out)
    part.rename(part.with_name(part.name.replace("part-00000-00000", "part-100000-100000")))
    plan_run(payload, request)
