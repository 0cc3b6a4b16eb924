"""alibi's counterfactuals by reinforcement learning (CFRL) for tables, on PyTorch.

Of alibi's four kinds this is the one that takes a model as a function, levels and limits, and it
needs no TensorFlow. Networks, weights and numbers of steps are those of its documentation for
Adult, which train the auto-encoder first and then the generator.
"""

from typing import Any

import numpy as np
import pandas as pd
from serving import Answer, Explain, serve
from shared import Task
from sklearn.pipeline import Pipeline


def explainer(task: Task, model: Pipeline, method: str) -> Explain:
    """Return CFRL, trained."""
    # user code begins
    import torch
    from alibi.explainers import CounterfactualRLTabular
    from alibi.explainers.backends.cfrl_tabular import get_he_preprocessor
    from alibi.models.pytorch import ADULTDecoder, ADULTEncoder, HeAE
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    names = list(task.train.columns)
    levels = {i: list(f.levels) for i, f in enumerate(task.features) if not f.is_number}
    types = {f.name: int for f in task.features if f.is_number and f.step is not None}

    def coded(frame: pd.DataFrame) -> np.ndarray:
        codes = {names[i]: frame[names[i]].map(known.index) for i, known in levels.items()}
        return frame.assign(**codes).to_numpy(dtype=float)

    def plain(rows: Any) -> pd.DataFrame:
        frame = pd.DataFrame(np.asarray(rows, dtype=float), columns=names)
        texts = {
            names[i]: np.array(known)[frame[names[i]].astype(int)] for i, known in levels.items()
        }
        return frame.assign(**texts)

    train = coded(task.train)
    encode, decode = get_he_preprocessor(train, names, levels, types)
    inputs = torch.tensor(encode(train), dtype=torch.float32)
    n_numbers = len(names) - len(levels)
    outputs = [inputs[:, :n_numbers], *(torch.tensor(train[:, i]).long() for i in levels)]
    networks = HeAE(
        encoder=ADULTEncoder(hidden_dim=128, latent_dim=15),
        decoder=ADULTDecoder(
            hidden_dim=128, output_dims=[n_numbers, *(len(known) for known in levels.values())]
        ),
    )
    networks(inputs[:2])
    networks.compile(
        optimizer=torch.optim.Adam(networks.parameters(), lr=1e-3),
        loss=[torch.nn.MSELoss(), *(torch.nn.CrossEntropyLoss() for _ in levels)],
        loss_weights=[1.0, *(1 / len(levels) for _ in levels)],
        metrics={},
    )
    loader = DataLoader(TensorDataset(inputs, *outputs), batch_size=128, shuffle=True)
    networks.fit(loader, epochs=50)
    one_way = {"up": [0.0, 1.0], "down": [-1.0, 0.0]}
    generator = CounterfactualRLTabular(
        predictor=lambda rows: model.predict_proba(plain(rows)),
        encoder=networks.encoder,
        decoder=networks.decoder,
        latent_dim=15,
        encoder_preprocessor=encode,
        decoder_inv_preprocessor=decode,
        coeff_sparsity=0.5,
        coeff_consistency=0.5,
        feature_names=names,
        category_map=levels,
        immutable_features=[f.name for f in task.features if not f.can_be_set],
        ranges={
            f.name: one_way[f.move] for f in task.features if f.is_number and f.move in one_way
        },
        train_steps=10_000,
        batch_size=100,
        backend="pytorch",
        num_workers=0,
    )
    generator.fit(train)

    def conditions(row: pd.DataFrame) -> dict[str, list[str]]:
        allowed = {}
        for feature in task.features:
            if feature.kind == "rank" and feature.move in one_way:
                at = feature.levels.index(row[feature.name].iloc[0])
                ends = (at, None) if feature.move == "up" else (0, at + 1)
                allowed[feature.name] = list(feature.levels[slice(*ends)])
        return allowed

    def explain(row: pd.DataFrame) -> Answer | None:
        target = np.array([task.target])
        found = generator.explain(coded(row), target, [conditions(row)]).cf["X"]
        if found is None:
            return None
        # user code ends
        return Answer.of(plain(found))

    return explain


if __name__ == "__main__":
    serve("alibi", explainer)
