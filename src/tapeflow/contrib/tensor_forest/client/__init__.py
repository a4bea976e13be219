"""Estimators of random forests."""

from tapeflow.contrib.tensor_forest.client import eval_metrics, random_forest

__all__ = ["eval_metrics", "random_forest"]
