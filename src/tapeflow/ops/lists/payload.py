"""What the Python kernels of the TensorList ops share: the list in a variant, and checks of elements.

The payload of such a variant is a `_native.TensorList`; what is None among its elements was reserved, but not set.
Lists are never changed: a kernel makes new ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.validate import dimensions, invalid, shape_text, type_text

Shape = tuple[int | None, ...] | None
TensorList = _native.TensorList


def text_of(shape: Shape) -> str:
    return "<unknown>" if shape is None else shape_text(shape)


def list_in(x: np.ndarray) -> TensorList:
    """The list that the scalar variant `x` holds."""
    if x.ndim:
        raise invalid(f"Input list must be a scalar saw: {shape_text(x.shape)}")
    return list_of(x[()])


def list_of(value: object) -> TensorList:
    if not isinstance(value, TensorList):
        raise invalid(f"Input handle is not a list. Saw: '{value}'")
    return value


def dtype_of(array: np.ndarray) -> DType:
    if array.dtype != object:
        return dtypes.as_dtype(array.dtype)
    return dtypes.string if all(isinstance(v, bytes) for v in array.flat) else dtypes.variant


def check_dtype(elements: TensorList, kind: DType) -> None:
    if elements.dtype != kind:
        raise invalid(
            f"Invalid data types; op elements {type_text(kind)} but list elements {type_text(elements.dtype)}"
        )


def one(x: np.ndarray, text: str) -> int:
    """The only element of `x`; raises InvalidArgumentError with `text` where it has others."""
    if x.size != 1:
        raise invalid(text)
    return int(x.reshape(())[()])


def parsed(x: np.ndarray) -> Shape:
    """The shape that the input `x` of an op spells: a vector, or -1 for an unknown rank."""
    if x.ndim > 1:
        raise invalid(f"Shape must be at most rank 1 but is rank {x.ndim}")
    if x.ndim == 0:
        if x != -1:
            raise invalid(
                "The only valid scalar shape tensor is the fully unknown shape specified as -1."
            )
        return None
    for d in x:
        if d < -1:
            raise invalid(f"Dimension {d} must be >= -1")
    if (x >= 0).all():
        return dimensions(x)
    return tuple(None if d < 0 else int(d) for d in x)


def is_full(shape: Shape) -> bool:
    return shape is not None and None not in shape


def fits(shape: Shape, dims: tuple[int, ...]) -> bool:
    """Whether `dims` may be `shape`."""
    if shape is None:
        return True
    return len(shape) == len(dims) and all(s in (None, d) for s, d in zip(shape, dims, strict=True))


def merged(a: Shape, b: Shape) -> Shape:
    """What is known when both are shapes of one tensor."""
    if a is None or b is None:
        return b if a is None else a
    if len(a) != len(b):
        raise invalid(f"PartialTensorShape: Incompatible ranks during merge: {len(a)} vs. {len(b)}")
    for x, y in zip(a, b, strict=True):
        if x is not None and y is not None and x != y:
            raise invalid(
                f"PartialTensorShape: Incompatible shapes during merge: {text_of(a)} vs. {text_of(b)}"
            )
    return tuple(y if x is None else x for x, y in zip(a, b, strict=True))


def shape_of(element) -> tuple[int, ...]:
    return tuple(element.shape.as_list())


def element(array: Any, kind: Any):
    """An element, the tensor of `array`."""
    return _native.tensor_of(array, kind)


def blank(shape: Shape, kind: DType) -> np.ndarray:
    """What stands for an element that was not set: zeros."""
    assert shape is not None
    if kind == dtypes.string:
        return np.full(shape, b"", object)  # type: ignore[arg-type]
    if kind in (dtypes.variant, dtypes.resource):
        return np.full(shape, 0, object)  # type: ignore[arg-type]
    return np.zeros(shape, kind.as_numpy_dtype)  # type: ignore[arg-type]


def array_of(tensor: Tensor) -> np.ndarray:
    """The elements of a tensor; those of a variant are the objects it holds."""
    value = tensor.numpy()
    if isinstance(value, np.ndarray):
        return value
    array = np.empty((), object if isinstance(value, (bytes, TensorList)) else None)
    array[()] = value
    return array if array.dtype == object else np.asarray(value)


def rows_of(array: np.ndarray, kind: DType) -> list:
    """The rows of `array` as elements."""
    return [element(array[i, ...], kind) for i in range(array.shape[0])]


def joined(parts: Iterable[np.ndarray], shape: tuple[int, ...], kind: DType) -> np.ndarray:
    """`parts`, one below the other, as an array of `shape`."""
    out = np.empty(
        shape,
        object if not kind.is_numpy_compatible or kind == dtypes.string else kind.as_numpy_dtype,
    )
    at = 0
    for part in parts:
        if part.ndim == out.ndim:
            out[at : at + len(part)] = part
            at += len(part)
        else:
            out[at] = part[()] if part.ndim == 0 else part
            at += 1
    return out


# Sums and zeros of lists, as gradients need them.


def sum_of(a, b):
    """The sum of two variants' contents: of lists, element by element. What was never set counts as nothing."""
    if not isinstance(a, TensorList) or not isinstance(b, TensorList):
        if a == 0 or b == 0:
            return b if a == 0 else a
        raise invalid(f"cannot add '{a}' and '{b}'")
    if a.dtype != b.dtype:
        raise invalid(
            "Trying to add two lists of tensors of different dtypes. One is "
            f"{type_text(a.dtype)} and the other is {type_text(b.dtype)}"
        )
    x, y = a.element_shape, b.element_shape
    try:
        shape = merged(x, y)
    except InvalidArgumentError:
        raise invalid(
            "Trying to add two lists of tensors with incompatible element shapes. One is "
            f"{text_of(x)} and the other is {text_of(y)}"
        ) from None
    if len(a) != len(b):
        raise invalid(
            "Trying to add two lists of tensors with different lengths. One is "
            f"{len(a)} and the other is {len(b)}"
        )
    return TensorList(
        [_sum_of_elements(x, y) for x, y in zip(a.tensors(), b.tensors(), strict=True)],
        a.dtype,
        shape,
    )


def _sum_of_elements(x: Tensor, y: Tensor):
    if x is None or y is None:
        return y if x is None else x
    if x.shape != y.shape:
        raise invalid(
            "Trying to add two tensors with incompatible element shapes. One is "
            f"{shape_text(shape_of(x))} and the other is {shape_text(shape_of(y))}"
        )
    if x.dtype == dtypes.variant:
        return element(sum_of_variants(array_of(x), array_of(y)), x.dtype)
    return element(np.add(array_of(x), array_of(y)), x.dtype)


def sum_of_variants(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    out = np.empty(x.shape, object)
    for i in np.ndindex(x.shape):
        out[i] = sum_of(x[i], y[i])
    return out


def zeros_like(value):
    """Zeros in the place of every element that is set, in lists within lists too."""
    if not isinstance(value, TensorList):
        return 0
    return TensorList(
        [None if t is None else _zeros_of(t) for t in value.tensors()],
        value.dtype,
        value.element_shape,
    )


def _zeros_of(tensor: Tensor):
    if tensor.dtype == dtypes.variant:
        return element(zeros_like_variants(array_of(tensor)), tensor.dtype)
    return element(blank(shape_of(tensor), tensor.dtype), tensor.dtype)


def zeros_like_variants(x: np.ndarray) -> np.ndarray:
    out = np.empty(x.shape, object)
    for i in np.ndindex(x.shape):
        out[i] = zeros_like(x[i])
    return out
