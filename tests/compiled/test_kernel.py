"""How kernels are compiled, and who may call their parts."""

import ast
import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numba import njit
from numba.core import event

from proce.compiled.streams import hash_rows

SOURCE = Path(__file__).parents[2] / "src"


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


def parts_of(tree: ast.Module, decorators: set[str]) -> set[str]:
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {
        function.name
        for function in functions
        if any(isinstance(d, ast.Name) and d.id in decorators for d in function.decorator_list)
    }


def names_from_python(tree: ast.Module, module: str) -> Iterator[tuple[str, str]]:
    """Yield module and name of what is used outside kernels and parts."""
    local = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            local |= {a.asname or a.name: (node.module or "", a.name) for a in node.names}
    compiled = parts_of(tree, {"kernel", "part"})
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name in compiled:
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                yield local.get(node.id, (module, node.id))
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                yield ".".join(local.get(node.value.id, ("", ""))), node.attr


def test_parts_are_used_by_kernels_alone() -> None:
    trees = {module_name(path): ast.parse(path.read_text()) for path in SOURCE.rglob("*.py")}
    parts = {(module, name) for module in trees for name in parts_of(trees[module], {"part"})}
    assert len(parts) > 50
    for module, tree in trees.items():
        assert not parts.intersection(names_from_python(tree, module)), module


class Watch(event.Listener):
    """Notes whether garbage would be collected."""

    def __init__(self) -> None:
        self.noted: list[bool] = []

    def on_start(self, event: object) -> None:
        self.noted.append(gc.isenabled())

    def on_end(self, event: object) -> None:
        self.noted.append(gc.isenabled())


def test_no_garbage_is_collected_while_a_kernel_is_compiled() -> None:
    watch = Watch()
    event.register("numba:run_pass", watch)
    try:
        assert njit(lambda x: 2.0 * x)(2.0) == 4.0
    finally:
        event.unregister("numba:run_pass", watch)
    assert watch.noted
    assert not any(watch.noted)
    assert gc.isenabled()


def test_without_a_folder_for_what_is_compiled_it_is_compiled_each_time() -> None:
    code = (
        "from proce.compiled.streams import hash_rows; import numpy as np; c = np.zeros(1, 'u8');"
    )
    code += "hash_rows(np.ones((1, 2), 'u8'), c); print(c[0])"
    environment = {**os.environ, "NUMBA_CACHE_DIR": os.devnull + "/none"}
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
    codes = np.zeros(1, np.uint64)
    hash_rows(np.ones((1, 2), np.uint64), codes)
    assert done.stdout.strip() == str(codes[0])


def test_what_was_compiled_and_is_damaged_is_compiled_again(tmp_path: Path) -> None:
    code = (
        "from proce.compiled.streams import hash_rows; import numpy as np; c = np.zeros(1, 'u8');"
    )
    code += "hash_rows(np.ones((1, 2), 'u8'), c); print(c[0])"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def run() -> str:
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout

    first = run()
    kept = [*tmp_path.rglob("*.nbi"), *tmp_path.rglob("*.nbc")]
    assert kept
    for path in kept:
        path.write_bytes(path.read_bytes()[: 40 * (path.suffix == ".nbc")])
    assert run() == first
    assert all(path.stat().st_size > 40 for path in kept)
    assert run() == first
