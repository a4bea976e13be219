"""`tf.distributions` of 1.x."""

from tapeflow.v1.distributions import *  # noqa: F403
from tapeflow.v1.distributions import __all__
