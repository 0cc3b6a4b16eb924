"""scikit-learn estimators as files of skops, with a fixed list of what may be inside.

Skops itself trusts every estimator of scikit-learn. Estimators that hand arrays of the file to
compiled code which does not check them (neighbours, support vectors, splines) are left out here.
Trees do so too, and are checked: that code takes the positions of children, features and categories
as they are. A position that points outside ends the process, and one that points back makes an
endless loop.
"""

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from io import BytesIO
from pathlib import Path
from threading import get_ident
from types import ModuleType
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np

from proce.errors import PersistenceError, first_line
from proce.files import sha256_of
from proce.schema.features.levels import quoted

_ESTIMATORS = {
    "sklearn.calibration": "CalibratedClassifierCV _CalibratedClassifier _SigmoidCalibration"
    " _TemperatureScaling",
    "sklearn.compose._column_transformer": "ColumnTransformer make_column_selector",
    "sklearn.decomposition._pca": "PCA",
    "sklearn.decomposition._truncated_svd": "TruncatedSVD",
    "sklearn.discriminant_analysis": "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
    "sklearn.dummy": "DummyClassifier",
    "sklearn.ensemble._bagging": "BaggingClassifier",
    "sklearn.ensemble._forest": "ExtraTreesClassifier RandomForestClassifier",
    "sklearn.ensemble._gb": "GradientBoostingClassifier",
    "sklearn.ensemble._hist_gradient_boosting.binning": "_BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting": "HistGradientBoostingClassifier"
    " HistGradientBoostingRegressor",
    "sklearn.ensemble._hist_gradient_boosting.predictor": "TreePredictor",
    "sklearn.ensemble._stacking": "StackingClassifier",
    "sklearn.ensemble._voting": "VotingClassifier",
    "sklearn.ensemble._weight_boosting": "AdaBoostClassifier",
    "sklearn.feature_selection._from_model": "SelectFromModel",
    "sklearn.feature_selection._univariate_selection": "SelectKBest SelectPercentile",
    "sklearn.feature_selection._variance_threshold": "VarianceThreshold",
    "sklearn.impute._base": "MissingIndicator SimpleImputer",
    "sklearn.linear_model._logistic": "LogisticRegression LogisticRegressionCV",
    "sklearn.linear_model._stochastic_gradient": "SGDClassifier",
    "sklearn.metrics._scorer": "_CurveScorer _PassthroughScorer _Scorer",
    "sklearn.model_selection._classification_threshold": "FixedThresholdClassifier"
    " TunedThresholdClassifierCV",
    "sklearn.model_selection._search": "GridSearchCV RandomizedSearchCV",
    "sklearn.model_selection._split": "KFold StratifiedKFold",
    "sklearn.multiclass": "OneVsRestClassifier",
    "sklearn.naive_bayes": "BernoulliNB CategoricalNB ComplementNB GaussianNB MultinomialNB",
    "sklearn.neural_network._multilayer_perceptron": "MLPClassifier",
    "sklearn.neural_network._stochastic_optimizers": "AdamOptimizer SGDOptimizer",
    "sklearn.pipeline": "FeatureUnion Pipeline",
    "sklearn.preprocessing._data": "Binarizer MaxAbsScaler MinMaxScaler Normalizer"
    " PowerTransformer QuantileTransformer RobustScaler StandardScaler",
    "sklearn.preprocessing._discretization": "KBinsDiscretizer",
    "sklearn.preprocessing._encoders": "OneHotEncoder OrdinalEncoder",
    "sklearn.preprocessing._function_transformer": "FunctionTransformer",
    "sklearn.preprocessing._label": "LabelBinarizer LabelEncoder",
    "sklearn.preprocessing._polynomial": "PolynomialFeatures",
    "sklearn.preprocessing._target_encoder": "TargetEncoder",
    "sklearn.tree._classes": "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier",
    "sklearn.utils._metadata_requests": "MetadataRequest MethodMetadataRequest",
    "sklearn._loss.link": "IdentityLink Interval LogitLink MultinomialLogit",
    "sklearn._loss.loss": "HalfBinomialLoss HalfMultinomialLoss HalfSquaredError",
}
_FUNCTIONS = {
    "numpy": "abs exp expm1 log log1p log2 log10 sqrt square",
    "sklearn.feature_selection._univariate_selection": "chi2 f_classif",
    "sklearn.metrics._classification": "accuracy_score balanced_accuracy_score f1_score",
    "sklearn.utils.validation": "check_array",
}
_NUMBERS = "bool bool_ float32 float64 int8 int16 int32 int64 intp str_ uint8 uint16 uint32 uint64"


