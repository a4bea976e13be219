"""`tf.contrib.compiler`: operations that XLA compiles."""

from tapeflow.contrib.compiler import jit, xla
