"""The explainer of the demos, fitted to the embedded loan data; for the page it is kept."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from proce import __version__
from proce.cli.console import learn_on_one_thread, note, progress_bars
from proce.cli.first_use import compile_beside
from proce.errors import WorkerError
from proce.files import cache_folder

if TYPE_CHECKING:
    import pandas as pd

    from proce.cli.console import ProgressBars
    from proce.methods import ProCE

_N_TRAINING_ROWS = 4_000  # the applicants are the rows after these


def fit_demo(progress: "ProgressBars") -> "tuple[ProCE, pd.DataFrame]":
    """Return an explainer of a network that decides on loans, and applicants new to both."""
    compile_beside()  # before anything is loaded that takes its time
    from proce.classifier import fit_network
    from proce.datasets import load_dataset
    from proce.methods import ProCE
    from proce.schema import Codec

    learn_on_one_thread()
    data = load_dataset("loan")
    decision = data.label.map(dict(enumerate(data.class_names)))
    train = data.frame[:_N_TRAINING_ROWS]
    codec = Codec.fit(data.recourse_schema, train)
    model = fit_network(codec, train, decision[:_N_TRAINING_ROWS], progress=progress.training)
    explainer = ProCE(model, data.recourse_schema, data.graph, data.rules)
    return explainer.fit(train, progress=progress), data.frame[_N_TRAINING_ROWS:]


def demo_files() -> tuple[Path, Path]:
    """Return the folder of the demo's explainer and the file of its applicants."""
    # They are made on first use and kept in the user's cache. Another process makes them, so that
    # this one does not have to load what learning needs.
    place = cache_folder() / f"demo-{__version__}"
    if not place.is_dir():
        place.parent.mkdir(parents=True, exist_ok=True)
        note("Fitting the demo's explainer; this is done once and takes half a minute.")
        with tempfile.TemporaryDirectory(prefix=".demo-", dir=place.parent) as draft:
            command = [sys.executable, "-P", "-m", "proce.cli.demo_explainer", f"{draft}/made"]
            if subprocess.run(command, check=False).returncode != 0:
                raise WorkerError("the demo's explainer could not be fitted; see above.")
            if not place.is_dir():  # another process may have been faster
                Path(draft, "made").rename(place)
    return place / "loan", place / "applicants.csv"


def _make(place: Path) -> None:
    place.mkdir()
    with progress_bars() as progress:
        explainer, applicants = fit_demo(progress)
    explainer.save(place / "loan")
    applicants.to_csv(place / "applicants.csv", index=False)


if __name__ == "__main__":
    _make(Path(sys.argv[1]))
