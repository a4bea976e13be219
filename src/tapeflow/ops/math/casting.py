"""Conversion between element types."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes, promotion
from tapeflow.core.annotations import Array, DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.math import arithmetic
from tapeflow.ops.signature import dtype
from tapeflow.ops.table import ANY, Sample, op
from tapeflow.ops.validate import type_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator


@op(
    "Cast",
    "x: SrcT -> y: DstT",
    types={"SrcT": ANY},
    attrs={"DstT": dtype, "Truncate": False},
    shape=shapes.elementwise,
    foldable=True,
)
def Cast(xp: ModuleType, x: Array, DstT: DType, Truncate: bool):
    if x.dtype.kind in "OSU" or DstT is dtypes.string:
        source = dtypes.string if x.dtype.kind in "OSU" else dtypes.as_dtype(x.dtype)
        raise UnimplementedError(
            None, None, f"Cast {type_text(source)} to {type_text(DstT)} is not supported"
        )
    target = np.dtype(DstT.as_numpy_dtype)
    if x.dtype.kind == "c" and target.kind != "c" and target.kind != "b":
        x = xp.real(x)
    if target.kind in "iu" and x.dtype.kind not in "iub" and target.itemsize < 4:
        # Numbers out of range wrap, as they do through the next wider integer.
        return x.astype(np.int32).astype(target)
    y = x.astype(target)
    if Truncate and dtypes.as_dtype(x.dtype).is_floating and DstT.is_floating and target.itemsize < x.dtype.itemsize:
        # What was rounded away from zero goes back by one step.
        return xp.where(abs(y.astype(x.dtype)) > abs(x), xp.nextafter(y, target.type(0)), y)
    return y


@Cast.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    source = call.dtype("x")
    continuous = source.is_floating or source.is_complex
    return (
        Cast(dy, source) if continuous and (dy.dtype.is_floating or dy.dtype.is_complex) else None
    )


@Cast.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), DstT=dtypes.float32)
    yield Sample(
        np.array([1.9, -1.9, 0.0]), DstT=dtypes.int32, expect=np.array([1, -1, 0], np.int32)
    )
    for kind, size in ((dtypes.bfloat16, 3.140625), (dtypes.float16, 3.140625), (dtypes.float32, 3.1415925)):
        yield Sample(
            np.array([3.14159265358, -3.14159265358, 1.0, np.inf]), DstT=kind, Truncate=True,
            expect=np.array([size, -size, 1.0, np.inf]).astype(kind.as_numpy_dtype), differentiable=False,
        )  # fmt: skip
    yield Sample(
        np.array([300, -1], np.int32), DstT=dtypes.uint8, expect=np.array([44, 255], np.uint8)
    )
    yield Sample(np.array([0, 2], np.int64), DstT=dtypes.bool, expect=np.array([False, True]))
    yield Sample(np.array([True, False]), DstT=dtypes.float64, expect=np.array([1.0, 0.0]))
    yield Sample(
        np.array([1 + 2j]), DstT=dtypes.float64, expect=np.array([1.0]), differentiable=False
    )
    yield Sample(rng.normal(0), DstT=dtypes.bfloat16)
    yield Sample(np.array([b"1"], object), DstT=dtypes.int32, raises=UnimplementedError)
    yield Sample(rng.normal(2), DstT=dtypes.string, raises=UnimplementedError)


@Cast.reference
def _(x: np.ndarray, DstT: DType, Truncate: bool):
    return np.array(x.tolist(), DstT.as_numpy_dtype)


@api("dtypes.cast", "cast")
@tensor_function
def cast(x: Any, dtype: Any, name: str | None = None):
    """Convert the elements of a tensor to another dtype.

    Floating numbers are truncated towards zero on the way to integers; complex numbers lose their imaginary part;
    numbers become True where they are not zero. What is out of range of the new dtype gives a number that is not
    defined, see `tf.dtypes.saturate_cast`.

    Args:
      x: a tensor, or `tf.IndexedSlices` or anything a tensor is made of.
      dtype: the dtype to convert to, numeric or bool.
      name: a name for the operation (optional).

    Returns:
      A tensor of `dtype` and of the shape of `x`: `x` itself where it has that dtype already.

    Raises:
      UnimplementedError: for strings; see `tf.strings.to_number` and `tf.strings.as_string`.

    >>> tf.cast([1.8, -2.2], tf.int32)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 1, -2], dtype=int32)>
    >>> tf.cast([0, 1, 2], tf.bool)
    <tf.Tensor: shape=(3,), dtype=bool, numpy=array([False,  True,  True])>
    """
    kind = dtypes.as_dtype(dtype).base_dtype
    if isinstance(x, IndexedSlices):
        return IndexedSlices(cast(x.values, kind), x.indices, x.dense_shape)
    x = convert_to_tensor(x)
    if x.dtype is kind and not (promotion.automatic() and promotion.is_weak(x)):
        return x
    return Cast(x, kind)


@api("dtypes.saturate_cast", "saturate_cast")
@tensor_function
@graph_scope("saturate_cast")
def saturate_cast(value: Any, dtype: DTypeLike, name: str | None = None):
    """Convert the elements of a tensor to another dtype, numbers out of its range to the nearest in range.

    Args:
      value: a numeric tensor.
      dtype: the dtype to convert to.
      name: a name for the operation (optional).

    Returns:
      A tensor of `dtype` and of the shape of `value`. NaN becomes what `tf.cast` makes of it.

    >>> tf.dtypes.saturate_cast([300, -5, 17], tf.uint8)
    <tf.Tensor: shape=(3,), dtype=uint8, numpy=array([255,   0,  17], dtype=uint8)>
    """
    kind = dtypes.as_dtype(dtype).base_dtype
    value = convert_to_tensor(value)
    source = value.dtype
    if kind.is_complex and not source.is_complex:
        return cast(saturate_cast(value, kind.real_dtype), kind)
    if source.is_complex and source is not kind:
        from tapeflow.ops.math import complex_numbers as parts

        if kind.is_complex:
            if kind.size > source.size:  # nothing is out of its range; infinities stay
                return cast(value, kind)
            each = (saturate_cast(part(value), kind.real_dtype) for part in (parts.real, parts.imag))
            return parts.complex(*each)
        value = parts.real(value)
        source = value.dtype
    if not source.is_complex and not kind.is_bool:
        infinite = source.is_floating  # an infinity becomes the largest finite number
        (least, most), (low, high) = _limits(source), _limits(kind)
        if infinite or least < low:
            value = arithmetic.Maximum(value, _representable(source, max(least, low), kind))
        if infinite or most > high:
            value = arithmetic.Minimum(value, _representable(source, min(most, high), kind))
    return cast(value, kind)


def _limits(dtype: DType):
    """The least and greatest finite number as Python's, which compare without being rounded."""
    number = float if dtype.is_floating else int
    return number(dtype.min), number(dtype.max)


