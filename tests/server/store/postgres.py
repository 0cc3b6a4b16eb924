"""A real PostgreSQL server on loopback, in a folder of its own, from Debian's binaries."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pg8000.native
import pytest

PASSWORD = "opensesame-and-close"
_SECONDS = 60


@contextmanager
def running_server(folder: Path) -> Iterator[str]:
    """Start a server; give its address without a database, and stop it in the end."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL server is installed (Debian's package is postgresql)")
    prefix = _as_ordinary_user(folder)
    if prefix is None:
        pytest.skip("PostgreSQL does not run as root, and setpriv is missing")
    secret = folder / "password"
    secret.write_text(PASSWORD, "utf-8")
    secret.chmod(0o644)
    data = folder / "data"
    _run(
        [*prefix, binaries / "initdb", "-D", data, "-U", "clerk", "-A", "scram-sha-256"],
        ["--pwfile", secret, "-E", "UTF8", "--locale", "C.UTF-8", "--no-sync"],
    )
    port = _free_port()
    words = [*prefix, binaries / "postgres", "-D", data, "-h", "127.0.0.1", "-p", port]
    words += ["-k", folder, "-c", "fsync=off"]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen([str(word) for word in words], stderr=log, cwd="/")
    try:
        _wait_until_ready(server, port)
        yield f"postgresql://clerk:{PASSWORD}@127.0.0.1:{port}"
    finally:
        server.send_signal(signal.SIGQUIT)  # at once: nothing of it is kept
        server.wait(_SECONDS)


def _wait_until_ready(server: "subprocess.Popen[bytes]", port: int) -> None:
    """Wait until the server takes connections."""
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        assert server.poll() is None, "the server did not start"
        try:
            _connection(port).close()
        except (pg8000.Error, OSError):
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the server did not start in time")


def _connection(port: int) -> pg8000.native.Connection:
    return pg8000.native.Connection(
        "clerk",
        host="127.0.0.1",
        port=port,
        password=PASSWORD,
        database="postgres",
        ssl_context=False,
    )


def administer(server: str, *statements: str) -> None:
    """Run statements as the owner of a server."""
    connection = _connection(int(server.rsplit(":", 1)[1]))
    try:
        for statement in statements:
            connection.run(statement)
    finally:
        connection.close()


def empty_database(server: str) -> str:
    """Return the address of the server's database after everything in it was removed."""
    administer(server, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
    return f"{server}/postgres"


def _binaries() -> Path | None:
    """Return the folder of the newest server's programs."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_version)
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return None if on_path is None else Path(on_path).parent


def _version(program: Path) -> int:
    digits = program.parts[-3]
    return int(digits) if digits.isdigit() else 0


def _as_ordinary_user(folder: Path) -> list[str | Path] | None:
    """Return what a command is begun with: it does not run as root, nor longer than its parent."""
    if shutil.which("setpriv") is None:
        return None if os.geteuid() == 0 else []
    prefix: list[str | Path] = ["setpriv", "--pdeathsig", "INT"]
    if os.geteuid() != 0:
        return prefix
    user = next(entry for entry in pwd.getpwall() if entry.pw_name in ("postgres", "nobody"))
    os.chown(folder, user.pw_uid, user.pw_gid)
    folder.chmod(0o755)
    return [*prefix, "--reuid", str(user.pw_uid), "--regid", str(user.pw_gid), "--clear-groups"]


def _run(*words: list[str | Path]) -> None:
    command = [str(word) for part in words for word in part]
    subprocess.run(command, check=True, timeout=_SECONDS, capture_output=True, cwd="/")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
