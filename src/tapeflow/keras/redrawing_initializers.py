"""Initializers that draw again at every call. Configs have the names of those of `keras.initializers` for them."""

from __future__ import annotations

from tapeflow.api import api
from tapeflow.core.public import boundaries
from tapeflow.keras import initializers


@api(v2="random_uniform_initializer")
class RandomUniform(initializers.RandomUniform):
    """`tf.random_uniform_initializer`: draws again at every call, whichever Keras there is.

    Args:
      minval: the lower bound.
      maxval: the upper bound, which does not occur.
      seed: an integer for the same numbers at every call; None for others each time.
    """

    _draws_seed = False


@api(v2="random_normal_initializer")
class RandomNormal(initializers.RandomNormal):
    """`tf.random_normal_initializer`: draws again at every call, whichever Keras there is.

    Args:
      mean: the mean of the distribution.
      stddev: the standard deviation.
      seed: an integer for the same numbers at every call; None for others each time.
    """

    _draws_seed = False


boundaries(globals())
