"""Each kind of model: kept in the folder where that is possible, handed over where it is not."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from torch import nn

from proce import PersistenceError, ProCE, as_classifier
from proce.classifier import fit_network, one_hot
from proce.schema import Codec

from ...worlds import SCHEMA, TINY, bank, people, refused, score

FRAME = people()
CODEC = Codec.fit(SCHEMA, FRAME)
SAYS = (score(FRAME) > 0).to_numpy()


class Net(nn.Module):
    """A network of somebody else."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(one_hot(CODEC).width, 1)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.layer(inputs)


@pytest.fixture(scope="module")
def net() -> Net:
    net = Net()
    with torch.no_grad():
        net.layer.bias.fill_(0.1)
        net.layer.weight.copy_(torch.linspace(-2, 2, one_hot(CODEC).width)[None])
    return net


def pipeline() -> Any:
    hot = make_column_transformer((OneHotEncoder(), ["school", "home"]), remainder="passthrough")
    return make_pipeline(hot, LogisticRegression(max_iter=2000)).fit(FRAME, SAYS)


def saved(model: Any, folder: Path, **options: Any) -> tuple[ProCE, Path]:
    explainer = ProCE(model, SCHEMA, settings=TINY).fit(FRAME)
    return explainer, explainer.save(folder, **options)


def assert_same(explainer: ProCE, loaded: ProCE) -> None:
    encoded = explainer.fitted_.rows[:50]
    one, other = (each.fitted_.classifier.predict_proba(encoded) for each in (explainer, loaded))
    assert np.array_equal(one, other)
    assert loaded.fitted_.classifier.classes == explainer.fitted_.classifier.classes
    assert loaded.fitted_.classifier.threshold == explainer.fitted_.classifier.threshold


def test_a_scikit_learn_pipeline_is_kept(tmp_path: Path) -> None:
    explainer, folder = saved(pipeline(), tmp_path / "saved")
    loaded = ProCE.load(folder)
    assert type(loaded.model) is type(explainer.model)
    assert_same(explainer, loaded)


def test_a_type_that_is_not_on_the_list_is_named(tmp_path: Path) -> None:
    numbers = FRAME.assign(school=0, home=1)[["age", "savings", "debt"]]
    model = KNeighborsClassifier().fit(numbers, SAYS)
    explainer = ProCE(model, settings=TINY).fit(numbers)
    with pytest.raises(PersistenceError, match=r"KNeighborsClassifier.*model=False"):
        explainer.save(tmp_path / "saved")
    assert not (tmp_path / "saved").exists()
    folder = explainer.save(tmp_path / "saved", model=False)
    with pytest.raises(PersistenceError, match=r"does not hold the model.*model="):
        ProCE.load(folder)
    assert ProCE.load(folder, model=model).model is model


def test_a_function_is_handed_over(tmp_path: Path) -> None:
    explainer, folder = saved(bank, tmp_path / "saved")
    with pytest.raises(PersistenceError, match=r"\(bank\).*hand it over"):
        ProCE.load(folder)
    loaded = ProCE.load(folder, model=bank)
    rows = refused(FRAME, 2)
    assert len(explainer.explain(rows).to_frame())
    assert explainer.explain(rows).to_frame().equals(loaded.explain(rows).to_frame())


def test_another_model_is_refused(tmp_path: Path) -> None:
    """The prototypes are those of the model that the explainer was fitted with."""
    _, folder = saved(bank, tmp_path / "saved")
    with pytest.raises(PersistenceError, match=r"does not answer as the one.*fit again"):
        ProCE.load(folder, model=lambda frame: np.tile([0.4, 0.6], (len(frame), 1)))


def test_a_model_with_other_classes_is_refused(tmp_path: Path) -> None:
    _, folder = saved(pipeline(), tmp_path / "saved")
    other = pipeline()
    other.fit(FRAME, np.where(SAYS, "yes", "no"))
    with pytest.raises(PersistenceError, match=r"has the classes \('no', 'yes'\)"):
        ProCE.load(folder, model=other)


