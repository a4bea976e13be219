"""Reductions and operators of ragged tensors."""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.public import public
from tapeflow.ops import arithmetic, comparison, elementwise, reduction, segment
from tapeflow.ops.casting import cast
from tapeflow.ops.construction import ones_like, zeros
from tapeflow.ops.gather import gather
from tapeflow.ops.joining import concat
from tapeflow.ops.ragged_convert import columns_of
from tapeflow.ops.ragged_functions import elementwise as of_both
from tapeflow.ops.ragged_functions import map_flat_values
from tapeflow.ops.ragged_tensor import RaggedTensor, as_ragged_or_tensor, splits_of_lengths
from tapeflow.ops.segment import unsorted_segment_max
from tapeflow.ops.static import static_value


def _segments(aggregate, data, ids, count):
    """`aggregate` of the rows of `data` with one id: ragged where the rows are."""
    if not isinstance(data, RaggedTensor):
        return aggregate(data, ids, count)
    kind = data.row_splits.dtype
    ids, count = cast(ids, kind), cast(count, kind)
    lengths = arithmetic.maximum(unsorted_segment_max(data.row_lengths(), ids, count), 0)
    splits = splits_of_lengths(lengths)
    row, column = columns_of(data)
    at = gather(splits, gather(ids, row)) + column
    return RaggedTensor.from_row_splits(
        _segments(aggregate, data.values, at, splits[-1]), splits, validate=False
    )


def _reduce(of_all, aggregate, value, axis, keepdims):
    value = as_ragged_or_tensor(value)
    if not isinstance(value, RaggedTensor):
        return of_all(value, axis, keepdims)
    known = static_value(axis) if axis is not None and hasattr(axis, "dtype") else axis
    if known is None and axis is not None:
        raise ValueError("axis must be known when building a graph of ragged tensors")
    if axis is None:
        return of_all(value.flat_values, None, keepdims)
    axes = (
        [int(a) for a in known]
        if isinstance(known, (list, tuple)) or getattr(known, "ndim", 0)
        else [int(known)]
    )
    rank = value.shape.rank
    if any(a < 0 for a in axes):
        if rank is None:
            raise ValueError("axis may only be negative if the rank is known")
        axes = [a + rank if a < 0 else a for a in axes]
    for a in axes:
        if rank is not None and not 0 <= a < rank:
            raise ValueError(f"axis={a} out of bounds: expected {-rank}<=axis<{rank}")
    if len(set(axes)) != len(axes):
        raise ValueError(f"Duplicate axes: {axes}")
    out: Any = value
    for a in sorted(axes, reverse=True):
        out = _reduce_one(of_all, aggregate, out, a)
        if keepdims:
            from tapeflow.ops.ragged_functions import expand_dims

            out = expand_dims(out, a)
    return out


def _reduce_one(of_all, aggregate, value, axis):
    if not isinstance(value, RaggedTensor):
        return of_all(value, axis, False)
    if axis == 0:
        _, column = columns_of(value)
        lengths = concat([zeros([1], value.row_splits.dtype), value.row_lengths()], 0)
        return _segments(aggregate, value.values, column, reduction.reduce_max(lengths))
    if axis == 1:
        return _segments(aggregate, value.values, value.value_rowids(), value.nrows())
    return value.with_values(_reduce_one(of_all, aggregate, value.values, axis - 1))


def _function(name, of_all, aggregate):
    def reduce(input_tensor, axis=None, keepdims=False, name=None):
        return _reduce(of_all, aggregate, input_tensor, axis, keepdims)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = f"`tf.{name}` of a ragged tensor, by default of all values."
    return public(reduce)


reduce_sum = _function("reduce_sum", reduction.reduce_sum, segment.unsorted_segment_sum)
reduce_prod = _function("reduce_prod", reduction.reduce_prod, segment.unsorted_segment_prod)
reduce_min = _function("reduce_min", reduction.reduce_min, segment.unsorted_segment_min)
reduce_max = _function("reduce_max", reduction.reduce_max, segment.unsorted_segment_max)


def _mean_of(data, axis, keepdims):
    return reduction.reduce_mean(data, axis, keepdims)


