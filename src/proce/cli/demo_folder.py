"""The demo's explainer and rows, made once and kept in the user's cache."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from proce import __version__

if TYPE_CHECKING:
    from proce.cli.console import ProgressBars

_N_TRAINING_ROWS = 4_000  # the rows after these are those to pick from


def demo_folder(progress: "ProgressBars") -> tuple[Path, Path]:
    """Return the folder of the demo's explainer and the file of its rows; make them if needed."""
    place = _cache() / f"demo-{__version__}"
    folder, rows = place / "loan", place / "loan.csv"
    if not (folder.is_dir() and rows.is_file()):
        place.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".demo-", dir=place.parent))
        try:
            _make(made / folder.name, made / rows.name, progress)
            if place.exists():
                shutil.rmtree(place)
            made.rename(place)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return folder, rows


def _cache() -> Path:
    """Return a folder of this user for what can be made again; PROCE_CACHE names another."""
    given = os.environ.get("PROCE_CACHE")
    if given:
        return Path(given)
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "proce"


def _make(folder: Path, rows: Path, progress: "ProgressBars") -> None:
    from proce.classifier import fit_network
    from proce.cli.console import use_one_thread
    from proce.datasets import load_dataset
    from proce.methods import ProCE
    from proce.schema import Codec

    use_one_thread()
    data = load_dataset("loan")
    decision = data.label.map(dict(enumerate(data.class_names)))
    train = data.frame[:_N_TRAINING_ROWS]
    codec = Codec.fit(data.recourse_schema, train)
    model = fit_network(codec, train, decision[:_N_TRAINING_ROWS], progress=progress.training)
    explainer = ProCE(model, data.recourse_schema, data.graph, data.rules)
    explainer.fit(train, progress=progress).save(folder)
    data.frame[_N_TRAINING_ROWS:].to_csv(rows, index=False)
