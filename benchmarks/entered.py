"""How far it is from ``explain`` to the model: the files that a call enters, and the frames.

Run: ``python benchmarks/entered.py``. One warm call for one rejected applicant of the loan data,
with graph and rules, is followed by the profiler; the model is a logistic regression in a pipeline.
"""

import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import proce
from proce import ProCE, load_dataset

ROOT = Path(proce.__file__).parent
N_TRAIN = 3_000


def own_frames(frame: FrameType | None) -> list[str]:
    """Return the frames of the package from one outwards, as files and functions."""
    found = []
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(ROOT):
            found.append(f"{path.relative_to(ROOT)}: {frame.f_code.co_name}")
        frame = frame.f_back
    return found


class Watched(LogisticRegression):  # type: ignore[misc]
    """A model that notes from where it is asked."""

    stacks: ClassVar[list[list[str]]] = []

    def predict_proba(self, X: Any) -> Any:
        """Answer, and note the frames of the package between the caller and here."""
        self.stacks.append(own_frames(sys._getframe(1)))
        return super().predict_proba(X)


def main() -> None:
    """Print the files of each room, and the deepest way to the model."""
    data = load_dataset("loan")
    frame, label = data.frame[:N_TRAIN], data.label[:N_TRAIN]
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        (StandardScaler(), make_column_selector(dtype_include="number")),
    )
    model = make_pipeline(columns, Watched(max_iter=1_000)).fit(frame, label)
    explainer = ProCE(model, data.recourse_schema, data.graph, data.rules).fit(frame)
    rejected = frame[model.predict(frame) == 0]
    explainer.explain(rejected[:1])
    entered: Counter[str] = Counter()

    def follow(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(ROOT):
            entered[str(path.relative_to(ROOT))] += 1

    Watched.stacks.clear()
    sys.setprofile(follow)
    explainer.explain(rejected[1:2])
    sys.setprofile(None)
    deepest = max(Watched.stacks, key=len)
    print(
        f"{len(entered)} files entered, {len(deepest) - 1} frames between explain and the model\n"
    )
    for room, n_files in Counter(str(Path(name).parent) for name in entered).most_common():
        print(f"{n_files:3} {room}")
    print("\nThe deepest way:", *reversed(deepest), sep="\n  ")


if __name__ == "__main__":
    main()
