"""A real PostgreSQL server on loopback, in a folder of its own, from Debian's binaries."""

import os
import pwd
import shutil
import socket
import subprocess
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
    options = f"-h 127.0.0.1 -p {port} -k {folder} -c fsync=off"
    control = [*prefix, binaries / "pg_ctl", "-D", data, "-w", "-t", str(_SECONDS)]
    _run([*control, "-l", folder / "log", "-o", options, "start"])
    try:
        yield f"postgresql://clerk:{PASSWORD}@127.0.0.1:{port}"
    finally:
        _run([*control, "-m", "immediate", "stop"])


def empty_database(server: str) -> str:
    """Return the address of the server's database after everything in it was removed."""
    connection = pg8000.native.Connection(
        "clerk",
        host="127.0.0.1",
        port=int(server.rsplit(":", 1)[1]),
        password=PASSWORD,
        database="postgres",
    )
    try:
        connection.run("DROP SCHEMA public CASCADE")
        connection.run("CREATE SCHEMA public")
    finally:
        connection.close()
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
    """Return what a command is begun with, so that it does not run as root."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        return None
    user = next(entry for entry in pwd.getpwall() if entry.pw_name in ("postgres", "nobody"))
    os.chown(folder, user.pw_uid, user.pw_gid)
    folder.chmod(0o755)
    group = str(user.pw_gid)
    return ["setpriv", "--reuid", str(user.pw_uid), "--regid", group, "--clear-groups"]


def _run(*words: list[str | Path]) -> None:
    command = [str(word) for part in words for word in part]
    # A server that is started inherits these files: pipes would never end.
    with Path(os.devnull).open("w") as nothing:
        subprocess.run(
            command, check=True, timeout=2 * _SECONDS, stdout=nothing, stderr=nothing, cwd="/"
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
