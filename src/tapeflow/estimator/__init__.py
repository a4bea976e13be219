"""`tf.estimator`: models as functions, with training, evaluation, prediction and export around them.

TensorFlow had this until 2.15. It runs in graphs and sessions, on one device of one machine.
"""

from tapeflow.estimator import experimental, export, inputs
from tapeflow.estimator.baseline import BaselineClassifier, BaselineEstimator, BaselineRegressor
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
from tapeflow.estimator.extending import add_metrics
from tapeflow.estimator.multi_head import MultiHead
from tapeflow.estimator.of_heads import DNNEstimator, DNNLinearCombinedEstimator, LinearEstimator
from tapeflow.estimator.parse_specs import (
    classifier_parse_example_spec,
    regressor_parse_example_spec,
)
from tapeflow.estimator.public_heads import (
    BinaryClassHead,
    LogisticRegressionHead,
    MultiClassHead,
    MultiLabelHead,
    PoissonRegressionHead,
    RegressionHead,
)
from tapeflow.estimator.public_heads import PublicHead as Head
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
    "BaselineClassifier", "BaselineEstimator", "BaselineRegressor", "BestExporter", "BinaryClassHead",
    "BoostedTreesClassifier", "BoostedTreesEstimator", "BoostedTreesRegressor", "CheckpointSaverHook",
    "CheckpointSaverListener", "DNNClassifier", "DNNEstimator", "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator", "DNNLinearCombinedRegressor", "DNNRegressor", "Estimator", "EstimatorSpec",
    "EvalSpec", "Exporter", "FeedFnHook", "FinalExporter", "FinalOpsHook", "GlobalStepWaiterHook", "Head",
    "LatestExporter", "LinearClassifier", "LinearEstimator", "LinearRegressor", "LoggingTensorHook",
    "LogisticRegressionHead", "ModeKeys", "MultiClassHead", "MultiHead", "MultiLabelHead",
    "NanLossDuringTrainingError", "NanTensorHook", "PoissonRegressionHead", "ProfilerHook", "RegressionHead",
    "RunConfig", "SecondOrStepTimer", "SessionRunArgs", "SessionRunContext", "SessionRunHook", "SessionRunValues",
    "StepCounterHook", "StopAtStepHook", "SummarySaverHook", "TrainSpec", "VocabInfo", "WarmStartSettings",
    "add_metrics", "classifier_parse_example_spec", "experimental", "export", "inputs",
    "regressor_parse_example_spec", "train_and_evaluate",
]  # fmt: skip