def _named(names: dict[str, str]) -> Iterator[str]:
    return (f"{module}.{name}" for module, listed in names.items() for name in listed.split())


# The types that each kind of node in a skops file may build.
PERMITTED: dict[str, frozenset[str]] = {
    "DTypeNode": frozenset({"numpy.dtype"}),
    "DictNode": frozenset({"builtins.dict", "sklearn.utils._bunch.Bunch"}),
    "FunctionNode": frozenset(_named(_FUNCTIONS)),
    "JsonNode": frozenset({"builtins.str"}),
    "ListNode": frozenset({"builtins.list"}),
    "LossNode": frozenset(
        _named(
            {"sklearn._loss._loss": "CyHalfBinomialLoss CyHalfMultinomialLoss CyHalfSquaredError"}
        )
    ),
    "MaskedArrayNode": frozenset({"numpy.ma.MaskedArray"}),
    "NdArrayNode": frozenset({"numpy.ndarray", *_named({"numpy": _NUMBERS})}),
    "ObjectNode": frozenset(_named(_ESTIMATORS)),
    "PartialNode": frozenset({"functools.partial"}),
    "RandomGeneratorNode": frozenset({"numpy.random._generator.Generator"}),
    "RandomStateNode": frozenset({"numpy.random.mtrand.RandomState"}),
    "SetNode": frozenset({"builtins.set"}),
    "SliceNode": frozenset({"builtins.slice"}),
    "TreeNode": frozenset({"sklearn.tree._tree.Tree"}),
    "TupleNode": frozenset({"builtins.tuple"}),
    "TypeNode": frozenset(
        {*_named({"builtins": "bool float int object str"}), *_named({"numpy": _NUMBERS})}
    ),
}
TRUSTED = sorted(frozenset().union(*PERMITTED.values()))


def import_skops() -> ModuleType:
    """Return ``skops.io``; PyTorch is not imported on its behalf."""
    if "skops.io" in sys.modules:
        return sys.modules["skops.io"]
    finder = _WithoutTorch()
    sys.meta_path.insert(0, finder)
    try:
        return import_module("skops.io")
    finally:
        sys.meta_path.remove(finder)


class _WithoutTorch(MetaPathFinder):
    """Finds no PyTorch in the thread that made it; other threads may import it meanwhile."""

    def __init__(self) -> None:
        self.thread = get_ident()

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        """Return nothing, so that the next finder looks; refuse PyTorch."""
        if name == "torch" and get_ident() == self.thread:
            raise ModuleNotFoundError("PyTorch is not needed here", name=name)


_LEAF = -1
_N_BITSET_WORDS = 8  # of 32 bits: one bit for each of 256 categories
_REFERENCE = "CachedNode"  # a node that refers to an object built before
_DESCRIPTION = "schema.json"


def estimator_bytes(model: Any) -> bytes:
    """Return a fitted estimator as the content of a skops file that can be read again."""
    skops = import_skops()

    try:
        content: bytes = skops.dumps(model)
    except Exception as error:
        raise PersistenceError(f"skops cannot write it: {first_line(error)}.") from error
    estimator_of(content)
    return content


def estimator_of(content: bytes) -> Any:
    """Return the estimator in a skops file; nothing else is built or run."""
    skops = import_skops()

    _check_types(_description(content))
    try:
        _check_arrays(content)
        model = skops.loads(content, trusted=TRUSTED)
        _check_trees(model)
    except Exception as error:  # of a file that somebody changed; skops and numpy raise any
        raise PersistenceError(f"the skops file is damaged: {first_line(error)}.") from error
    return model


def _description(content: bytes) -> Any:
    """Return the file's description of its content; all parts of the file must be uncompressed."""
    try:
        with ZipFile(BytesIO(content)) as archive:
            if any(not _is_plain(part, len(content)) for part in archive.infolist()):
                raise ValueError("its parts are compressed")
            return json.loads(archive.read(_DESCRIPTION))
    except Exception as error:  # zipfile and json raise many
        raise PersistenceError(f"this is not a skops file: {first_line(error)}.") from error


def _is_plain(part: ZipInfo, size: int) -> bool:
    stored = part.compress_type == ZIP_STORED and part.compress_size == part.file_size
    return stored and part.file_size <= size


