"""tf.config.optimizer: options of the optimizer of graphs."""

from tapeflow.core.config import (
    get_experimental_options,
    get_jit,
    set_experimental_options,
    set_jit,
)

__all__ = ["get_experimental_options", "get_jit", "set_experimental_options", "set_jit"]
