"""Strings hashed into buckets by FarmHash's 64-bit fingerprint, which is the same on every machine."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.signature import integer
from tapeflow.ops.string.rows import each, texts
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator

# FarmHash, Geoff Pike, Google, 2014: the function `Fingerprint64` (the "na" variant).
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F
_ALL = 2**64 - 1


def _word(s: bytes, at: int, size: int = 8) -> int:
    return int.from_bytes(s[at : at + size], "little")


def _rotate(x: int, by: int) -> int:
    x &= _ALL
    return (x >> by | x << (64 - by)) & _ALL


def _mix(x: int) -> int:
    x &= _ALL
    return x ^ x >> 47


def _pair(u: int, v: int, factor: int) -> int:
    a = _mix((u ^ v) * factor)
    return _mix((v ^ a) * factor) * factor & _ALL


def _up_to_16(s: bytes) -> int:
    n = len(s)
    factor = _K2 + n * 2
    if n >= 8:
        a, b = _word(s, 0) + _K2, _word(s, n - 8)
        c = _rotate(b, 37) * factor + a
        d = (_rotate(a, 25) + b) * factor
        return _pair(c & _ALL, d & _ALL, factor)
    if n >= 4:
        return _pair(n + (_word(s, 0, 4) << 3), _word(s, n - 4, 4), factor)
    if n:
        y, z = s[0] + (s[n >> 1] << 8), n + (s[n - 1] << 2)
        return _mix(y * _K2 ^ z * _K0) * _K2 & _ALL
    return _K2


def _up_to_64(s: bytes) -> int:
    n = len(s)
    factor = _K2 + n * 2
    a, b = _word(s, 0) * (_K1 if n <= 32 else _K2), _word(s, 8)
    c, d = _word(s, n - 8) * factor, _word(s, n - 16) * _K2
    y = _rotate(a + b, 43) + _rotate(c, 30) + d
    z = _pair(y & _ALL, (a + _rotate(b + _K2, 18) + c) & _ALL, factor)
    if n <= 32:
        return z
    e, f = _word(s, 16) * factor, _word(s, 24)
    g, h = (y + _word(s, n - 32)) * factor, (z + _word(s, n - 24)) * factor
    left = _rotate(e + f, 43) + _rotate(g, 30) + h
    right = e + _rotate(f + a, 18) + g
    return _pair(left & _ALL, right & _ALL, factor)


def _weak(s: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    w, x, y, z = (_word(s, at + i) for i in (0, 8, 16, 24))
    a += w
    b = _rotate(b + a + z, 21)
    c = a
    a += x + y
    b += _rotate(a, 44)
    return (a + z) & _ALL, (b + c) & _ALL


def _block(s, at, x, y, z, v, w, factor, nine: int = 1):
    """One step over 64 bytes; the last one differs in two factors."""
    x = _rotate(x + y + v[0] + _word(s, at + 8), 37) * factor
    y = _rotate(y + v[1] + _word(s, at + 48), 42) * factor
    x ^= w[1] * nine
    y += v[0] * nine + _word(s, at + 40)
    z = _rotate(z + w[0], 33) * factor & _ALL
    x, y = x & _ALL, y & _ALL
    v = _weak(s, at, v[1] * factor & _ALL, (x + w[0]) & _ALL)
    w = _weak(s, at + 32, (z + w[1]) & _ALL, (y + _word(s, at + 16)) & _ALL)
    return z, y, x, v, w


def fingerprint64(s: bytes) -> int:
    """FarmHash's fingerprint of a string, an unsigned 64-bit number."""
    n = len(s)
    if n <= 16:
        return _up_to_16(s)
    if n <= 64:
        return _up_to_64(s)
    x, y = 81, (81 * _K1 + 113) & _ALL
    z = _mix(y * _K2 + 113) * _K2 & _ALL
    v = w = (0, 0)
    x = (x * _K2 + _word(s, 0)) & _ALL
    rest = (n - 1) & 63
    end = (n - 1) // 64 * 64
    for at in range(0, end, 64):
        x, y, z, v, w = _block(s, at, x, y, z, v, w, _K1)
    factor = _K1 + ((z & 0xFF) << 1)
    w = (w[0] + rest, w[1])
    v = (v[0] + w[0], v[1])
    w = (w[0] + v[0], w[1])
    x, y, z, v, w = _block(s, end + rest - 63, x, y, z, v, w, factor, 9)
    left = _pair(v[0], w[0], factor) + _mix(y) * _K0 + z
    right = _pair(v[1], w[1], factor) + x
    return _pair(left & _ALL, right & _ALL, factor)


@op("StringToHashBucketFast", "input: string -> output: int64", attrs={"num_buckets": integer},
    shape=shapes.elementwise)  # fmt: skip
def StringToHashBucketFast(xp: ModuleType, input: Array, num_buckets: int):
    if num_buckets < 1:
        raise invalid(f"Value for attr 'num_buckets' of {num_buckets} must be at least minimum 1")
    return each(lambda text: fingerprint64(text) % num_buckets, input, kind=np.int64)


StringToHashBucketFast.gradient(None)


@StringToHashBucketFast.samples
def _(rng: SampleGenerator):
    words = texts("a", "b", "hello")
    yield Sample(words, num_buckets=10, expect=np.array([9, 2, 6]))
    yield Sample(words, num_buckets=0, raises=InvalidArgumentError)


@api("strings.to_hash_bucket_fast", v1="string_to_hash_bucket_fast")
@tensor_function
def to_hash_bucket_fast(input: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """Put strings into buckets by a hash that is fast, but not safe against attacks.

    Args:
      input: a string tensor.
      num_buckets: how many buckets there are, an int of at least 1.
      name: a name for the operation (optional).

    Returns:
      An int64 tensor of the shape of `input`, in [0, num_buckets).

    >>> tf.strings.to_hash_bucket_fast(["a", "b"], 10)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([9, 2])>
    """
    return StringToHashBucketFast(input, num_buckets)
