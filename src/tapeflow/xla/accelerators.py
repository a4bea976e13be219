"""The accelerators that there are: those of jax, or CPU devices of XLA's that stand for GPUs in tests.

Nothing here loads jax where it could find none: `TAPEFLOW_VIRTUAL_GPUS=n` asks for n CPU devices as `GPU:0` to
`GPU:n-1`; without it, jax is asked if a package with a driver for GPUs or TPUs is installed.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
from typing import Any

_VIRTUAL = "TAPEFLOW_VIRTUAL_GPUS"
_FORCED = "--xla_force_host_platform_device_count"
_TYPES = {"gpu": "GPU", "cuda": "GPU", "rocm": "GPU", "tpu": "TPU"}


def add() -> None:
    """Add what is found to the devices.

    Raises:
      ValueError: for a number of virtual GPUs that is no number.
      RuntimeError: if jax has counted its devices before virtual ones were asked for.
      UnimplementedError: if jax, which the virtual ones need, is missing.
    """
    virtual = _virtual()
    if virtual:
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_FORCED}={virtual + 1}".strip()
    elif not _has_driver():
        return
    importlib.import_module("tapeflow.xla.device_memory").add_devices(_found(virtual))


def _found(virtual: int) -> list[tuple[str, Any]]:
    """(type, device of jax) of every accelerator."""
    jax = importlib.import_module("tapeflow.xla.importing").jax
    if not virtual:
        return [(_TYPES[d.platform], d) for d in jax.devices() if d.platform in _TYPES]
    spare = jax.devices("cpu")[1 : virtual + 1]
    if len(spare) < virtual:
        raise RuntimeError(
            f"{_VIRTUAL}={virtual}: jax was used before and has {len(spare)} spare CPU devices; "
            f"set XLA_FLAGS={_FORCED}={virtual + 1} for the process, or ask for devices first"
        )
    return [("GPU", device) for device in spare]


def _virtual() -> int:
    text = os.environ.get(_VIRTUAL, "0")
    if not text.isdecimal() or int(text) > 64:
        raise ValueError(f"{_VIRTUAL} must be a number of devices up to 64, got {text!r}")
    return int(text)


def _has_driver() -> bool:
    """Whether a package is installed that lets jax use GPUs or TPUs."""
    plugins = importlib.metadata.entry_points(group="jax_plugins")
    gpus = any(kind in each.name.lower() for each in plugins for kind in ("cuda", "rocm"))
    return gpus or importlib.util.find_spec("libtpu") is not None
