"""Gives tensors their operators, and the native core the ops that it needs itself. Imported once, for its effect."""

from __future__ import annotations

import sys
from typing import Any

from tapeflow import _native
from tapeflow.core import convert, dtypes, indexed_slices, stand_ins
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import boundary
from tapeflow.core.tensor_shape import from_tuple
from tapeflow.ops.array.broadcasting import sum_to_shape
from tapeflow.ops.array.joining import ConcatV2
from tapeflow.ops.array.stacking import Pack
from tapeflow.ops.indexing import slicing, strided_slice
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math import (
    arithmetic,
    bitwise,
    comparison,
    division,
    elementwise,
    segment_functions,
)
from tapeflow.ops.math import logic as math_logic
from tapeflow.ops.math.accumulate import AddN
from tapeflow.ops.math.casting import cast
from tapeflow.ops.static import constant_value_as_shape as constant_value_as_shape
from tapeflow.ops.table import COMPLEX, FLOATING_OR_COMPLEX, INTEGER, NUMERIC, REAL

_TENSORS = (_native.Tensor, _native.Variable)


def _mask(types: Any) -> int:
    return sum(1 << int(dtype) for dtype in types)


def _pair(x: Any, y: Any) -> tuple[Any, Any]:
    """Both operands as tensors, the dtype of the one that has it."""
    if isinstance(x, _TENSORS):
        x = convert_to_tensor(x)
        return x, convert_to_tensor(y, dtype_hint=x.dtype.base_dtype)
    y = convert_to_tensor(y)
    return convert_to_tensor(x, dtype=y.dtype.base_dtype), y


def _add(x: Any, y: Any) -> Any:
    return arithmetic.add(*_pair(x, y))


def _true_division(x: Any, y: Any) -> Any:
    return division.truediv(*_pair(x, y))


def multiply(x: Any, y: Any) -> Any:
    """`x * y`; of a boolean tensor it is that of zeros and ones, and boolean, where `tf.multiply` raises."""
    tensors = [operand for operand in (x, y) if isinstance(operand, _TENSORS)]
    if all(operand.dtype.base_dtype != dtypes.bool for operand in tensors):
        return arithmetic.multiply(x, y)
    if not isinstance(x, _TENSORS):
        x = convert_to_tensor(x, dtype=dtypes.bool)
    return cast(arithmetic.Mul(cast(x, dtypes.int32), cast(y, dtypes.int32)), dtypes.bool)


def logical(logic: Any, bits: Any) -> Any:
    def operator(x: Any, y: Any) -> Any:
        x, y = _pair(x, y)
        return (logic if x.dtype == dtypes.bool else bits)(x, y)

    return operator


def inverted(x: Any) -> Any:
    return math_logic.LogicalNot(x) if x.dtype == dtypes.bool else bitwise.Invert(x)


def same(row: Any, different: bool) -> Any:
    """== and !=: None equals nothing, and shapes that do not broadcast are different."""

    def operator(x: Any, y: Any) -> Any:
        if x is None or y is None:
            return convert_to_tensor(different)
        if isinstance(
            x, _TENSORS
        ):  # others must fit the dtype; tensors of another one the row refuses
            x = convert_to_tensor(x)
            y = y if isinstance(y, _TENSORS) else convert_to_tensor(y, dtype=x.dtype.base_dtype)
        return row(x, y, incompatible_shape_error=False)

    return operator


def _sum_to(gradient: Any, shape: Any) -> Any:
    """A gradient summed to the shape of the input that was broadcast."""
    if isinstance(shape, tuple):
        shape = from_tuple(shape)
    return sum_to_shape(convert_to_tensor(gradient), shape, shape)


def accumulate(x: Any, y: Any) -> Any:
    """The sum of two gradients; slices stay slices."""
    if isinstance(x, IndexedSlices) and isinstance(y, IndexedSlices):
        indices = [x.indices, y.indices]
        if indices[0].dtype != indices[1].dtype:
            indices = [cast(i, dtypes.int64) for i in indices]
        return IndexedSlices(
            ConcatV2([x.values, y.values], 0),
            ConcatV2(indices, 0),
            y.dense_shape if x.dense_shape is None else x.dense_shape,
        )
    return AddN([convert_to_tensor(x), convert_to_tensor(y)])


def _dense(slices: IndexedSlices) -> Any:
    rows = slices.dense_shape[0]
    return segment_functions.unsorted_segment_sum(slices.values, slices.indices, rows)


def _stand_in(function: Any, args: Any, kwargs: Any) -> Any:
    """What a public function that failed is to do with tensors of other kinds, if there can be any."""
    for other in stand_ins.registered:
        result = other(function, args, kwargs)
        if result is not NotImplemented:
            return result
    if not _COMPOSITES & sys.modules.keys():
        return NotImplemented
    from tapeflow.ops import composite_dispatch

    return composite_dispatch.dispatch(function, args, kwargs)


_COMPOSITES = {"tapeflow.core.sparse_tensor", "tapeflow.ops.ragged.tensor"}


def _bind() -> None:
    numeric, whole = _mask(NUMERIC), _mask(REAL)
    binary: list[tuple[Any, ...]] = [
        ("add", arithmetic.AddV2, _add, numeric),
        ("sub", arithmetic.Sub, None, -1),
        ("mul", arithmetic.Mul, multiply, numeric),
        ("truediv", division.RealDiv, _true_division, _mask(FLOATING_OR_COMPLEX)),
        ("floordiv", division.FloorDiv, division.floordiv, whole),
        ("mod", division.FloorMod, division.floormod, whole),
        ("pow", arithmetic.Pow, arithmetic.pow, numeric),
        ("matmul", None, matmul, 0),
        ("lt", comparison.Less, None, -1),
        ("le", comparison.LessEqual, None, -1),
        ("gt", comparison.Greater, None, -1),
        ("ge", comparison.GreaterEqual, None, -1),
        ("eq", comparison.Equal, same(comparison.Equal, False), -1),
        ("ne", comparison.NotEqual, same(comparison.NotEqual, True), -1),
        ("neg", elementwise.Neg, None, -1),
        ("abs", elementwise.Abs, elementwise.abs, ~_mask(COMPLEX) & (2**63 - 1)),
        ("invert", bitwise.Invert, inverted, _mask(INTEGER)),
    ]
    boolean = _mask([dtypes.bool])
    for name, logic, bits in (
        ("and", math_logic.LogicalAnd, bitwise.BitwiseAnd),
        ("or", math_logic.LogicalOr, bitwise.BitwiseOr),
        ("xor", math_logic.logical_xor, bitwise.BitwiseXor),
    ):
        native = None if name == "xor" else logic
        binary.append((name, native, logical(logic, bits), boolean if native else 0))
    for name, row, function, mask in binary:
        _native.set_operator(name, row, function and boundary(function), mask)
    _native.set_operator("getitem", strided_slice.StridedSlice)
    _native.set_hook("getitem", boundary(slicing.getitem))
    _native.set_hook("dispatch", _stand_in)
    stand_ins.answer = _stand_in
    _native.set_hook("sum_to", _sum_to)
    _native.set_hook("accumulate", accumulate)
    convert.stack = lambda parts: Pack(parts)
    convert.cast = cast
    indexed_slices.register_dense(_dense)


_bind()
