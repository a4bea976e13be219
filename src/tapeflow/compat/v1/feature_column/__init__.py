"""`tf.feature_column` of 1.x."""

from tapeflow.v1.feature_column import *  # noqa: F403
from tapeflow.v1.feature_column import __all__
