"""`tf.estimator` of 1.x: the same, but losses of batches are sums in the estimators that are ready."""

from tapeflow import estimator as _estimator
from tapeflow.estimator import (
    BaselineEstimator,
    BestExporter,
    BinaryClassHead,
    BoostedTreesClassifier,
    BoostedTreesEstimator,
    BoostedTreesRegressor,
    CheckpointSaverHook,
    CheckpointSaverListener,
    DNNEstimator,
    DNNLinearCombinedEstimator,
    Estimator,
    EstimatorSpec,
    EvalSpec,
    Exporter,
    FeedFnHook,
    FinalExporter,
    FinalOpsHook,
    GlobalStepWaiterHook,
    Head,
    LatestExporter,
    LinearEstimator,
    LoggingTensorHook,
    LogisticRegressionHead,
    ModeKeys,
    MultiClassHead,
    MultiHead,
    MultiLabelHead,
    NanLossDuringTrainingError,
    NanTensorHook,
    PoissonRegressionHead,
    ProfilerHook,
    RegressionHead,
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
    add_metrics,
    classifier_parse_example_spec,
    experimental,
    export,
    inputs,
    regressor_parse_example_spec,
    tpu,
    train_and_evaluate,
)
from tapeflow.estimator.canned import SUM as _SUM


class BaselineClassifier(_estimator.BaselineClassifier):
    __doc__ = _estimator.BaselineClassifier.__doc__
    _reduction = _SUM


class BaselineRegressor(_estimator.BaselineRegressor):
    __doc__ = _estimator.BaselineRegressor.__doc__
    _reduction = _SUM


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
    "BaselineClassifier",
    "BaselineEstimator",
    "BaselineRegressor",
    "BestExporter",
    "BinaryClassHead",
    "BoostedTreesClassifier",
    "BoostedTreesEstimator",
    "BoostedTreesRegressor",
    "CheckpointSaverHook",
    "CheckpointSaverListener",
    "DNNClassifier",
    "DNNEstimator",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
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
    "Head",
    "LatestExporter",
    "LinearClassifier",
    "LinearEstimator",
    "LinearRegressor",
    "LoggingTensorHook",
    "LogisticRegressionHead",
    "ModeKeys",
    "MultiClassHead",
    "MultiHead",
    "MultiLabelHead",
    "NanLossDuringTrainingError",
    "NanTensorHook",
    "PoissonRegressionHead",
    "ProfilerHook",
    "RegressionHead",
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
    "add_metrics",
    "classifier_parse_example_spec",
    "experimental",
    "export",
    "inputs",
    "regressor_parse_example_spec",
    "tpu",
    "train_and_evaluate",
]
