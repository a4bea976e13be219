"""The names of `tf.contrib.summary`, for programs that import them from this module."""

from tapeflow.contrib.summary import *  # noqa: F403
from tapeflow.contrib.summary import __all__ as __all__
