"""Marks of operations that XLA is to compile; see `tf.xla.experimental.jit_scope`."""

from tapeflow.graph.jit_scope import jit_scope as experimental_jit_scope

__all__ = ["experimental_jit_scope"]
