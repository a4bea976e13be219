"""How many CPU devices XLA makes: those that stand for others in tests, and the CPUs that the host was split into.

`TAPEFLOW_VIRTUAL_GPUS` and `TAPEFLOW_VIRTUAL_TPUS` ask for the first, `tf.config.set_logical_device_configuration` for
the second. They follow the host in this order.
"""

from __future__ import annotations

import os

from tapeflow.core import device

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
    count = len(kinds()) + len(device.devices("CPU"))
    flags = os.environ.get("XLA_FLAGS", "").split()
    asked = [int(flag.partition("=")[2] or 1) for flag in flags if flag.startswith(_FORCED)]
    if count > max([1, *asked]):
        others = [flag for flag in flags if not flag.startswith(_FORCED)]
        os.environ["XLA_FLAGS"] = " ".join([*others, f"{_FORCED}={count}"])
