"""How many CPU devices of XLA's stand for GPUs: `TAPEFLOW_VIRTUAL_GPUS`, for tests."""

from __future__ import annotations

import os

VARIABLE = "TAPEFLOW_VIRTUAL_GPUS"
_FORCED = "--xla_force_host_platform_device_count"


def count() -> int:
    """The number asked for.

    Raises:
      ValueError: for what is no number up to 64.
    """
    text = os.environ.get(VARIABLE) or "0"
    if not text.isdecimal() or int(text) > 64:
        raise ValueError(f"{VARIABLE} must be a number of devices up to 64, got {text!r}")
    return int(text)


def request() -> None:
    """Have XLA make so many CPU devices, besides the host, when jax counts them first."""
    if count():
        others = [flag for flag in os.environ.get("XLA_FLAGS", "").split() if not flag.startswith(_FORCED)]
        os.environ["XLA_FLAGS"] = " ".join([*others, f"{_FORCED}={count() + 1}"])
