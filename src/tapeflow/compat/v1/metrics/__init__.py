"""`tf.metrics` of 1.x."""

from tapeflow.v1.metrics import *  # noqa: F403
from tapeflow.v1.metrics import __all__