def _representable(source, limit, kind):
    """`limit`, or the next number of `source` towards zero, should rounding it lead out of the range of `kind`."""
    numpy_type = source.as_numpy_dtype
    rounded = np.array(limit).astype(numpy_type)
    number = int if kind.is_integer else float
    if source.is_floating and abs(number(rounded)) > abs(number(limit)):
        rounded = np.nextafter(rounded, np.array(0, numpy_type))
    return rounded


@api(v1="to_float")
@tensor_function
@graph_scope("ToFloat")
def to_float(x: TensorLike, name: str | None = "ToFloat"):
    """`x` with elements of float32."""
    return cast(x, dtypes.float32)


@api(v1="to_double")
@tensor_function
@graph_scope("ToDouble")
def to_double(x: TensorLike, name: str | None = "ToDouble"):
    """`x` with elements of float64."""
    return cast(x, dtypes.float64)


@api(v1="to_int32")
@tensor_function
@graph_scope("ToInt32")
def to_int32(x: TensorLike, name: str | None = "ToInt32"):
    """`x` with elements of int32."""
    return cast(x, dtypes.int32)


@api(v1="to_int64")
@tensor_function
@graph_scope("ToInt64")
def to_int64(x: TensorLike, name: str | None = "ToInt64"):
    """`x` with elements of int64."""
    return cast(x, dtypes.int64)


@api(v1="to_bfloat16")
@tensor_function
@graph_scope("ToBFloat16")
def to_bfloat16(x: TensorLike, name: str | None = "ToBFloat16"):
    """`x` with elements of bfloat16."""
    return cast(x, dtypes.bfloat16)


@api(v1="to_complex64")
@tensor_function
def to_complex64(x: TensorLike, name: str | None = "ToComplex64"):
    """`x` with elements of complex64."""
    return cast(x, dtypes.complex64)


@api(v1="to_complex128")
@tensor_function
def to_complex128(x: TensorLike, name: str | None = "ToComplex128"):
    """`x` with elements of complex128."""
    return cast(x, dtypes.complex128)
