"""The accelerators that there are: those of jax, or CPU devices of XLA's that stand for GPUs and TPUs in tests.

Nothing here loads jax where it could find none: `TAPEFLOW_VIRTUAL_GPUS=n` asks for n CPU devices as `GPU:0` to
`GPU:n-1`, and `TAPEFLOW_VIRTUAL_TPUS=n` for TPUs; without either, jax is asked if a package with a driver for GPUs or
TPUs is installed.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from typing import Any

from tapeflow.xla import virtual

_TYPES = {"gpu": "GPU", "cuda": "GPU", "rocm": "GPU", "tpu": "TPU"}


def add() -> None:
    """Add what is found to the devices.

    Raises:
      ValueError: for a number of virtual devices that is no number.
      RuntimeError: if jax counted its devices before virtual ones were asked for.
      UnimplementedError: if jax, which virtual ones need, is missing.
    """
    stand_ins = virtual.kinds()
    if stand_ins or _has_driver():
        importlib.import_module("tapeflow.xla.driver").start(_found(stand_ins))


def _found(stand_ins: list[str]) -> list[tuple[str, Any]]:
    """(type, device of jax) of every accelerator."""
    jax = importlib.import_module("tapeflow.xla.importing").jax
    if not stand_ins:
        return [(_TYPES[d.platform], d) for d in jax.local_devices() if d.platform in _TYPES]
    spare = jax.local_devices(backend="cpu")[1 : len(stand_ins) + 1]
    if len(spare) < len(stand_ins):
        raise RuntimeError(
            f"{len(stand_ins)} virtual devices: jax counted its devices before, and has {len(spare)} CPU devices "
            "besides the host; set TAPEFLOW_VIRTUAL_GPUS and TAPEFLOW_VIRTUAL_TPUS before the process starts"
        )
    return list(zip(stand_ins, spare, strict=True))


def _has_driver() -> bool:
    """Whether a package is installed that lets jax use GPUs or TPUs."""
    plugins = importlib.metadata.entry_points(group="jax_plugins")
    gpus = any(kind in each.name.lower() for each in plugins for kind in ("cuda", "rocm"))
    return gpus or importlib.util.find_spec("libtpu") is not None
