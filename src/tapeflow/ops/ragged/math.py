"""Reductions and operators of ragged tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.api import api_value
from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, Tensor, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public
from tapeflow.ops.array.construction import ones_like, zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.rows import identity, stop_gradient
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.control.assertions import assert_equal_v1
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math import (
    arithmetic,
    comparison,
    cumulative,
    division,
    division_no_nan,
    elementwise,
    logic,
    reductions,
    segment_functions,
)
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.float_kinds import is_finite
from tapeflow.ops.math.segment_functions import unsorted_segment_max
from tapeflow.ops.ragged import text as ragged_text
from tapeflow.ops.ragged.axis import positive_axis
from tapeflow.ops.ragged.broadcast import elementwise as of_both
from tapeflow.ops.ragged.convert import columns_of
from tapeflow.ops.ragged.functions import expand_dims, map_flat_values
from tapeflow.ops.ragged.tensor import (
    RaggedTensor,
    RaggedTensorSpec,  # noqa: F401 (tensors of the spec have these operators)
    as_ragged_or_tensor,
    splits_of_lengths,
)
from tapeflow.ops.static import static_value


def _segments(aggregate: Callable[..., Any], data: Tensor | RaggedTensor, ids: Tensor, count: Tensor):
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


def reduce_along(of_all, aggregate, value, axis, keepdims):
    """A reduction of a ragged tensor: `of_all` of dense values, `aggregate` of the segments that ragged rows make."""
    value = as_ragged_or_tensor(value)
    if not isinstance(value, RaggedTensor):
        return of_all(value, axis, keepdims)
    known = static_value(axis) if axis is not None and hasattr(axis, "dtype") else axis
    if known is None and axis is not None:
        raise ValueError("axis must be known at graph construction time.")
    if axis is None:
        out = of_all(value.flat_values, None, keepdims)
        for _ in range(value.shape.rank - 1 if keepdims else 0):
            out = expand_dims(out, 0)
        return out
    flat = known if isinstance(known, (list, tuple)) else [known]
    for a in flat:
        if isinstance(a, (str, bytes, float)):
            raise TypeError(f"axis must be an int; got {type(a).__name__}")
    axes = (
        [int(a) for a in known]
        if isinstance(known, (list, tuple)) or getattr(known, "ndim", 0)
        else [int(known)]
    )
    rank = value.shape.rank
    names = ["axis"] if len(axes) == 1 else [f"axis[{i}]" for i in range(len(axes))]
    axes = [positive_axis(a, rank, name) for a, name in zip(axes, names, strict=True)]
    out: Any = value
    for a in sorted(set(axes), reverse=True):
        out = _reduce_one(of_all, aggregate, out, a)
        if keepdims:
            out = expand_dims(out, a)
    return out


def _reduce_one(of_all: Callable[..., Any], aggregate: Callable[..., Any], value: RaggedTensor, axis: int):
    if not isinstance(value, RaggedTensor):
        return of_all(value, axis, False)
    if axis == 0:
        _, column = columns_of(value)
        lengths = concat([zeros([1], value.row_splits.dtype), value.row_lengths()], 0)
        return _segments(aggregate, value.values, column, reductions.reduce_max(lengths))
    if axis == 1:
        return _segments(aggregate, value.values, value.value_rowids(), value.nrows())
    return value.with_values(_reduce_one(of_all, aggregate, value.values, axis - 1))


def _function(name: str, of_all: Callable[..., Any], aggregate: Callable[..., Any]):
    def reduce(input_tensor: RaggedTensor, axis: int | None = None, keepdims: bool = False, name: str | None = None):
        return reduce_along(of_all, aggregate, input_tensor, axis, keepdims)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = f"`tf.{name}` of a ragged tensor, by default of all values."
    return public(reduce)


reduce_sum = _function("reduce_sum", reductions.reduce_sum, segment_functions.unsorted_segment_sum)
reduce_prod = _function("reduce_prod", reductions.reduce_prod, segment_functions.unsorted_segment_prod)
reduce_min = _function("reduce_min", reductions.reduce_min, segment_functions.unsorted_segment_min)
reduce_max = _function("reduce_max", reductions.reduce_max, segment_functions.unsorted_segment_max)


def _log_of_sum(data, axis, keepdims: bool):
    return reductions.reduce_logsumexp(data, axis, keepdims)


@public
def reduce_logsumexp(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
):
    """`tf.reduce_logsumexp` of a ragged tensor; minus infinity for rows without values.

    Args:
      input_tensor: a ragged tensor.
      axis: an int or a list of ints, the axes; None: all.
      keepdims: whether axes that are reduced stay, with size 1.
      name: a name for the operation (optional).
    """
    value = as_ragged_or_tensor(input_tensor)
    if axis is None or not isinstance(value, RaggedTensor):
        return reduce_along(_log_of_sum, None, value, axis, keepdims)
    most = reduce_max(value, axis, keepdims=True)
    top = map_flat_values(lambda v: where(is_finite(v), v, v * 0), map_flat_values(stop_gradient, most))
    powers = map_flat_values(elementwise.exp, of_both(arithmetic.subtract, value, top))
    total = map_flat_values(elementwise.log, reduce_sum(powers, axis, keepdims=True))
    out = of_both(arithmetic.add, total, top) if isinstance(top, RaggedTensor) else total + top
    return out if keepdims else reduce_sum(out, axis)


def segment_mean(data, segment_ids, num_segments, name: str | None = None):
    """`tf.math.unsorted_segment_mean` of ragged data."""
    ones = data.with_flat_values(ones_like(data.flat_values))
    total = segment_sum(data, segment_ids, num_segments)
    count = segment_sum(ones, segment_ids, num_segments)
    return of_both(division.truediv, total, count) if isinstance(total, RaggedTensor) else (
        division_no_nan.divide_no_nan(total, count)
    )


def segment_sqrt_n(data, segment_ids, num_segments, name: str | None = None):
    """`tf.math.unsorted_segment_sqrt_n` of ragged data."""
    ones = data.with_flat_values(ones_like(data.flat_values))
    total = segment_sum(data, segment_ids, num_segments)
    count = map_flat_values(elementwise.sqrt, segment_sum(ones, segment_ids, num_segments))
    return of_both(division.truediv, total, count) if isinstance(total, RaggedTensor) else (
        division_no_nan.divide_no_nan(total, count)
    )


def _segment_function(name: str, aggregate: Callable[..., Any]):
    def of_segments(data, segment_ids, num_segments, name: str | None = None):
        data, ids = as_ragged_or_tensor(data), as_ragged_or_tensor(segment_ids)
        if isinstance(ids, RaggedTensor):
            if not isinstance(data, RaggedTensor):
                raise ValueError("If segment_ids is ragged, then data must be ragged too")
            check = assert_equal_v1(data.row_splits, ids.row_splits,
                                    message="segment_ids.shape must be a prefix of data.shape")  # fmt: skip
            with control_dependencies([] if check is None else [check]):
                return of_segments(data.values, ids.values, num_segments)
        if not isinstance(data, RaggedTensor):
            return aggregate(data, ids, num_segments)
        ids.shape.assert_has_rank(1)
        kind = data.row_splits.dtype
        check = assert_equal_v1(cast(Shape(ids)[0], kind), data.nrows(),
                                message="segment_ids must be as many as the rows of data")  # fmt: skip
        with control_dependencies([] if check is None else [check]):
            ids = identity(ids)
        return _segments(aggregate, data, ids, num_segments)

    of_segments.__name__ = of_segments.__qualname__ = f"segment_{name}"
    of_segments.__doc__ = f"`tf.math.unsorted_segment_{name}` of ragged data."
    return of_segments


segment_sum = _segment_function("sum", segment_functions.unsorted_segment_sum)
segment_prod = _segment_function("prod", segment_functions.unsorted_segment_prod)
segment_min = _segment_function("min", segment_functions.unsorted_segment_min)
segment_max = _segment_function("max", segment_functions.unsorted_segment_max)


def _mean_of(data, axis, keepdims: bool):
    return reductions.reduce_mean(data, axis, keepdims)


@public
def reduce_mean(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
):
    """`tf.reduce_mean` of a ragged tensor; of several axes, the sum of the values over their number.

    Args:
      input_tensor: a ragged tensor.
      axis: an int or a list of ints, the axes; None: all.
      keepdims: whether axes that are reduced stay, with size 1.
      name: a name for the operation (optional).
    """
    value = as_ragged_or_tensor(input_tensor)
    if not isinstance(value, RaggedTensor) or (axis is None and not value.dtype.is_integer):
        return reduce_along(_mean_of, None, value, axis, keepdims)
    total = reduce_sum(value, axis, keepdims)
    count = reduce_sum(value.with_flat_values(ones_like(value.flat_values)), axis, keepdims)
    return divide(total, count)


def divide(x, y):
    """x / y, either of them ragged; the quotient of integers is a float64."""
    if isinstance(x, RaggedTensor) or isinstance(y, RaggedTensor):
        return of_both(division.truediv, x, y)
    return division.truediv(x, y)


def cumsum(x, axis=0, exclusive: bool = False, reverse: bool = False, name: str | None = None):
    """`tf.cumsum` of a ragged tensor: each sum goes over what there is along `axis`."""
    lengths = [row[1:] - row[:-1] for row in x.nested_row_splits]
    axis = static_value(axis)
    whole = cumulative.cumsum(x.to_tensor(), int(axis), exclusive, reverse)
    nested = RaggedTensor.from_tensor(whole, lengths=lengths, row_splits_dtype=x.row_splits.dtype)
    return nested if nested.ragged_rank == x.ragged_rank else x.with_flat_values(nested.flat_values)


@public
def reduce_variance(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
):
    """`tf.math.reduce_variance` of a ragged tensor.

    Args:
      input_tensor: a ragged tensor.
      axis: an int or a list of ints, the axes; None: all.
      keepdims: whether axes that are reduced stay, with size 1.
      name: a name for the operation (optional).
    """
    value = as_ragged_or_tensor(input_tensor)
    square = value.with_flat_values(elementwise.square(value.flat_values))
    mean = reduce_mean(value, axis, keepdims)
    squares = reduce_mean(square, axis, keepdims)
    of_mean = map_flat_values(elementwise.square, mean)
    if isinstance(squares, RaggedTensor):
        return of_both(arithmetic.subtract, squares, of_mean)
    return squares - of_mean


@public
def reduce_std(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
):
    """`tf.math.reduce_std` of a ragged tensor.

    Args:
      input_tensor: a ragged tensor.
      axis: an int or a list of ints, the axes; None: all.
      keepdims: whether axes that are reduced stay, with size 1.
      name: a name for the operation (optional).
    """
    return map_flat_values(elementwise.sqrt, reduce_variance(input_tensor, axis, keepdims))


def _truth(reduce: Callable[..., Any], of_all: Callable[..., Any]):
    def function(input_tensor, axis=None, keepdims: bool = False, name: str | None = None):
        value = as_ragged_or_tensor(input_tensor, dtypes.bool)
        if not isinstance(value, RaggedTensor):
            return of_all(value, axis, keepdims)
        numbers = value.with_flat_values(cast(value.flat_values, dtypes.int32))
        out = reduce(numbers, axis, keepdims)
        return map_flat_values(lambda v: cast(v > 0, dtypes.bool), out)

    function.__name__ = function.__qualname__ = of_all.__name__
    function.__doc__ = f"`tf.{of_all.__name__}` of a ragged tensor."
    return public(function)


def _product_of(value, axis, keepdims: bool):
    return reduce_prod(value, axis, keepdims)


reduce_all = _truth(_product_of, reductions.reduce_all)
reduce_any = _truth(reduce_sum, reductions.reduce_any)


# Operators

_BINARY = {
    "add": arithmetic.add,
    "sub": arithmetic.subtract,
    "mul": arithmetic.multiply,
    "truediv": division.truediv,
    "div": division.truediv,
    "floordiv": division.floordiv,
    "mod": division.floormod,
    "pow": arithmetic.pow,
}
_COMPARISONS = {
    "ge": comparison.greater_equal,
    "gt": comparison.greater,
    "le": comparison.less_equal,
    "lt": comparison.less,
}
_LOGIC = {
    "and": logic.logical_and,
    "or": logic.logical_or,
    "xor": logic.logical_xor,
}


def _forward(op: Callable[..., Any]):
    return lambda self, other: of_both(op, self, other)


def _backward(op: Callable[..., Any]):
    return lambda self, other: of_both(op, other, self)


def _comparable(ragged, other):
    """Whether `other` can be compared with a ragged tensor at all."""
    try:
        made = as_ragged_or_tensor(other, None if hasattr(other, "dtype") else ragged.dtype)
    except (TypeError, ValueError):
        return False
    return made.dtype == ragged.dtype


def _compared(function, self, other, otherwise: bool):
    """`otherwise` for what cannot be compared, and for rows of other lengths."""
    if other is None or not _comparable(self, other):
        return otherwise
    try:
        return of_both(function, self, other)
    except InvalidArgumentError:
        return otherwise


def _equal(self, other):
    return _compared(comparison.equal, self, other, False)


def _not_equal(self, other):
    return _compared(comparison.not_equal, self, other, True)


def _hash(self):
    """By identity in a graph, where ragged tensors are keys of feeds; none eagerly, where `==` compares elements."""
    if hasattr(self.row_splits, "numpy"):
        raise TypeError("RaggedTensor is unhashable.")
    return id(self)


def _install() -> None:
    for name, op in {**_BINARY, **_LOGIC}.items():
        setattr(RaggedTensor, f"__{name}__", _forward(op))
        setattr(RaggedTensor, f"__r{name}__", _backward(op))
    for name, op in _COMPARISONS.items():
        setattr(RaggedTensor, f"__{name}__", _forward(op))
    own = {
        "__eq__": _equal,
        "__ne__": _not_equal,
        "__hash__": _hash,
        "__neg__": lambda self: map_flat_values(elementwise.negative, self),
        "__abs__": lambda self: map_flat_values(elementwise.abs, self),
        "__invert__": lambda self: map_flat_values(logic.logical_not, self),
    }
    for name, function in own.items():
        setattr(RaggedTensor, name, function)


_install()
del ragged_text
# Here, so that ragged tensors have their operators.
api_value("RaggedTensor", "RaggedTensor")
api_value("RaggedTensorSpec", "RaggedTensorSpec")
