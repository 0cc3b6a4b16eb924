"""Made-up valid rows that show how a new model behaves."""

import numpy as np

from proce.arguments import brief
from proce.arrays import Array, Floats, even_codes
from proce.classifier.prediction import SUM_TOLERANCE, Output, check_probabilities, lies_beyond
from proce.errors import ModelOutputError
from proce.schema import Codec, Continuous, Feature
from proce.schema.codec import entries_on_step

N_PROBE_ROWS = 256
_MAX_CELLS = 8  # of a row in a message


def probe_rows(codec: Codec) -> Array:
    """Return valid rows without missing cells, the same on every call."""
    # Numbers are uniform over the training range and lie on the feature's step, levels are
    # uniform over those of the schema.
    ranged = codec.by_range
    rows = _uniform_rows(ranged)
    return rows if ranged is codec else codec.to_unit(ranged.to_raw(rows))


def _uniform_rows(codec: Codec) -> Array:
    generator = np.random.RandomState(0)
    columns = []
    for position, feature in enumerate(codec.schema):
        draws = _uniforms(generator)
        if not isinstance(feature, Continuous):
            columns.append(even_codes(draws, len(feature.levels)))
        else:
            columns.append(entries_on_step(codec, position, draws))
    return np.stack(columns, axis=-1)


def _uniforms(generator: np.random.RandomState) -> Floats:
    """Return uniform numbers ``(n,)`` of 53 random bits from two words of the generator each."""
    # Saved explainers hold what their model answered about the rows that are made of these numbers.
    words = generator.randint(2**32, size=(N_PROBE_ROWS, 2), dtype=np.uint32).astype(np.uint64)
    bits = (words[:, 0] << np.uint64(32) | words[:, 1]) & np.uint64(2**53 - 1)
    return bits.astype(np.float64) * 2.0**-53


def check_answers(columns: Array, output: Output, n_classes: int, name: str, codec: Codec) -> Array:
    """Return what a model said of the made-up rows as probabilities, or show where it fails."""
    # See :func:`proce.classifier.prediction.check_probabilities`.

    def row_words(row: int) -> str:
        raw = codec.to_raw(probe_rows(codec)[row]).tolist()
        cells = [
            f"{brief(feature.name)}: {_cell(feature, entry)}"
            for feature, entry in zip(codec.schema, raw[:_MAX_CELLS], strict=False)
        ]
        listed = ", ".join(cells) + ", …" * (len(raw) > _MAX_CELLS)
        return f"a row that was made up from the schema to try the model, {{{listed}}},"

    return check_probabilities(columns, output, n_classes, name, row_words)


def _cell(feature: Feature, entry: float) -> str:
    return f"{entry:.6g}" if isinstance(feature, Continuous) else brief(feature.levels[int(entry)])


def detect_output(columns: Array, name: str, *, ends_linear: bool = False) -> Output:
    """Return whether the output ``(n, m)`` for the probe rows is logits or probabilities."""
    # Values beyond [0, 1] by more than rounding are logits, and so is anything that comes straight
    # out of a linear layer. Values within [0, 1] are probabilities if they sum to one.
    if ends_linear or lies_beyond(columns).any():
        return "logit"
    sums = columns.sum(-1)
    if columns.shape[1] > 1 and np.abs(sums - 1).max() > SUM_TOLERANCE:
        raise ModelOutputError(
            f"{name} gives {columns.shape[1]} values between 0 and 1 that sum to {sums[0]:.6g}"
            " and not to 1: neither probabilities of the classes nor plainly logits. Say"
            " output='logit' if they are logits; otherwise normalise them inside the model."
        )
    return "probability"
