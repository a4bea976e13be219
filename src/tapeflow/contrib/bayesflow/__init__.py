"""`tf.contrib.bayesflow`: expectations by sampling."""

from tapeflow.contrib.bayesflow import monte_carlo

__all__ = ["monte_carlo"]
