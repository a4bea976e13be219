"""tf.xla.experimental."""

from tapeflow.graph.jit_scope import jit_scope

__all__ = ["jit_scope"]
