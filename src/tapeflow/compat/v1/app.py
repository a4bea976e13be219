"""`tf.app`: programs with flags."""

from tapeflow.v1.app import *  # noqa: F403
from tapeflow.v1.app import __all__  # noqa: F401
