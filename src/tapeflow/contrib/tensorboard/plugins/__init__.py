"""`tf.contrib.tensorboard.plugins`."""

from tapeflow.contrib.tensorboard.plugins import projector

__all__ = ["projector"]
