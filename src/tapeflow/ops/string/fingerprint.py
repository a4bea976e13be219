"""`tf.fingerprint`: eight bytes that tell the rows of a tensor apart."""

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
from tapeflow.ops.string.hashing import fingerprint64
from tapeflow.ops.string.rows import texts
from tapeflow.ops.table import ANY, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall


def _rule(call: ShapeCall):
    shape = shapes.at_least(call.shape(0), 1)
    return [(None if shape is None else shape[0], 8)]


def _bytes_of(row: np.ndarray) -> bytes:
    if row.dtype != object:
        return np.ascontiguousarray(row).tobytes()
    hashes = [fingerprint64(text).to_bytes(8, "little") for text in row]
    return b"".join(hashes)


@op("Fingerprint", "data: T, method: string -> fingerprint: uint8", types={"T": ANY}, ranks="method: 0",
    shape=_rule)
def Fingerprint(xp: ModuleType, data: Array, method: Array):
    if method.ndim:
        raise invalid(f"`method` should be a scalar string: {shape_text(method.shape)}")
    if method[()] != b"farmhash64":
        raise invalid(f"Unsupported fingerprint method: {method[()].decode(errors='replace')}")
    if not data.ndim:
        raise invalid(f"`data` should have at least one dimension: {shape_text(data.shape)}")
    rows = data.reshape(len(data), -1) if data.size else np.zeros((len(data), 0), np.uint8)
    if data.dtype == object and rows.shape[1] == 1:
        hashes = [fingerprint64(text) for text in rows[:, 0]]
    else:
        hashes = [fingerprint64(_bytes_of(row)) for row in rows]
    return np.array(hashes, "<u8").view(np.uint8).reshape(len(hashes), 8)


Fingerprint.gradient(None)


@Fingerprint.samples
def _(rng: SampleGenerator):
    farm = np.array(b"farmhash64", object)
    want = [[76, 18, 253, 133, 168, 204, 240, 10], [254, 162, 60, 240, 103, 244, 53, 255]]
    yield Sample(np.array([[1, 2], [3, 4]], np.int32), farm, expect=np.array(want, np.uint8))
    want = [[227, 117, 223, 182, 101, 66, 69, 179], [22, 241, 200, 94, 33, 96, 178, 163]]
    yield Sample(texts("a", "b"), farm, expect=np.array(want, np.uint8))
    yield Sample(3, farm, raises=InvalidArgumentError)
    yield Sample([3], np.array(b"md5", object), raises=InvalidArgumentError)


@api("fingerprint")
@tensor_function
def fingerprint(
    data: TensorLike, method: str = "farmhash64", name: str | None = None
) -> Tensor:
    """Compute a fingerprint of each row of a tensor.

    Args:
      data: a tensor of rank 1 at least, of any dtype.
      method: "farmhash64" only.
      name: a name for the operation (optional).

    Returns:
      A uint8 tensor `[rows, 8]`.

    Raises:
      InvalidArgumentError: for a scalar, and another method.
    """
    return Fingerprint(data, method)
