"""Strings hashed into buckets by SipHash with a secret key, and by the older MurmurHash."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.signature import integer, ints
from tapeflow.ops.string.rows import each, texts
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator

_ALL = 2**64 - 1


def _rotate(x: int, by: int) -> int:
    return (x << by | x >> (64 - by)) & _ALL


def _round(v0: int, v1: int, v2: int, v3: int) -> tuple[int, int, int, int]:
    v0, v2 = (v0 + v1) & _ALL, (v2 + v3) & _ALL
    v1, v3 = _rotate(v1, 13) ^ v0, _rotate(v3, 16) ^ v2
    v0, v2 = _rotate(v0, 32), (v2 + v1) & _ALL
    v0 = (v0 + v3) & _ALL
    v1, v3 = _rotate(v1, 17) ^ v2, _rotate(v3, 21) ^ v0
    return v0, v1, _rotate(v2, 32), v3


def siphash(key: tuple[int, int], text: bytes) -> int:
    """SipHash-2-4 of a string (Aumasson and Bernstein, 2012), an unsigned 64-bit number."""
    k0, k1 = (k & _ALL for k in key)
    state = (
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    )
    padded = text + bytes(7 - len(text) % 8) + bytes([len(text) & 255])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        state = (*state[:3], state[3] ^ word)
        state = _round(*_round(*state))
        state = (state[0] ^ word, *state[1:])
    state = (*state[:2], state[2] ^ 0xFF, state[3])
    for _ in range(4):
        state = _round(*state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def murmur64(text: bytes, seed: int = 0xDECAFCAFFE) -> int:
    """MurmurHash64A of a string (Austin Appleby), an unsigned 64-bit number."""
    factor = 0xC6A4A7935BD1E995
    out = seed ^ (len(text) * factor & _ALL)
    whole = len(text) // 8 * 8
    for at in range(0, whole, 8):
        word = int.from_bytes(text[at : at + 8], "little") * factor & _ALL
        word = (word ^ word >> 47) * factor & _ALL
        out = (out ^ word) * factor & _ALL
    if whole < len(text):
        out = (out ^ int.from_bytes(text[whole:], "little")) * factor & _ALL
    out = (out ^ out >> 47) * factor & _ALL
    return out ^ out >> 47


def _check(num_buckets: int) -> None:
    if num_buckets < 1:
        raise invalid(f"Value for attr 'num_buckets' of {num_buckets} must be at least minimum 1")


@op("StringToHashBucketStrong", "input: string -> output: int64",
    attrs={"num_buckets": integer, "key": ints}, shape=shapes.elementwise)  # fmt: skip
def StringToHashBucketStrong(xp: ModuleType, input: Array, num_buckets: int, key: Sequence[int]):
    _check(num_buckets)
    if len(key) != 2:
        raise invalid("Key must have 2 elements")
    pair = int(key[0]), int(key[1])
    return each(lambda text: siphash(pair, text) % num_buckets, input, kind=np.int64)


@op("StringToHashBucket", "string_tensor: string -> output: int64",
    attrs={"num_buckets": integer}, shape=shapes.elementwise)  # fmt: skip
def StringToHashBucket(xp: ModuleType, string_tensor: Array, num_buckets: int):
    _check(num_buckets)
    return each(lambda text: murmur64(text) % num_buckets, string_tensor, kind=np.int64)


StringToHashBucketStrong.gradient(None)
StringToHashBucket.gradient(None)
_WORDS = ("a", "hello", "hello world this is a longer text, more than thirty")


@StringToHashBucketStrong.samples
def _(rng: SampleGenerator):
    yield Sample(texts(*_WORDS), 1000, [1, 2], expect=np.array([646, 622, 374]))
    yield Sample(texts("a"), 1000, [1], raises=InvalidArgumentError)
    yield Sample(texts("a"), 0, [1, 2], raises=InvalidArgumentError)


@StringToHashBucket.samples
def _(rng: SampleGenerator):
    yield Sample(texts(*_WORDS), 1000, expect=np.array([868, 938, 922]))
    yield Sample(texts("a"), -1, raises=InvalidArgumentError)


@api("strings.to_hash_bucket_strong", v1="string_to_hash_bucket_strong")
@tensor_function
def to_hash_bucket_strong(input: TensorLike, num_buckets: int, key: Any, name: str | None = None) -> Tensor:
    """Put strings into buckets by a hash that is safe against attacks while the key is secret.

    Args:
      input: a string tensor.
      num_buckets: how many buckets there are, an int of at least 1.
      key: two integers.
      name: a name for the operation (optional).

    Returns:
      An int64 tensor of the shape of `input`, in [0, num_buckets).

    Raises:
      InvalidArgumentError: for another key.
    """
    return StringToHashBucketStrong(input, num_buckets, list(key))


@api(v2="strings.to_hash_bucket")
@tensor_function
def to_hash_bucket(input: TensorLike, num_buckets, name: str | None = None) -> Tensor:
    """Put strings into buckets by the hash of TensorFlow's first years; prefer `tf.strings.to_hash_bucket_fast`.

    Args:
      input: a string tensor.
      num_buckets: how many buckets there are, an int of at least 1.
      name: a name for the operation (optional).

    Returns:
      An int64 tensor of the shape of `input`, in [0, num_buckets).
    """
    return StringToHashBucket(input, num_buckets)


@api(v1=("strings.to_hash_bucket", "string_to_hash_bucket"))
@tensor_function
def to_hash_bucket_v1(string_tensor=None, num_buckets=None, name: str | None = None, input: TensorLike | None = None):
    """`to_hash_bucket` with the 1.x name of its argument."""
    if num_buckets is None:
        raise TypeError("Expected int for argument 'num_buckets' not None.")

    return StringToHashBucket(renamed("input", input, "string_tensor", string_tensor), num_buckets)
