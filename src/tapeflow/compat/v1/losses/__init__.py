"""`tf.losses` of 1.x."""

from tapeflow.v1.losses import *  # noqa: F403
from tapeflow.v1.losses import __all__
