"""JAX, imported when the first thing is compiled; the error that names the extra where it is missing."""

from __future__ import annotations

import os

from tapeflow.core.errors import UnimplementedError
from tapeflow.xla import virtual

_CACHE = "TAPEFLOW_CACHE_DIR"
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

if _CACHE in os.environ:  # what was compiled is kept there, and found by later processes
    jax.config.update("jax_compilation_cache_dir", os.environ[_CACHE])
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)

# Results of the host are read at once: handing each program to another thread would only delay them. What the user or
# the environment said stands, as do accelerators that CPU devices stand for.
if "JAX_CPU_ENABLE_ASYNC_DISPATCH" not in os.environ and not virtual.kinds():
    jax.config.update("jax_cpu_enable_async_dispatch", False)

if not _silenced:  # jax silences its own logs by a variable that programs silence ours by
    os.environ.pop(_LEVEL, None)

__all__ = ["jax", "jnp"]
