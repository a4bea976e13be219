"""Estimators of boosted trees."""

from tapeflow.contrib.boosted_trees.estimator_batch import estimator

__all__ = ["estimator"]
