"""`tf.contrib.learn.learn_runner`: carries out experiments."""

from tapeflow.contrib.learn.experiment import run

__all__ = ["run"]