def _check_types(description: Any) -> None:
    refused = set()
    for node in _nodes(description):
        loader, module, name = (node.get(f"__{key}__") for key in ("loader", "module", "class"))
        if loader != _REFERENCE and f"{module}.{name}" not in PERMITTED.get(str(loader), ()):
            refused.add(f"{module}.{name}")
    if refused:
        raise PersistenceError(
            f"it holds {quoted(sorted(refused))}, which is not on the list of types that are"
            " saved and loaded."
        )


def _nodes(description: Any) -> Iterator[dict[str, Any]]:
    """Yield every object of the description, of whatever type."""
    waiting = [description]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if any(key in value for key in ("__loader__", "__class__", "__module__")):
                yield value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _check_arrays(content: bytes) -> None:
    """Refuse arrays that claim another length than they have, and trees of several outputs."""
    # Of nodes with the same id skops builds the first, so all of them must say the same.
    with ZipFile(BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if name != _DESCRIPTION]
        shapes = {name: _shape(archive.read(name)) for name in names}
        nodes = list(_nodes(json.loads(archive.read(_DESCRIPTION))))
    facts_by_id: dict[Any, Any] = {}
    n_uses = Counter(node.get("__id__") for node in nodes)
    for node in nodes:
        facts = tuple(str(node.get(key)) for key in ("__loader__", "type", "file"))
        facts += (node["content"],) if node["__loader__"] == "JsonNode" else ()
        if facts_by_id.setdefault(node.get("__id__"), facts) != facts:
            raise ValueError("two objects in the place of one")
        if node["__loader__"] == "TreeNode":
            arguments = node["__reduce__"]["args"]
            _, classes, outputs = arguments["content"]
            is_single = outputs["content"] == "1" and shapes[classes["file"]] == (1,)
            if not is_single or n_uses[arguments["__id__"]] > 1:
                raise ValueError("a tree of several outputs")


def _shape(content: bytes) -> tuple[int, ...]:
    stream = BytesIO(content)
    version = np.lib.format.read_magic(stream)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    shape, _, dtype = read[version](stream)
    size = dtype.itemsize
    for length in shape:
        size *= length
    if dtype.hasobject or size != len(content) - stream.tell():
        raise ValueError("an array of another length than it says")
    return shape


def _check_trees(model: Any) -> None:
    """Raise ValueError where a tree inside a model could not be followed safely."""
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.ensemble._forest import BaseForest
    from sklearn.ensemble._hist_gradient_boosting.gradient_boosting import BaseHistGradientBoosting
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
    from sklearn.tree import BaseDecisionTree
    from sklearn.tree._tree import Tree

    owned: set[int] = set()
    parts = list(_parts(model))
    for part in parts:
        if isinstance(part, BaseDecisionTree) and hasattr(part, "tree_"):
            _check_tree(part.tree_, Tree, part.n_features_in_)
            owned.add(id(part.tree_))
        elif isinstance(part, BaseForest) and hasattr(part, "estimators_"):
            _check_members(part, list(part.estimators_))
        elif isinstance(part, GradientBoostingClassifier) and hasattr(part, "estimators_"):
            _check_boosting(part)
        elif isinstance(part, BaseHistGradientBoosting) and hasattr(part, "_predictors"):
            owned |= _check_histograms(part, TreePredictor)
    if any(isinstance(part, Tree | TreePredictor) and id(part) not in owned for part in parts):
        raise ValueError("a tree that belongs to no estimator")


def _parts(model: Any) -> Iterator[Any]:
    """Yield every object inside a model once."""
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, str | bytes | int | float | type | None):
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, dict):
            waiting += [*part.keys(), *part.values()]
        elif isinstance(part, list | tuple | set):
            waiting += part
        elif isinstance(part, np.ndarray):
            waiting += part.ravel().tolist() if part.dtype == object else []
        else:
            waiting += list(getattr(part, "__dict__", {}).values())


def _check_tree(tree: Any, kind: Any, n_features: int) -> None:
    if type(tree) is not kind or not 0 < tree.node_count <= tree.capacity:
        raise ValueError("a decision tree without its nodes")
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    _check_nodes(left != _LEAF, left, right, feature, n_features)


def _check_nodes(inner: Any, left: Any, right: Any, feature: Any, n_features: int) -> None:
    """Refuse children that do not come after their parent, and features that do not exist."""
    own = np.arange(len(inner))[inner]
    for child in (left[inner], right[inner]):
        if ((child <= own) | (child >= len(inner))).any():
            raise ValueError("a tree whose branches lead nowhere")
    if ((feature[inner] < 0) | (feature[inner] >= n_features)).any():
        raise ValueError("a tree that asks for a column which is not there")


