"""`tf.contrib.timeseries`: series of observations, and an autoregressive model of them."""

from tapeflow.contrib.timeseries import feature_keys
from tapeflow.contrib.timeseries.ar_model import ARModel
from tapeflow.contrib.timeseries.estimators import ARRegressor
from tapeflow.contrib.timeseries.feature_keys import TrainEvalFeatures
from tapeflow.contrib.timeseries.input_pipeline import (
    CSVReader,
    NumpyReader,
    RandomWindowInputFn,
    WholeDatasetInputFn,
    predict_continuation_input_fn,
)

__all__ = [
    "ARModel", "ARRegressor", "CSVReader", "NumpyReader", "RandomWindowInputFn", "TrainEvalFeatures",
    "WholeDatasetInputFn", "feature_keys", "predict_continuation_input_fn",
]  # fmt: skip
