"""`tf.layers.experimental`."""

from tapeflow.v1.layers.style import keras_style_scope, set_keras_style

__all__ = ["keras_style_scope", "set_keras_style"]
