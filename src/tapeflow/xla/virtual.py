"""How many of XLA's CPU devices stand for others: `TAPEFLOW_VIRTUAL_GPUS` and `TAPEFLOW_VIRTUAL_TPUS`, for tests."""

from __future__ import annotations

import os

_VARIABLE = "TAPEFLOW_VIRTUAL_{}S"
_FORCED = "--xla_force_host_platform_device_count"


def kinds() -> list[str]:
    """The kind of each device that is asked for: "GPU" or "TPU".

    Raises:
      ValueError: for what is no number up to 64.
    """
    return [kind for kind in ("GPU", "TPU") for _ in range(_count(_VARIABLE.format(kind)))]


def _count(variable: str) -> int:
    text = os.environ.get(variable) or "0"
    if not text.isdecimal() or int(text) > 64:
        raise ValueError(f"{variable} must be a number of devices up to 64, got {text!r}")
    return int(text)


def request() -> None:
    """Have XLA make so many CPU devices, besides the host, when jax counts them first."""
    count = len(kinds())
    if count:
        others = [flag for flag in os.environ.get("XLA_FLAGS", "").split() if not flag.startswith(_FORCED)]
        os.environ["XLA_FLAGS"] = " ".join([*others, f"{_FORCED}={count + 1}"])
