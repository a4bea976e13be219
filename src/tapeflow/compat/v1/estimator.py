"""`tf.estimator` of 1.x: the same, but losses of batches are sums in the estimators that are ready."""

from tapeflow import estimator as _estimator
from tapeflow.estimator import *  # noqa: F403
from tapeflow.estimator import __all__ as __all__
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
