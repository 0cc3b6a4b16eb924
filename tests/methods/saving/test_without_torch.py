"""A fitted explainer is loaded and asked without PyTorch, which takes a second to import."""

import subprocess
import sys
from pathlib import Path

from proce import ProCE
from proce.classifier import fit_network
from proce.schema import Codec
from proce.training_settings import TrainingSettings

from ...worlds import SCHEMA, TINY, people, score

SAVED_PIPELINE = Path(__file__).parents[2] / "fixtures" / "saved_v1"
ASK = """
import sys
from proce import ProCE
for folder in sys.argv[1:]:
    explainer = ProCE.load(folder)
    fitted = explainer.fitted_
    explanations = explainer.explain(fitted.codec.decode(fitted.rows[:2]))
    assert len(explanations) == 2
    assert "torch" not in sys.modules
"""


def test_loading_and_explaining_take_no_torch(tmp_path: Path) -> None:
    frame = people(80)
    network = fit_network(
        Codec.fit(SCHEMA, frame), frame, score(frame) > 0, settings=TrainingSettings(n_epochs=2)
    )
    folder = ProCE(network, SCHEMA, settings=TINY).fit(frame).save(tmp_path / "network")
    command = [sys.executable, "-c", ASK, str(SAVED_PIPELINE), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
