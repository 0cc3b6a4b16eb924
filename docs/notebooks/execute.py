"""Execute the notebooks and keep their outputs: ``python docs/notebooks/execute.py [NAME ...]``.

A small runner in place of a Jupyter kernel: the cells of a notebook are executed in order in one
namespace, and what each prints, draws and ends with is written beneath it and into the page of the
notebook. ``tests/docs`` runs the same and compares, so that what is stored is what the code does.

What PyTorch and BLAS learn depends on the processor in its last digits, which a search magnifies.
Notebooks, and the pages of the documentation in their tests, are therefore run where these
libraries compute as on the oldest processor (:data:`PLAIN`): with any x86-64 they show the same.
"""

import ast
import base64
import hashlib
import io
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from threadpoolctl import threadpool_limits

FOLDER = Path(__file__).parent
PLAIN = {  # read when a process starts: no wide vectors, no sums of products that are rounded once
    "ATEN_CPU_CAPABILITY": "default",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-FMA4,-AVX512F",
    "MKL_CBWR": "COMPATIBLE",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL",
    "OMP_NUM_THREADS": "1",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    "OPENBLAS_CORETYPE": "Prescott",
}
_FIGURE = {"format": "png", "dpi": 80, "metadata": {"Software": None}}
_FRAMES = ("display.max_columns", 20, "display.width", 100)  # whatever the terminal


def load(path: Path) -> dict[str, Any]:
    """Return a notebook."""
    notebook: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return notebook


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells that can be executed."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def outputs(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Execute a notebook; return the outputs of each code cell as Jupyter writes them.

    Warnings are errors, and everything runs on one thread, so that a machine gives the same
    outputs each time.
    """
    matplotlib.use("Agg")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with _one_thread(), warnings.catch_warnings(), pd.option_context(*_FRAMES):
        warnings.simplefilter("error")
        return [
            run_cell("".join(cell["source"]), namespace, count)
            for count, cell in enumerate(code_cells(notebook), 1)
        ]


def numerics() -> str:
    """Return a short mark of how this process rounds, which is one for all that are plain."""
    digest = hashlib.sha256()
    with _one_thread():
        for dtype in (torch.float32, torch.float64):
            draws = torch.Generator().manual_seed(0)
            for rows, columns in ((512, 48), (100, 12), (37, 5)):
                x = torch.randn(rows, columns, generator=draws, dtype=dtype)
                w = torch.randn(columns, 2 * columns, generator=draws, dtype=dtype)
                for y in (x @ w, (x @ w).softmax(1), x.T @ x, (x @ w).tanh().exp().log1p()):
                    digest.update(y.numpy().tobytes())
                digest.update(torch.linalg.solve(x.T @ x, x.T @ (x @ w)).numpy().tobytes())
                digest.update(np.log1p(np.exp(x.numpy())).tobytes())
                digest.update(np.linalg.eigvalsh((x.T @ x).numpy()).tobytes())
    return digest.hexdigest()[:12]


@contextmanager
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(threads)


def run_cell(source: str, namespace: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Execute one cell; return what it printed, what it ends with, and its figures."""
    body = ast.parse(source).body
    shown: list[Any] = []
    # A statement that is compiled as at the prompt hands its value to sys.displayhook.
    ends = bool(body) and isinstance(body[-1], ast.Expr) and not source.rstrip().endswith(";")
    last = [ast.Interactive([body.pop()])] if ends else []
    printed, hook = io.StringIO(), sys.displayhook
    sys.displayhook = shown.append
    try:
        with redirect_stdout(printed):
            exec(compile(ast.Module(body, []), f"<cell {count}>", "exec"), namespace)
            for statement in last:
                exec(compile(statement, f"<cell {count}>", "single"), namespace)
    finally:
        sys.displayhook = hook
    found: list[dict[str, Any]] = []
    if text := printed.getvalue():
        found.append({"output_type": "stream", "name": "stdout", "text": _lines(text)})
    found += [
        {"output_type": "execute_result", "execution_count": count} | _bundle(value)
        for value in shown
        if value is not None
    ]
    return found + [
        {"output_type": "display_data"} | _drawn(number) for number in plt.get_fignums()
    ]


def _bundle(value: Any) -> dict[str, Any]:
    data = {"text/plain": _lines(repr(value))}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = _lines(value._repr_html_())
    return {"data": data, "metadata": {}}


def _drawn(number: int) -> dict[str, Any]:
    """Return a figure as it is shown, and close it."""
    content = io.BytesIO()
    plt.figure(number).savefig(content, **_FIGURE)
    plt.close(number)
    png = base64.b64encode(content.getvalue()).decode()
    return {"data": {"image/png": png}, "metadata": {}}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def rewrite(path: Path) -> None:
    """Execute a notebook; store its outputs, and the page that shows them."""
    from render import write  # beside this script

    notebook = load(path)
    pairs = zip(code_cells(notebook), outputs(notebook), strict=True)
    for count, (cell, found) in enumerate(pairs, 1):
        cell.update(execution_count=count, outputs=found)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")
    write(path)


def main(names: list[str]) -> None:
    """Rewrite the notebooks of some names; without any, all of them."""
    paths = [FOLDER / f"{name}.ipynb" for name in names] or sorted(FOLDER.glob("*.ipynb"))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # what a notebook writes is not kept
        for path in paths:
            rewrite(path)
            print(f"{path.name}: {path.stat().st_size // 1000} kB")
        os.chdir(FOLDER)


if __name__ == "__main__":
    if PLAIN.items() - os.environ.items():
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | PLAIN)
    main(sys.argv[1:])
