"""`tf.image`: what there is of it so far, the random crop of any tensor."""

from tapeflow.ops.random import random_crop

__all__ = ["random_crop"]
