"""`tf.__internal__.function`: the class of what `tf.function` makes."""

from tapeflow.function.function import Function

__all__ = ["Function"]