def test_a_network_of_ours_is_kept(tmp_path: Path) -> None:
    network = fit_network(CODEC, FRAME, SAYS)
    explainer, folder = saved(network, tmp_path / "saved")
    state = torch.random.get_rng_state()
    loaded = ProCE.load(folder)
    assert torch.equal(state, torch.random.get_rng_state())
    assert loaded.model.record == network.record
    assert_same(explainer, loaded)


class TestTorch:
    """Of a torch module the weights are kept; its code is the user's."""

    def test_nothing_handed_over(self, net: Net, tmp_path: Path) -> None:
        _, folder = saved(net, tmp_path / "saved")
        with pytest.raises(PersistenceError, match="weights of the network Net, but not its code"):
            ProCE.load(folder)

    @pytest.mark.parametrize("maker", [Net, lambda: Net()])
    def test_what_makes_it(self, maker: Any, net: Net, tmp_path: Path) -> None:
        explainer, folder = saved(net, tmp_path / "saved")
        assert_same(explainer, ProCE.load(folder, model=maker))

    def test_the_module_itself(self, net: Net, tmp_path: Path) -> None:
        explainer, folder = saved(net, tmp_path / "saved")
        assert_same(explainer, ProCE.load(folder, model=net))

    def test_an_untrained_module_is_refused(self, net: Net, tmp_path: Path) -> None:
        _, folder = saved(net, tmp_path / "saved")
        with pytest.raises(PersistenceError, match="hand over what makes it"):
            ProCE.load(folder, model=Net())

    def test_weights_of_another_network(self, net: Net, tmp_path: Path) -> None:
        _, folder = saved(net, tmp_path / "saved")
        with pytest.raises(PersistenceError, match="do not fit the network Linear"):
            ProCE.load(folder, model=lambda: nn.Linear(3, 1))

    def test_something_that_makes_no_network(self, net: Net, tmp_path: Path) -> None:
        _, folder = saved(net, tmp_path / "saved")
        with pytest.raises(PersistenceError, match="gave a dict"):
            ProCE.load(folder, model=dict)


def test_an_onnx_model_is_kept(tmp_path: Path) -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    pytest.importorskip("onnxruntime")
    numbers = FRAME[["age", "savings", "debt"]]
    model = LogisticRegression().fit(numbers.to_numpy(np.float32), SAYS.astype(int))
    content = skl2onnx.to_onnx(
        model, numbers.head(1).to_numpy(np.float32), options={"zipmap": False}
    ).SerializeToString()
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    explainer = ProCE(str(path), settings=TINY).fit(numbers)
    folder = explainer.save(tmp_path / "saved")
    path.unlink()
    loaded = ProCE.load(folder)
    assert loaded.model == content
    assert_same(explainer, loaded)


def test_a_boosted_model_is_handed_over(tmp_path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    as_category = FRAME.assign(
        school=FRAME["school"].astype("category"), home=FRAME["home"].astype("category")
    )
    model = lightgbm.LGBMClassifier(n_estimators=4, verbose=-1, n_jobs=1).fit(as_category, SAYS)
    explainer = ProCE(model, settings=TINY).fit(as_category)
    folder = explainer.save(tmp_path / "saved")
    with pytest.raises(PersistenceError, match="LightGBM"):
        ProCE.load(folder)
    assert_same(explainer, ProCE.load(folder, model=model))


def test_a_classifier_comes_back_as_one(tmp_path: Path) -> None:
    """What was said when the model was adapted, such as the threshold, is kept with it."""
    explainer, folder = saved(as_classifier(pipeline(), CODEC, 0.3), tmp_path / "saved")
    loaded = ProCE.load(folder)
    assert loaded.model.threshold == 0.3
    assert_same(explainer, loaded)
