"""`tf.contrib.lookup`: tables under the names of before."""

from tapeflow.v1.lookup import *  # noqa: F403
from tapeflow.v1.lookup import __all__  # noqa: F401
