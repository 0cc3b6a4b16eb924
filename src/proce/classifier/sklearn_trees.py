"""Check trees that were read from a file before scikit-learn's compiled code follows them.

That code takes the positions of children, features and categories as they are: a position that
points outside ends the process, and one that points back makes an endless loop.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

_LEAF = -1
_N_BITSET_WORDS = 8  # of 32 bits: one bit for each of 256 categories


def check_trees(model: Any) -> None:
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
