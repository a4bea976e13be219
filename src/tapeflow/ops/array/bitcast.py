"""The bytes of elements read as another dtype."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.signature import dtype
from tapeflow.ops.table import FLOATING, INTEGER, Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall


_BITS = (
    *FLOATING, *INTEGER, dtypes.complex64, dtypes.complex128,
    dtypes.qint8, dtypes.quint8, dtypes.qint16, dtypes.quint16, dtypes.qint32,
)  # fmt: skip


def _bitcast_rule(call: ShapeCall):
    shape, target = call.shape(0), dtypes.as_dtype(call.attr("type"))
    size, new = call.dtype(0).size, target.size
    if shape is None:
        return [None]
    if size == new:
        return [shape]
    if size > new:
        return [(*shape, size // new)]
    shapes.at_least(shape, 1)
    if shape[-1] not in (None, new // size):
        raise invalid(
            f"Cannot bitcast from {new} to {size} due to shape. {shape[-1]} does not match {new // size}"
        )
    return [shape[:-1]]


@op(
    "Bitcast",
    "input: T -> output: type",
    types={"T": _BITS},
    attrs={"type": dtype},
    shape=_bitcast_rule,
)
def Bitcast(xp: ModuleType, input: Array, type: DType):
    old, new = input.dtype.itemsize, np.dtype(type.as_numpy_dtype).itemsize
    if new > old and (input.ndim == 0 or input.shape[-1] * old != new):
        raise invalid(f"Cannot bitcast from {_enum(input.dtype)} to {type.as_datatype_enum}")
    if new < old:
        input = input.reshape((*input.shape, 1))
    output = xp.ascontiguousarray(input).view(type.as_numpy_dtype)
    if new < old:
        return output
    # NumPy makes a scalar contiguous as a vector.
    return output.reshape(input.shape[:-1] if new > old else input.shape)


def _enum(numpy_dtype) -> int:
    return dtypes.as_dtype(numpy_dtype).as_datatype_enum


Bitcast.gradient(None)


@Bitcast.compiled()
def _(xp: ModuleType, input: Array, type: DType):
    return importlib.import_module("jax.lax").bitcast_convert_type(input, type.as_numpy_dtype)


@Bitcast.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([1.0, 2.0], np.float32), type=dtypes.int32)
    yield Sample(np.array([[1.0, 2.0]], np.float32), type=dtypes.float64)
    yield Sample(np.array([1.0, 2.0], np.float32), type=dtypes.uint8)
    yield Sample(np.float32(1.0), type=dtypes.int32)
    yield Sample(np.float32(1.0), type=dtypes.uint8)
    yield Sample(
        np.array([1.0, 2.0, 3.0], np.float32), type=dtypes.float64, raises=InvalidArgumentError
    )
    yield Sample(np.float32(1.0), type=dtypes.float64, raises=InvalidArgumentError)


@Bitcast.reference
def _(input: np.ndarray, type: DType):
    flat = np.frombuffer(np.asarray(input).tobytes(), type.as_numpy_dtype)
    old, new = np.asarray(input).dtype.itemsize, flat.dtype.itemsize
    if new < old:
        return flat.reshape((*np.shape(input), old // new))
    return flat.reshape(np.shape(input)[: np.ndim(input) - (new > old)])


@api("bitcast")
@tensor_function
def bitcast(input: TensorLike, type, name: str | None = None) -> Tensor:
    """Read the bytes of a tensor as another dtype.

    Args:
      input: a tensor of a numeric or quantized dtype.
      type: the dtype to read the bytes as. Where it is smaller, the result has a last dimension for the parts of an
        element; where it is larger, the last dimension of `input` holds the parts of one.
      name: a name for the operation (optional).

    Returns:
      A tensor of dtype `type`.

    >>> tf.bitcast(tf.constant([1.0]), tf.int32)
    <tf.Tensor: shape=(1,), dtype=int32, numpy=array([1065353216], dtype=int32)>
    """
    return Bitcast(input, dtypes.as_dtype(type))