@public
def reduce_mean(input_tensor, axis=None, keepdims=False, name=None):
    """`tf.reduce_mean` of a ragged tensor; of several axes, the sum of the values over their number."""
    value = as_ragged_or_tensor(input_tensor)
    if axis is None or not isinstance(value, RaggedTensor):
        return _reduce(_mean_of, None, value, axis, keepdims)
    total = reduce_sum(value, axis, keepdims)
    count = reduce_sum(value.with_flat_values(ones_like(value.flat_values)), axis, keepdims)
    return divide(total, count)


def divide(x, y):
    """x / y, either of them ragged; integers are divided as integers."""
    op = arithmetic.truediv
    kind = x.dtype
    if isinstance(x, RaggedTensor) or isinstance(y, RaggedTensor):
        out = of_both(op, x, y)
        if kind.is_integer:
            return out.with_flat_values(cast(out.flat_values, kind))
        return out
    out = op(x, y)
    return cast(out, kind) if kind.is_integer else out


@public
def reduce_variance(input_tensor, axis=None, keepdims=False, name=None):
    """`tf.math.reduce_variance` of a ragged tensor."""
    value = as_ragged_or_tensor(input_tensor)
    square = value.with_flat_values(elementwise.square(value.flat_values))
    mean = reduce_mean(value, axis, keepdims)
    squares = reduce_mean(square, axis, keepdims)
    of_mean = map_flat_values(elementwise.square, mean)
    if isinstance(squares, RaggedTensor):
        return of_both(arithmetic.subtract, squares, of_mean)
    return squares - of_mean


@public
def reduce_std(input_tensor, axis=None, keepdims=False, name=None):
    """`tf.math.reduce_std` of a ragged tensor."""
    return map_flat_values(elementwise.sqrt, reduce_variance(input_tensor, axis, keepdims))


def _truth(reduce, of_all):
    def function(input_tensor, axis=None, keepdims=False, name=None):
        value = as_ragged_or_tensor(input_tensor, dtypes.bool)
        if not isinstance(value, RaggedTensor):
            return of_all(value, axis, keepdims)
        numbers = value.with_flat_values(cast(value.flat_values, dtypes.int32))
        out = reduce(numbers, axis, keepdims)
        return map_flat_values(lambda v: cast(v > 0, dtypes.bool), out)

    function.__name__ = function.__qualname__ = of_all.__name__
    function.__doc__ = f"`tf.{of_all.__name__}` of a ragged tensor."
    return public(function)


def _product_of(value, axis, keepdims):
    return reduce_prod(value, axis, keepdims)


reduce_all = _truth(_product_of, reduction.reduce_all)
reduce_any = _truth(reduce_sum, reduction.reduce_any)


# Operators

_BINARY = {
    "add": arithmetic.add,
    "sub": arithmetic.subtract,
    "mul": arithmetic.multiply,
    "truediv": arithmetic.truediv,
    "div": arithmetic.truediv,
    "floordiv": arithmetic.floordiv,
    "mod": arithmetic.floormod,
    "pow": arithmetic.pow,
}
_COMPARISONS = {
    "ge": comparison.greater_equal,
    "gt": comparison.greater,
    "le": comparison.less_equal,
    "lt": comparison.less,
}
_LOGIC = {
    "and": comparison.logical_and,
    "or": comparison.logical_or,
    "xor": comparison.logical_xor,
}


def _forward(op):
    return lambda self, other: of_both(op, self, other)


def _backward(op):
    return lambda self, other: of_both(op, other, self)


def _equal(self, other):
    if other is None:
        return False
    return of_both(comparison.equal, self, other)


def _not_equal(self, other):
    if other is None:
        return True
    return of_both(comparison.not_equal, self, other)


def _install() -> None:
    for name, op in {**_BINARY, **_LOGIC}.items():
        setattr(RaggedTensor, f"__{name}__", _forward(op))
        setattr(RaggedTensor, f"__r{name}__", _backward(op))
    for name, op in _COMPARISONS.items():
        setattr(RaggedTensor, f"__{name}__", _forward(op))
    own = {
        "__eq__": _equal,
        "__ne__": _not_equal,
        "__hash__": lambda self: id(self),
        "__neg__": lambda self: map_flat_values(elementwise.negative, self),
        "__abs__": lambda self: map_flat_values(elementwise.abs, self),
        "__invert__": lambda self: map_flat_values(comparison.logical_not, self),
    }
    for name, function in own.items():
        setattr(RaggedTensor, name, function)


_install()
