"""`tf.estimator`: models as functions, with training, evaluation, prediction and export around them.

TensorFlow had this until 2.15. It runs in graphs and sessions, on one device of one machine.
"""

from tapeflow.estimator import export, inputs
from tapeflow.estimator.boosted_trees import (
    BoostedTreesClassifier,
    BoostedTreesEstimator,
    BoostedTreesRegressor,
)
from tapeflow.estimator.canned import (
    DNNClassifier,
    DNNLinearCombinedClassifier,
    DNNLinearCombinedRegressor,
    DNNRegressor,
    LinearClassifier,
    LinearRegressor,
)
from tapeflow.estimator.estimator import Estimator, WarmStartSettings
from tapeflow.estimator.exporters import BestExporter, Exporter, FinalExporter, LatestExporter
from tapeflow.estimator.run_config import RunConfig
from tapeflow.estimator.spec import EstimatorSpec, ModeKeys
from tapeflow.estimator.training import EvalSpec, TrainSpec, train_and_evaluate
from tapeflow.train import (
    CheckpointSaverHook,
    CheckpointSaverListener,
    FeedFnHook,
    FinalOpsHook,
    GlobalStepWaiterHook,
    LoggingTensorHook,
    NanLossDuringTrainingError,
    NanTensorHook,
    ProfilerHook,
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    StepCounterHook,
    StopAtStepHook,
    SummarySaverHook,
    VocabInfo,
)

__all__ = [
    "BestExporter", "BoostedTreesClassifier", "BoostedTreesEstimator", "BoostedTreesRegressor",
    "CheckpointSaverHook", "CheckpointSaverListener", "DNNClassifier", "DNNLinearCombinedClassifier",
    "DNNLinearCombinedRegressor", "DNNRegressor", "Estimator", "EstimatorSpec", "EvalSpec", "Exporter",
    "FeedFnHook", "FinalExporter", "FinalOpsHook", "GlobalStepWaiterHook", "LatestExporter", "LinearClassifier",
    "LinearRegressor", "LoggingTensorHook", "ModeKeys", "NanLossDuringTrainingError", "NanTensorHook",
    "ProfilerHook", "RunConfig", "SecondOrStepTimer", "SessionRunArgs", "SessionRunContext", "SessionRunHook",
    "SessionRunValues", "StepCounterHook", "StopAtStepHook", "SummarySaverHook", "TrainSpec", "VocabInfo",
    "WarmStartSettings", "export", "inputs", "train_and_evaluate",
]  # fmt: skip
