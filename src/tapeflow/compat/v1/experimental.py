"""tf.compat.v1.experimental: as `tf.experimental`."""

from tapeflow.compat.v1.modes import output_all_intermediates
from tapeflow.experimental import *  # noqa: F403
from tapeflow.experimental import __all__ as _names

__all__ = [*(name for name in _names if name != "numpy"), "output_all_intermediates"]
