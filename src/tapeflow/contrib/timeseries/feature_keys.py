"""The keys of features and results of time series."""


class Times:
    """The time of each observation."""

    TIMES = "times"


class Values:
    """The values that are observed."""

    VALUES = "values"


class TrainEvalFeatures(Times, Values):
    """Features of training and evaluation."""


class PredictionFeatures(Times):
    """Features of predictions."""

    STATE_TUPLE = "start_tuple"


class FilteringResults(Times):
    """Results of an evaluation."""

    STATE_TUPLE = "start_tuple"
    OBSERVED = "observed"


class PredictionResults(Times):
    """Results of predictions."""


class State:
    """What a model goes on from."""

    STATE_TUPLE = "start_tuple"
    STATE_PREFIX = "model_state"
