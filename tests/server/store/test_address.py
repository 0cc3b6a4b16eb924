"""Where the database is, and what is shown of it."""

from pathlib import Path

import pytest

from proce.errors import MissingExtraError, StoreError
from proce.server.store import address as address_module
from proce.server.store.address import Address


@pytest.mark.parametrize("text", ["kept.sqlite", "sqlite:///kept.sqlite", Path("kept.sqlite")])
def test_a_path_is_a_sqlite_file(text: str | Path) -> None:
    address = Address.read(text)
    assert address.file == Path("kept.sqlite").absolute()
    assert address.url.drivername == "sqlite"
    assert address.shown == "kept.sqlite"


def test_a_path_with_odd_signs_is_taken_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "50% of ?all #1 é.sqlite"
    assert Address.read(str(path)).file == path


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+pg8000"])
def test_a_server_is_reached_through_pg8000_and_shown_without_its_password(scheme: str) -> None:
    address = Address.read(f"{scheme}://clerk:s%40cret@db.example/kept")
    assert address.url.drivername == "postgresql+pg8000"
    assert address.url.password == "s@cret"
    assert address.shown == "postgresql://clerk@db.example:5432/kept"
    assert "cret" not in repr(address)


def test_a_password_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "elsewhere")
    assert Address.read("postgresql://clerk@[::1]:1/kept").url.password == "elsewhere"
    assert Address.read("postgresql://clerk:here@[::1]:1/kept").url.password == "here"
    assert Address.read("postgresql://clerk@[::1]:1/kept").shown.endswith("@[::1]:1/kept")


@pytest.mark.parametrize(
    ("mode", "context"), [("disable", False), ("prefer", None), ("require", True)]
)
def test_encryption_is_asked_for_in_the_address(mode: str, context: bool | None) -> None:
    address = Address.read(f"postgresql://clerk@localhost/kept?sslmode={mode}")
    assert address.options["ssl_context"] is context


def test_the_server_s_certificate_is_checked_where_that_is_asked_for() -> None:
    context = Address.read("postgresql://a@b/c?sslmode=verify-full").options["ssl_context"]
    assert context.check_hostname


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "none is named"),
        ("sqlite://", "none is named"),
        ("sqlite:///:memory:", "none is named"),
        ("sqlite://host/x", "without a host"),
        ("sqlite:///x?mode=ro", "without a host and without options"),
        ("mysql://clerk:s3cret@host/kept", "'mysql' are not supported"),
        ("postgresql+psycopg2://clerk:s3cret@host/kept", "are not supported"),
        ("postgresql://clerk:s3cret@host", "no user, host or database"),
        ("postgresql://host/kept", "no user, host or database"),
        ("postgresql://clerk:s3cret@host:port/kept", "cannot be read"),
        ("postgresql://clerk:s3cret@host/kept?sslmode=maybe", "'sslmode'"),
        ("postgresql://clerk:s3cret@host/kept?password=s3cret", "'password'"),
        ("://", "cannot be read"),
    ],
)
def test_a_wrong_address_is_refused_without_its_password(text: str, words: str) -> None:
    with pytest.raises(StoreError) as refusal:
        Address.read(text)
    assert words in str(refusal.value)
    assert "s3cret" not in str(refusal.value)
    assert refusal.value.__cause__ is None


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address_module, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"proce\[postgres\]"):
        Address.read("postgresql://clerk@host/kept")
