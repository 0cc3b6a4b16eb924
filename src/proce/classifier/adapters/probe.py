"""Made-up valid rows that show how a new model behaves."""

import torch
from torch import Tensor

from proce.arguments import brief
from proce.classifier.answer import SUM_TOLERANCE, Output, check_probabilities
from proce.errors import ModelOutputError
from proce.schema import Codec, Continuous, Feature

N_PROBE_ROWS = 256
_MAX_CELLS = 8  # of a row in a message


def probe_rows(codec: Codec) -> Tensor:
    """Return valid rows without missing cells, the same on every call.

    Numbers are uniform over the training range and lie on the feature's step, levels are
    uniform over those of the schema.
    """
    ranged = codec.by_range
    rows = _uniform_rows(ranged)
    return rows if ranged is codec else codec.to_unit(ranged.to_raw(rows))


def _uniform_rows(codec: Codec) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    columns = []
    for position, feature in enumerate(codec.schema):
        draws = torch.rand(N_PROBE_ROWS, generator=generator, dtype=torch.float64)
        if not isinstance(feature, Continuous):
            columns.append((draws * len(feature.levels)).floor())
        elif feature.step is None:
            columns.append(draws)
        else:
            step = feature.step / codec.span[position]
            start = codec.low[position] / codec.span[position]
            columns.append(((draws + start) / step).round() * step - start)
    return torch.stack(columns, dim=-1)


def check_answers(
    columns: Tensor, output: Output, n_classes: int, name: str, codec: Codec
) -> Tensor:
    """Return what a model said of the made-up rows as probabilities, or show the row it fails on.

    See :func:`proce.classifier.answer.check_probabilities`.
    """

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


def detect_output(columns: Tensor, name: str, *, ends_linear: bool = False) -> Output:
    """Return whether the output ``(n, m)`` for the probe rows is logits or probabilities.

    Values beyond [0, 1] are logits, and so is anything that comes straight out of a linear
    layer. Values within [0, 1] are probabilities if they sum to one.
    """
    low, high = (end.item() for end in columns.aminmax())
    if low < 0 or high > 1 or ends_linear:
        return "logit"
    sums = columns.sum(-1)
    if columns.shape[1] > 1 and (sums - 1).abs().max() > SUM_TOLERANCE:
        raise ModelOutputError(
            f"{name} gives {columns.shape[1]} values between 0 and 1 that sum to {sums[0]:.6g}"
            " and not to 1: neither probabilities of the classes nor plainly logits. Say"
            " output='logit' if they are logits; otherwise normalise them inside the model."
        )
    return "probability"
