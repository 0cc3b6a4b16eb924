"""The types that may be read from a skops file; every other type is refused.

Skops itself trusts every estimator of scikit-learn. Estimators that hand arrays of the file to
compiled code which does not check them (neighbours, support vectors, splines) are left out here.
Trees do so too, and :mod:`proce.classifier.sklearn_trees` checks them.
"""

from collections.abc import Iterator

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
