"""JAX, imported when the first thing is compiled; the error that names the extra where it is missing."""

from __future__ import annotations

import os

from tapeflow.core.errors import UnimplementedError
from tapeflow.xla import virtual

_LEVEL = "TF_CPP_MIN_LOG_LEVEL"
_silenced = _LEVEL in os.environ
virtual.request()

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    raise UnimplementedError(
        None,
        None,
        "Compiling with XLA (jit_compile=True) needs jax, which is not installed: "
        "pip install 'tapeflow[xla]'",
    ) from error

if not _silenced:  # jax silences its own logs by a variable that programs silence ours by
    os.environ.pop(_LEVEL, None)

__all__ = ["jax", "jnp"]
