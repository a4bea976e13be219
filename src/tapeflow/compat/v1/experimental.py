"""tf.compat.v1.experimental: as `tf.experimental`."""

from tapeflow.experimental import *  # noqa: F403
from tapeflow.experimental import __all__ as _names
from tapeflow.v1.modes import output_all_intermediates

__all__ = [*(name for name in _names if name != "numpy"), "output_all_intermediates"]
