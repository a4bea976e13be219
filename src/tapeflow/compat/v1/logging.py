"""`tf.logging`: the log of 1.x."""

from tapeflow.v1.logging import *  # noqa: F403
from tapeflow.v1.logging import __all__  # noqa: F401
