"""Tokens and roles."""

import logging
import os
from pathlib import Path

import pytest

from proce.errors import FileError
from proce.server.guard import Tokens
from proce.server.guard.access import Access

from .asgi import Answer, answering, call

APPLICANT, AUDITOR = "a-token-for-applicants", "another-one-for-auditors"
HOST = ("host", "127.0.0.1")


def token_file(folder: Path, text: str) -> Path:
    path = folder / "tokens"
    path.write_text(text, "utf-8")
    path.chmod(0o600)
    return path


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    text = f"# who may ask\n\napplicant {APPLICANT}\n  auditor\t{AUDITOR}  # the bank's\n"
    return Tokens(token_file(tmp_path, text))


def ask(app: object, authorization: str | None, path: str = "/schema") -> Answer:
    headers = [] if authorization is None else [("authorization", authorization)]
    return call(app, path, headers=[HOST, *headers])


@pytest.mark.parametrize(("token", "role"), [(APPLICANT, "applicant"), (AUDITOR, "auditor")])
def test_a_token_gives_its_role(tokens: Tokens, token: str, role: str) -> None:
    app = answering()
    assert ask(Access(app, tokens), f"bearer {token}").status == 200
    (scope,) = app.seen
    assert scope["state"]["role"] == role
    assert token not in str(scope["state"])


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        f"Bearer {APPLICANT}x",
        f"Bearer {APPLICANT[:-1]}",
        f"Basic {APPLICANT}",
        APPLICANT,
        f"Bearer {APPLICANT} {AUDITOR}",
        "Bearer " + "\xff" * 9000,
    ],
)
def test_without_a_right_token_the_application_is_not_reached(
    tokens: Tokens, authorization: str | None
) -> None:
    app = answering()
    answer = ask(Access(app, tokens), authorization)
    assert (answer.status, app.seen) == (401, [])
    assert answer.headers["www-authenticate"].startswith("Bearer ")
    assert APPLICANT not in answer.message


def test_two_authorizations_are_refused(tokens: Tokens) -> None:
    both = [HOST, *[("authorization", f"Bearer {token}") for token in (APPLICANT, AUDITOR)]]
    assert call(Access(answering(), tokens), "/schema", headers=both).status == 401


def test_what_is_public_needs_no_token_and_gives_no_more_than_an_applicants_role(
    tokens: Tokens,
) -> None:
    app = answering()
    for path in ("/", "/health", "/page/main.js", "/docs", "/openapi.json"):
        assert ask(Access(app, tokens), None, path).status == 200
    assert {scope["state"]["role"] for scope in app.seen} == {"applicant"}
    assert call(Access(app, tokens), "/page/main.js", "POST").status == 401
    assert ask(Access(app, tokens), None, "/metrics").status == 401


def test_without_tokens_everybody_is_an_auditor() -> None:
    app = answering()
    assert ask(Access(app, None), None).status == 200
    assert app.seen[0]["state"]["role"] == "auditor"


def test_a_token_that_is_taken_out_of_the_file_is_refused_and_a_new_one_taken(
    tmp_path: Path,
) -> None:
    now = [0.0]
    path = token_file(tmp_path, f"applicant {APPLICANT}\n")
    tokens = Tokens(path, clock=lambda: now[0])
    guard = Access(answering(), tokens)
    assert ask(guard, f"Bearer {APPLICANT}").status == 200

    path.write_text(f"auditor {AUDITOR}\n", "utf-8")
    now[0] += 2
    refused = ask(guard, f"Bearer {APPLICANT}")
    assert (refused.status, "no longer valid" in refused.message) == (401, True)
    assert 'error="invalid_token"' in refused.headers["www-authenticate"]
    assert ask(guard, f"Bearer {AUDITOR}").status == 200


@pytest.mark.parametrize("damage", ["removed", "wrong"])
def test_a_file_that_cannot_be_read_again_lets_nobody_in_until_it_is_mended(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    now = [0.0]
    path = token_file(tmp_path, f"applicant {APPLICANT}\n")
    guard = Access(answering(), Tokens(path, clock=lambda: now[0]))
    if damage == "removed":
        path.unlink()
    else:
        path.write_text(f"clerk {APPLICANT}\n", "utf-8")
    now[0] += 2
    assert ask(guard, f"Bearer {APPLICANT}").status == 401
    assert "nobody is let in" in caplog.text
    assert APPLICANT not in caplog.text
    path.write_text(f"applicant {APPLICANT}\n", "utf-8")
    now[0] += 2
    assert ask(guard, f"Bearer {APPLICANT}").status == 200


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no token"),
        ("# nothing\n\n", "no token"),
        (f"applicant {APPLICANT}\nclerk {AUDITOR}\n", "line 2: unknown role"),
        ("applicant short\n", "line 1: a token has 16"),
        (f"applicant {APPLICANT}\n\nauditor {APPLICANT}\n", "line 3: the same token as in line 1"),
        (f"{APPLICANT}\n", "line 1: expected 'applicant TOKEN'"),
        (f"applicant {APPLICANT} {AUDITOR}\n", "line 1: expected 'applicant TOKEN'"),
        (f"applicant {APPLICANT}é\n", "line 1: a token has letters"),
        (f"applicant {'x' * 513}\n", "line 1: a token has 16 to 512"),
        ("#" * 1_000_001, "larger than"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line_and_never_with_a_token(
    tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(FileError) as refusal:
        Tokens(token_file(tmp_path, text))
    assert words in str(refusal.value)
    assert all(token not in str(refusal.value) for token in (APPLICANT, AUDITOR, "short"))


def test_a_file_that_is_absent_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="No such file"):
        Tokens(tmp_path / "nowhere")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match="not UTF-8"):
        Tokens(tmp_path / "binary")
    with pytest.raises(FileError, match="directory"):
        Tokens(tmp_path)


def test_a_file_that_every_user_can_read_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = token_file(tmp_path, f"applicant {APPLICANT}\n")
    with caplog.at_level(logging.WARNING):
        Tokens(path)
        assert caplog.text == ""
        os.chmod(path, 0o644)
        Tokens(path)
    assert "chmod 600" in caplog.text
    assert APPLICANT not in caplog.text
