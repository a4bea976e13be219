"""`tf.contrib.tensorboard`: what programs tell TensorBoard's plugins."""

from tapeflow.contrib.tensorboard import plugins

__all__ = ["plugins"]
