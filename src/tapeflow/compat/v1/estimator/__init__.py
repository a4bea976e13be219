"""`tf.estimator` of 1.x: the same, but losses of batches are sums in the estimators that are ready."""

from tapeflow import estimator as _estimator
from tapeflow.estimator import (
    BestExporter,
    BoostedTreesClassifier,
    BoostedTreesEstimator,
    BoostedTreesRegressor,
    CheckpointSaverHook,
    CheckpointSaverListener,
    Estimator,
    EstimatorSpec,
    EvalSpec,
    Exporter,
    FeedFnHook,
    FinalExporter,
    FinalOpsHook,
    GlobalStepWaiterHook,
    LatestExporter,
    LoggingTensorHook,
    ModeKeys,
    NanLossDuringTrainingError,
    NanTensorHook,
    ProfilerHook,
    RunConfig,
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    StepCounterHook,
    StopAtStepHook,
    SummarySaverHook,
    TrainSpec,
    VocabInfo,
    WarmStartSettings,
    export,
    inputs,
    tpu,
    train_and_evaluate,
)
from tapeflow.estimator.canned import SUM as _SUM


class DNNClassifier(_estimator.DNNClassifier):
    __doc__ = _estimator.DNNClassifier.__doc__
    _reduction = _SUM


class DNNRegressor(_estimator.DNNRegressor):
    __doc__ = _estimator.DNNRegressor.__doc__
    _reduction = _SUM


class LinearClassifier(_estimator.LinearClassifier):
    __doc__ = _estimator.LinearClassifier.__doc__
    _reduction = _SUM


class LinearRegressor(_estimator.LinearRegressor):
    __doc__ = _estimator.LinearRegressor.__doc__
    _reduction = _SUM


class DNNLinearCombinedClassifier(_estimator.DNNLinearCombinedClassifier):
    __doc__ = _estimator.DNNLinearCombinedClassifier.__doc__
    _reduction = _SUM


class DNNLinearCombinedRegressor(_estimator.DNNLinearCombinedRegressor):
    __doc__ = _estimator.DNNLinearCombinedRegressor.__doc__
    _reduction = _SUM


__all__ = [
    "BestExporter",
    "BoostedTreesClassifier",
    "BoostedTreesEstimator",
    "BoostedTreesRegressor",
    "CheckpointSaverHook",
    "CheckpointSaverListener",
    "DNNClassifier",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "Estimator",
    "EstimatorSpec",
    "EvalSpec",
    "Exporter",
    "FeedFnHook",
    "FinalExporter",
    "FinalOpsHook",
    "GlobalStepWaiterHook",
    "LatestExporter",
    "LinearClassifier",
    "LinearRegressor",
    "LoggingTensorHook",
    "ModeKeys",
    "NanLossDuringTrainingError",
    "NanTensorHook",
    "ProfilerHook",
    "RunConfig",
    "SecondOrStepTimer",
    "SessionRunArgs",
    "SessionRunContext",
    "SessionRunHook",
    "SessionRunValues",
    "StepCounterHook",
    "StopAtStepHook",
    "SummarySaverHook",
    "TrainSpec",
    "VocabInfo",
    "WarmStartSettings",
    "export",
    "inputs",
    "tpu",
    "train_and_evaluate",
]
