"""`tf.autograph.experimental`."""

from tapeflow.function.autograph.convert import do_not_convert
from tapeflow.function.autograph.options import Feature, set_loop_options

__all__ = ["Feature", "do_not_convert", "set_loop_options"]
