"""A bar is drawn for people alone: what goes on in a pipe is for results."""

import pytest

from proce.methods.calls.method import Progress, progress_bar


def test_nothing_is_drawn_into_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    draw = progress_bar()
    for done in range(1, 4):
        draw(Progress("explain", done, 3))
    draw.close()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == ""


def test_a_terminal_is_drawn_to_on_stderr(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # which Rich takes for a terminal
    draw = progress_bar()
    draw(Progress("explain", 3, 3))
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "explain" in shown.err
