"""`tf.contrib.learn`: estimators of before `tf.estimator`, experiments, data sets, and the preparation of texts."""

import importlib
from typing import Any

from tapeflow.contrib.learn import datasets, preprocessing
from tapeflow.contrib.learn.interfaces import Evaluable, Trainable
from tapeflow.contrib.learn.spec import (
    ModeKeys,
    ModelFnOps,
    PredictionKey,
    ProblemType,
    RunConfig,
    TaskType,
)
from tapeflow.train import NanLossDuringTrainingError

# What builds on estimators is loaded when it is asked for.
_LATER = {
    "canned": [
        "DNNClassifier", "DNNEstimator", "DNNLinearCombinedClassifier", "DNNLinearCombinedEstimator",
        "DNNLinearCombinedRegressor", "DNNRegressor", "LinearClassifier", "LinearEstimator", "LinearRegressor",
    ],
    "estimator": [
        "Estimator", "SKCompat", "infer_real_valued_columns_from_input", "infer_real_valued_columns_from_input_fn",
    ],
    "experiment": ["Experiment", "ExportStrategy"],
    "graph_io": [
        "queue_parsed_features", "read_batch_examples", "read_batch_features", "read_batch_record_features",
        "read_keyed_batch_examples", "read_keyed_batch_features",
    ],
    "head": [
        "Head", "binary_svm_head", "loss_only_head", "multi_class_head", "multi_head", "multi_label_head",
        "no_op_train_fn", "poisson_regression_head", "regression_head",
    ],
    "kmeans": ["KMeansClustering"],
    "logistic_regressor": ["LogisticRegressor"],
    "metric_key": ["MetricKey"],
    "metric_spec": ["MetricSpec"],
    "serving": ["InputFnOps", "build_parsing_serving_input_fn", "make_export_strategy"],
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _LATER.items() for name in names}
_MODULES = ("learn_runner", "monitors", "utils")

__all__ = [
    "Evaluable", "ModeKeys", "ModelFnOps", "NanLossDuringTrainingError", "PredictionKey", "ProblemType", "RunConfig",
    "TaskType", "Trainable", "datasets", "preprocessing",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"tapeflow.contrib.learn.{name}")
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"tapeflow.contrib.learn.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'tapeflow.contrib.learn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULE_OF, *_MODULES})
