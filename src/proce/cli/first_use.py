"""The first use on a machine: a second process compiles what the command will need."""

# While the command loads and learns, and compiles what belongs to that, another core compiles the
# search. What is compiled is kept on disk, so this happens once per installation.

import atexit
import subprocess
import sys

from proce.processors import n_usable


def compile_beside() -> None:
    """Start to compile in a second process, where nothing is kept yet and a core is idle."""
    from proce.compiled.kernel import is_kept
    from proce.search.survival import keep_survivors

    if is_kept(keep_survivors) is not False or n_usable() < 2:
        return
    nowhere = subprocess.DEVNULL
    command = [sys.executable, "-P", "-m", "proce.methods.ahead"]  # nothing of the folder we are in
    process = subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere)
    atexit.register(_end, process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the process where the command ended before it; what it has compiled is kept."""
    process.terminate()
    process.wait()
