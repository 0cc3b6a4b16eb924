"""How good the counterfactuals are: the table of the paper's metrics in ``docs/quality.md``.

Run: ``PROCE_DATA=... python benchmarks/quality.py [--rows 100] [--splits 3]``. Whether advice works
in the true world is measured by ``benchmarks/recourse.py``.
Rows that the classifier rejects are drawn from the test part of an 80/20 split; nothing is
fitted on them.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import mean
from typing import Any

import torch
from sklearn.model_selection import train_test_split

from proce.causal import CausalGraph, StructuralCausalModel
from proce.classifier import TrainedNetwork, fit_network
from proce.datasets import Dataset, load_dataset
from proce.explanation import Explanations
from proce.methods import ProCE
from proce.methods.calls.options import Options
from proce.methods.explaining.proce_call import ProceCall
from proce.methods.fitting.fitted import FittedParts
from proce.metrics import (
    Judges,
    categorical_proximity,
    causal_constraint_validity,
    continuous_proximity,
    target_class_validity,
)
from proce.schema import Codec, Rule, Schema

OF_THE_PAPER = ("simple_bn", "sangiovese", "adult", "law")


@dataclass(frozen=True)
class Setting:
    """A data set, split, with a classifier and rows that it rejects."""

    data: Dataset
    codec: Codec
    train: Any
    model: TrainedNetwork
    rejected: Any


def settings(name: str, architecture: str, splits: int, rows: int) -> Iterator[Setting]:
    """Yield one setting for each split."""
    data = load_dataset(name)
    for seed in range(splits):
        train, test, label, _ = train_test_split(
            data.frame, data.label, test_size=0.2, random_state=seed
        )
        codec = Codec.fit(data.schema, train)
        model = fit_network(
            codec, train, label, architecture=architecture, balanced=name == "law", seed=seed
        )
        rejected = (model.predict(codec.encode(test)) == 0).numpy()
        yield Setting(data, codec, train, model, test[rejected].head(rows))


def variants(setting: Setting, schema: Schema, rules: Sequence[str]) -> Callable[..., Any]:
    """Fit once, and return a function that explains in another mode, or with other margin or rules.

    The latent space and the equations do not depend on these: a fresh fit would give the same.
    """
    graph = setting.data.graph
    explainer = ProCE(setting.model, schema, graph, rules).fit(setting.train)
    fitted = explainer.fitted_

    def explain(mode: str, margin: float, *, ruled: bool = True, pick: str = "closest") -> Any:
        other = replace(
            fitted,
            mode=mode,
            settings=replace(fitted.settings, margin=margin),
            rules=fitted.rules if ruled else (),
            scm=None if mode == "off" else fitted.scm,
            refits=fitted.refits if mode in ("hard", "soft") else None,
        )
        return explain_with(other, setting.rejected, pick)

    return explain


def explain_with(fitted: FittedParts, frame: Any, pick: str = "closest") -> Explanations:
    """Explain rows with the parts of a fitted explainer."""
    return ProceCall(fitted, Options(target=1, n=1, pick=pick), frame).run()


def measure(setting: Setting, result: Explanations, judges: Judges) -> dict[str, float]:
    """Return the paper's metrics of a result; rows without a counterfactual are failures."""
    codec = setting.codec
    found = torch.tensor([len(item) > 0 for item in result])
    factual = torch.stack([item.factual for item in result])
    rows = torch.stack([item.rows[0] if len(item) else item.factual for item in result])
    target = torch.ones(len(result), dtype=torch.long)
    rules = [Rule.parse(text, codec) for text in setting.data.rules]
    mechanisms = _mechanisms(setting, rules)
    direction = causal_constraint_validity(rules, factual, rows, found)
    strict = causal_constraint_validity(
        rules, factual, rows, found, reading="strict", mechanisms=mechanisms
    )
    counterfactuals, own = rows[found], factual[found]
    im1, im2 = judges.im1(counterfactuals, 1, 0), judges.im2(counterfactuals, 1)
    return {
        "found": 100 * float(found.double().mean()),
        "tcv": 100 * target_class_validity(setting.model, rows, found, target),
        "ccv": 100 * direction.valid,
        "strict": 100 * strict.valid,
        "continuous": continuous_proximity(codec, own, counterfactuals),
        "categorical": categorical_proximity(codec, own, counterfactuals),
        "im1": float(im1.mean()),
        "im1_median": float(im1.median()),
        "im2": float(im2.mean()),
        "im2_median": float(im2.median()),
    }


def _mechanisms(setting: Setting, rules: list[Rule]) -> dict[str, Any]:
    """Return the equations of the strict %Ccv: the true ones, or else fitted here."""
    truth = setting.data.truth
    known = truth.with_codec(setting.codec) if truth else None
    rows = setting.codec.encode(setting.train)
    scm = known or StructuralCausalModel.fit(
        CausalGraph(setting.data.graph.edges), rows, setting.codec, seed=7
    )
    effects = [rule.dependence[1] for rule in rules if rule.dependence]
    return {name: lambda part, name=name: scm.predict(name, part) for name in effects}


def print_validity(n_rows: int, splits: int) -> None:
    """Print %Tcv, %Ccv, proximity and interpretability per mode, data set and classifier."""
    print(
        "| data set | classifier | mode | margin | rules | found | %Tcv | %Ccv | strict | cont. |"
        " cat. | IM1 mean, median | IM2 mean, median |"
    )
    print("|" + "---|" * 13)
    options_of: dict[tuple[str, str, str], dict[str, Any]] = {
        ("soft", "0", "yes"): {},
        ("soft, balanced", "0", "yes"): {"pick": "balanced"},
        ("soft, typical", "0", "yes"): {"pick": "typical"},
        ("soft", "0", "no"): {"ruled": False},
        ("hard", "0", "yes"): {},
        ("hard", "0.1", "yes"): {},
        ("hard", "0", "no"): {"ruled": False},
        ("paper", "0", "no"): {"ruled": False},
        ("off", "0", "no"): {"ruled": False},
    }
    for name in OF_THE_PAPER:
        for architecture in ("first", "second"):
            cells: dict[tuple[str, ...], list[dict[str, float]]] = {}
            for setting in settings(name, architecture, splits, n_rows):
                rows = setting.codec.encode(setting.train)
                judges = Judges.fit(setting.codec, rows, setting.model.predict(rows), 2)
                explain = variants(setting, setting.data.schema, setting.data.rules)
                for key, options in options_of.items():
                    result = explain(key[0].partition(",")[0], float(key[1]), **options)
                    cells.setdefault(key, []).append(measure(setting, result, judges))
            for key, parts in cells.items():
                means = {metric: mean(part[metric] for part in parts) for metric in parts[0]}
                print(
                    f"| {name} | {architecture} | {' | '.join(key)} | {means['found']:.1f} |"
                    f" {means['tcv']:.1f} | {means['ccv']:.1f} | {means['strict']:.1f} |"
                    f" {means['continuous']:.4f} | {means['categorical']:.2f} |"
                    f" {means['im1']:.2f}, {means['im1_median']:.2f} |"
                    f" {means['im2']:.4f}, {means['im2_median']:.4f} |",
                    flush=True,
                )


def main() -> None:
    """Parse, measure and print."""
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--splits", type=int, default=3)
    arguments = parser.parse_args()
    start = time.perf_counter()
    print_validity(arguments.rows, arguments.splits)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
