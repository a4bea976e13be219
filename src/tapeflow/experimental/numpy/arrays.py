"""Arguments as NumPy takes them: anything like an array becomes a tensor, of the dtype that NumPy's rules give."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from tapeflow.core import dtypes, promotion
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.binding import Tensor
from tapeflow.core.convert import constant, is_tensor
from tapeflow.core.dtypes import DType, as_dtype
from tapeflow.core.public import public
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import rank
from tapeflow.ops.array.sizes import shape as shape_
from tapeflow.ops.array.sizes import size as size_
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.state.variable import Variable

# What NumPy calls the types of elements.
bool_ = np.bool_
int8, int16, int32, int64 = np.int8, np.int16, np.int32, np.int64
uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64
float16, float32, float64 = np.float16, np.float32, np.float64
complex64, complex128 = np.complex64, np.complex128
int_, float_, complex_ = np.int64, np.float64, np.complex128
inexact, object_, string_, unicode_ = np.inexact, np.object_, np.bytes_, np.str_

ndarray = Tensor
newaxis = None
pi, e, inf = np.pi, np.e, np.inf


def _holds_tensors(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_holds_tensors, value))
    return is_tensor(value)


def tensor(value: Any, dtype: Any = None) -> Any:
    """A tensor of something like an array; of `dtype`, or of the dtype that NumPy would give it."""
    if dtype is None and _is_text(value):
        dtype = dtypes.string  # to NumPy's rules, a text is the name of a dtype
    if dtype is None and promotion.automatic() and not is_tensor(value):
        target, weak = promotion.result_type(value)
        x = constant(value, target) if not _holds_tensors(value) else tensor(value, target)
        return promotion.mark_weak(x) if weak else x
    target = promotion.numpy_type(value) if dtype is None else as_dtype(dtype)
    if isinstance(value, (list, tuple)) and _holds_tensors(value):
        return stack([tensor(each, target) for each in value])
    if isinstance(value, np.ndarray) and value.dtype != target.as_numpy_dtype:
        value = value.astype(target.as_numpy_dtype)
    if isinstance(value, (Tensor, Variable)):
        return cast(value, target)
    if dtype is not None:
        return cast(tensor(value), target) if target != dtypes.string else constant(value, target)
    return promotion.as_dtype(value, target)


def promoted(*values: Any) -> list[Any]:
    """Tensors of one dtype."""
    target = promotion.numpy_type(*values)
    return [tensor(value, target) for value in values]


def floating(value: Any) -> Any:
    """A tensor of floating point or complex numbers; others are converted to the default kind of float."""
    x = tensor(value)
    if x.dtype.is_floating or x.dtype.is_complex:
        return x
    out = cast(x, default_float())
    return promotion.mark_weak(out) if promotion.is_weak(x) else out


def default_float() -> DType:
    """The dtype of a Python float."""
    return promotion.numpy_type(1.0)


def dtype_of(dtype: Any) -> DType:
    """A dtype argument: NumPy's names and types too; Python's types are those of its numbers."""
    if dtype is float:
        return default_float()
    if dtype is int:
        return promotion.numpy_type(1)
    if not isinstance(dtype, DType):
        with contextlib.suppress(TypeError):
            dtype = np.dtype(dtype)
    return as_dtype(dtype)


def _is_text(value: Any) -> bool:
    if isinstance(value, (list, tuple)) and value:
        return _is_text(value[0])
    return isinstance(value, (str, bytes))


@public
def array(val, dtype: DTypeLike | None = None, copy: bool = True, ndmin: int = 0):
    """Return a tensor of a value.

    Args:
      val: an array, a number, or lists of those.
      dtype: the dtype; None: as NumPy would have it.
      copy: whether to copy; as a tensor is never changed, it does not show.
      ndmin: how many axes there are at least: new ones of size 1 come first.
    """
    x = tensor(val, None if dtype is None else dtype_of(dtype))
    if copy and x is val:
        x = identity(x)
    missing = ndmin - len(x.shape) if ndmin else 0
    return reshape(x, concat([[1] * missing, shape_(x)], 0)) if missing > 0 else x


@public
def asarray(a: TensorLike, dtype: DTypeLike | None = None):
    """Return a tensor of a value; itself where it is one of that dtype.

    Args:
      a: an array, or what makes one.
      dtype: the dtype; None: as NumPy would have it.
    """
    return tensor(a, None if dtype is None else dtype_of(dtype))


@public
def asanyarray(a: TensorLike, dtype: DTypeLike | None = None):
    """Return a tensor of a value, as `asarray`.

    Args:
      a: an array, or what makes one.
      dtype: the dtype; None: as NumPy would have it.
    """
    return asarray(a, dtype)


@public
def ascontiguousarray(a: TensorLike, dtype: DTypeLike | None = None):
    """Return a tensor of one axis or more; tensors are always contiguous.

    Args:
      a: an array, or what makes one.
      dtype: the dtype; None: as NumPy would have it.
    """
    return array(a, dtype, ndmin=1)


@public
def copy(a: TensorLike):
    """Another tensor of the same elements."""
    return array(a, copy=True)


@public
def result_type(*arrays_and_dtypes):
    """The dtype that arrays, numbers and dtypes take together by NumPy's rules."""
    return promotion.numpy_type(*arrays_and_dtypes)


@public
def promote_types(type1, type2):
    """Return NumPy's dtype that can hold numbers of both.

    Args:
      type1, type2: dtypes, or what makes some.
    """
    return np.promote_types(as_dtype(type1).as_numpy_dtype, as_dtype(type2).as_numpy_dtype)


@public
def finfo(dtype: DTypeLike):
    """The limits of a floating dtype: `numpy.finfo`."""
    return np.finfo(dtype.as_numpy_dtype if isinstance(dtype, DType) else dtype)


@public
def iinfo(int_type):
    """The limits of an integer dtype: `numpy.iinfo`."""
    return np.iinfo(int_type.as_numpy_dtype if isinstance(int_type, DType) else int_type)


@public
def issubdtype(arg1, arg2: Any):
    """Return whether the first dtype is below the second in NumPy's hierarchy.

    Args:
      arg1, arg2: dtypes, or what makes some.
    """
    return np.issubdtype(
        *(d.as_numpy_dtype if isinstance(d, DType) else d for d in (arg1, arg2))
    )


@public
def ndim(a: Any):
    """The number of axes, a Python int."""
    return len(tensor(a).shape)


@public
def shape(a: TensorLike):
    """The sizes of the axes, a TensorShape."""
    return tensor(a).shape


@public
def size(x: Any, axis=None):
    """Return the number of elements: an int where it is known, else a tensor.

    Args:
      x: an array, or what makes one.
      axis: None; NotImplementedError for an axis.
    """
    if axis is not None:
        raise NotImplementedError("axis argument is not supported in the current `np.size` implementation")
    x = tensor(x)
    if x.shape.is_fully_defined():
        return np.int64(x.shape.num_elements())
    return size_(x)


@public
def isscalar(num):
    """Whether `num` is a number, string or tensor without axes."""
    if is_tensor(num):
        return len(num.shape) == 0 if num.shape.rank is not None else equal(rank(num), 0)
    return np.isscalar(num)
