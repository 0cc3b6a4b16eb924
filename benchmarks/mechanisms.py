"""How far fitted equations are from the true ones, where these are known.

Run: ``python benchmarks/mechanisms.py``. Every number that can be acted on is set, in each
test row, to the value of a random training row; what follows is compared with the truth. The
error is the mean absolute difference of each number that follows, in standard deviations of
the feature; for levels the share that differs.
"""

from statistics import mean

import torch
from sklearn.model_selection import train_test_split

from proce.causal import StructuralCausalModel
from proce.datasets import Dataset, load_dataset
from proce.schema import Action, Codec, Continuous

KINDS = ("linear", "quadratic", "spline", "boosting", "auto")


def errors(data: Dataset, kind: str, seed: int = 0) -> tuple[list[float], list[float]]:
    """Return the errors of numbers and of levels, one for each pair of cause and effect."""
    train, test = train_test_split(data.frame, test_size=0.2, random_state=seed)
    codec = Codec.fit(data.schema, train)
    rows, factual = codec.encode(train), codec.encode(test)
    fitted = StructuralCausalModel.fit(data.graph, rows, codec, mechanism=kind)
    truth = data.truth.with_codec(codec)
    generator = torch.Generator().manual_seed(seed)
    numbers, levels = [], []
    for name in data.graph.nodes:
        position, feature = codec.schema.position(name), codec.schema[name]
        effects = data.graph.descendants(name)
        if not effects or not isinstance(feature, Continuous) or feature.action is Action.FIXED:
            continue
        start = factual.clone()
        drawn = torch.randint(len(rows), (len(start),), generator=generator)
        start[:, position] = rows[drawn, position]
        acted_on = torch.arange(len(codec.schema)) == position
        learned = fitted.propagate(start, fitted.abduct(factual), acted_on)
        true = truth.propagate(start, truth.abduct(factual), acted_on)
        for effect in effects:
            column = codec.schema.position(effect)
            if isinstance(codec.schema[effect], Continuous):
                gap = (learned[:, column] - true[:, column]).abs().mean()
                numbers.append(float(gap / rows[:, column].std()))
            else:
                levels.append(float((learned[:, column] != true[:, column]).double().mean()))
    return numbers, levels


def main() -> None:
    """Measure and print."""
    torch.set_num_threads(1)
    print("| data set | mechanism | mean error, sd | largest, sd | levels that differ |")
    print("|---|---|---|---|---|")
    for name in ("simple_bn", "sangiovese", "loan"):
        data = load_dataset(name)
        for kind in KINDS:
            numbers, levels = errors(data, kind)
            share = f"{mean(levels):.1%}" if levels else "none"
            print(f"| {name} | {kind} | {mean(numbers):.4f} | {max(numbers):.4f} | {share} |")


if __name__ == "__main__":
    main()