def _check_members(ensemble: Any, members: list[Any]) -> None:
    from sklearn.tree import BaseDecisionTree

    n_features = ensemble.n_features_in_
    for member in members:
        if not isinstance(member, BaseDecisionTree) or member.n_features_in_ != n_features:
            raise ValueError("an ensemble of trees that were fitted on other columns")


def _check_boosting(model: Any) -> None:
    trees = model.estimators_
    if not isinstance(trees, np.ndarray) or trees.ndim != 2 or trees.dtype != object:
        raise ValueError("boosting without its trees")
    _check_members(model, trees.ravel().tolist())
    start = model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32))
    if start.shape != (1, trees.shape[1]) or start.dtype != np.float64:
        raise ValueError("boosting with another number of trees than of classes")


def _check_histograms(model: Any, kind: Any) -> set[int]:
    """Check the trees of histogram boosting; return their ids."""
    n_features = int(model.n_features_in_)
    categories = np.asarray(model._bin_mapper.is_categorical_)
    _check_preprocessor(getattr(model, "_preprocessor", None), n_features)
    if categories.shape != (n_features,) or categories.dtype.kind not in "bu":
        raise ValueError("boosting whose bins are of other columns")
    trees = [tree for stage in model._predictors for tree in stage]
    for tree in trees:
        if type(tree) is not kind:
            raise ValueError("boosting without its trees")
        nodes, bits = tree.nodes, tree.raw_left_cat_bitsets
        inner = nodes["is_leaf"] == 0
        if not len(nodes) or bits.ndim != 2 or bits.shape[1] != _N_BITSET_WORDS:
            raise ValueError("a tree without its nodes or categories")
        left, right = (nodes[side].astype(np.int64) for side in ("left", "right"))
        _check_nodes(inner, left, right, nodes["feature_idx"], n_features)
        chosen = nodes[inner & (nodes["is_categorical"] != 0)]
        known = (categories[chosen["feature_idx"]] != 0) & (chosen["bitset_idx"] < len(bits))
        if not known.all():
            raise ValueError("a tree that asks for categories which are not there")
    return {id(tree) for tree in trees}


def _check_preprocessor(transformer: Any, n_features: int) -> None:
    """Refuse a transformer that would change the number of columns."""
    from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder

    if transformer is None:
        return
    columns = np.zeros(n_features, dtype=int)
    for _, step, chosen in transformer.transformers_:
        if not np.any(chosen):
            continue
        if type(step) not in (FunctionTransformer, OrdinalEncoder):
            raise ValueError("boosting that prepares its columns in an unknown way")
        if np.asarray(chosen).dtype != bool:
            raise ValueError("boosting that prepares unknown columns")
        columns += np.asarray(chosen)
    if (columns != 1).any():
        raise ValueError("boosting that drops or repeats columns")


def model_sum(path: Path) -> str:
    """Return the SHA-256 sum of a model's file."""
    # A ``.skops`` file names its arrays after addresses in memory, so that it differs each time it
    # is written. The sum is therefore taken of its description, in which every array is named by
    # its own sum.
    if path.suffix != ".skops":
        return sha256_of(path)
    try:
        with ZipFile(path) as parts:
            sums = {
                name: hashlib.sha256(parts.read(name)).hexdigest()
                for name in parts.namelist()
                if name != _DESCRIPTION
            }
            description = json.loads(parts.read(_DESCRIPTION))
    except (BadZipFile, KeyError, ValueError, RecursionError):
        return sha256_of(path)
    text = json.dumps(_without_addresses(description, sums, {}))
    return hashlib.sha256(text.encode()).hexdigest()


def _without_addresses(value: Any, sums: dict[str, str], numbers: dict[Any, int]) -> Any:
    """Return a description in which objects are numbered in order instead of by address."""
    if isinstance(value, list):
        return [_without_addresses(item, sums, numbers) for item in value]
    if not isinstance(value, dict):
        return value
    record: dict[str, Any] = {}
    for key, item in value.items():
        if key == "__id__":
            record[key] = numbers.setdefault(item, len(numbers))
        elif key == "file":
            record[key] = sums.get(item, item)
        else:
            record[key] = _without_addresses(item, sums, numbers)
    return record
