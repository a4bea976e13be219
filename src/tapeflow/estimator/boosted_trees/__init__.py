"""Boosted trees: estimators of trees each of which corrects what those before it say."""

from tapeflow.estimator.boosted_trees.canned import (
    BoostedTreesClassifier,
    BoostedTreesEstimator,
    BoostedTreesRegressor,
)

__all__ = ["BoostedTreesClassifier", "BoostedTreesEstimator", "BoostedTreesRegressor"]
