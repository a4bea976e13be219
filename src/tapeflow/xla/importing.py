"""JAX, imported when the first thing is compiled; the error that names the extra where it is missing."""

from __future__ import annotations

from tapeflow.core.errors import UnimplementedError

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

__all__ = ["jax", "jnp"]
