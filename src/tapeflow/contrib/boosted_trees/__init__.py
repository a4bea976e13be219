"""`tf.contrib.boosted_trees`: boosted trees that a `LearnerConfig` describes."""

from tapeflow.contrib.boosted_trees import estimator_batch, proto

__all__ = ["estimator_batch", "proto"]
