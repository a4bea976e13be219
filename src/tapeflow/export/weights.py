"""Weights of TF.js models: arrays as bytes in shards of a fixed size, with a manifest; optionally quantized."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

SHARD_BYTES = 4 << 20
_LEVELS: dict[str, Any] = {"uint8": np.uint8, "uint16": np.uint16}
QUANTIZATIONS = (*_LEVELS, "float16")


def quantize(array: np.ndarray, kind: str) -> tuple[np.ndarray, dict[str, Any]]:
    """A float array in fewer bits, and how the manifest describes it.

    The integer kinds divide the range of the values evenly: each value is kept within half a `scale` (apart from
    float32's rounding), and 0, where it is in the range, exactly.

    Args:
      array: float32, finite for the integer kinds.
      kind: "uint8", "uint16" or "float16".

    Raises:
      ValueError: an unknown kind, or values that the kind cannot hold.
    """
    if kind not in QUANTIZATIONS:
        raise ValueError(f"Unknown quantization {kind!r}: expected one of {', '.join(QUANTIZATIONS)}")
    if kind == "float16":
        with np.errstate(over="ignore"):
            half = array.astype(np.float16)
        if not np.array_equal(np.isfinite(half), np.isfinite(array)):
            raise ValueError("a value is too large for float16")
        return half, {"dtype": kind, "original_dtype": "float32"}
    if not np.isfinite(array).all():
        raise ValueError(f"values that are not finite cannot be quantized to {kind}")
    low, high = (float(array.min()), float(array.max())) if array.size else (0.0, 0.0)
    steps = int(np.iinfo(_LEVELS[kind]).max)
    if low == high:
        scale = 1.0
    elif low < 0 < high:  # one step less: moving the lowest level so that 0 is a level takes up to a step
        scale = (high - low) / (steps - 1)
        low = -np.ceil(-low / scale) * scale
    else:
        scale = (high - low) / steps
    if scale == 0:
        raise ValueError(f"the range of the values is too small to be quantized to {kind}")
    levels = np.clip(np.rint((array.astype(np.float64) - low) / scale), 0, steps)
    return levels.astype(_LEVELS[kind]), {
        "dtype": kind, "min": float(low), "scale": scale, "original_dtype": "float32",
    }  # fmt: skip


def encode(name: str, array: np.ndarray, quantization: str | None = None) -> tuple[bytes, dict[str, Any]]:
    """The bytes of a weight and its entry in the manifest.

    TF.js has float32, int32, bool and string only: other numbers become one of the first two.

    Args:
      name: that of the weight.
      array: of any shape; of strings: an object array of bytes.
      quantization: what float weights become; None: they stay float32.

    Raises:
      ValueError: values that TF.js's dtypes cannot hold.
    """
    entry: dict[str, Any] = {"name": name, "shape": list(array.shape)}
    if array.dtype == object:
        texts = [bytes(x) for x in array.ravel()]
        return b"".join(struct.pack("<I", len(x)) + x for x in texts), {**entry, "dtype": "string"}
    if array.dtype == bool:
        return array.astype(np.uint8).tobytes(), {**entry, "dtype": "bool"}
    if array.dtype.kind in "iu":
        limits = np.iinfo(np.int32)
        if array.size and (array.min() < limits.min or array.max() > limits.max):
            raise ValueError(f"{name}: TF.js has no integers beyond 32 bits, and a value needs them")
        return array.astype("<i4").tobytes(), {**entry, "dtype": "int32"}
    if array.dtype.kind == "c":
        raise ValueError(f"{name}: complex weights are not supported")
    floats = array.astype(np.float32)
    entry["dtype"] = "float32"
    if quantization is not None:
        try:
            floats, entry["quantization"] = quantize(floats, quantization)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return floats.astype(floats.dtype.newbyteorder("<")).tobytes(), entry


def shards(encoded: Sequence[bytes], size: int = SHARD_BYTES) -> list[bytes]:
    """All weights, one after the other, cut into pieces of `size` bytes; the last may be smaller."""
    whole = b"".join(encoded)
    return [whole[i : i + size] for i in range(0, len(whole), size)]
