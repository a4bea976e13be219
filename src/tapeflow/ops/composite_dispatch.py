"""Public functions of tensors, called with ragged or sparse tensors: what stands in for each.

A function that was given such a value fails to convert it; `dispatch` says what to do instead.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from tapeflow.core import nest
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.ops import (
    activation,
    arithmetic,
    array,
    bitwise,
    casting,
    clip,
    comparison,
    complex_numbers,
    conjugate,
    construction,
    division_no_nan,
    elementwise,
    gather,
    hashing,
    joining,
    layout,
    ragged_functions,
    ragged_math,
    reduction,
    regex,
    special,
    string_numbers,
    strings,
    trigonometric,
)
from tapeflow.ops.ragged_tensor import RaggedTensor, RaggedTensorValue

_UNARY = {
    activation: "elu gelu leaky_relu relu relu6 selu silu softplus softsign",
    array: "identity stop_gradient",
    bitwise: "invert",
    casting: "cast saturate_cast",
    clip: "clip_by_value",
    comparison: "is_finite is_inf is_nan logical_not",
    complex_numbers: "angle imag real",
    conjugate: "conj",
    construction: "ones_like zeros_like ones_like_v1 zeros_like_v1",
    division_no_nan: "reciprocal_no_nan",
    elementwise: "abs ceil exp expm1 floor log log1p negative reciprocal rint round rsqrt sign sqrt square",
    hashing: "to_hash_bucket_fast",
    regex: "decode_base64 encode_base64 regex_full_match regex_replace",
    special: "digamma erf erfc erfinv lgamma ndtri",
    string_numbers: "as_string to_number to_number_v1",
    strings: "length length_v1 lower strip substr substr_v1 upper",
    trigonometric: "acos acosh asin asinh atan atanh cos cosh log_sigmoid sigmoid sin sinh tan tanh",
}
_BINARY = {
    arithmetic: "add div divide floordiv floormod maximum minimum multiply pow realdiv squared_difference subtract "
    "truediv truncatediv truncatemod",
    bitwise: "bitwise_and bitwise_or bitwise_xor left_shift right_shift",
    comparison: "equal greater greater_equal less less_equal logical_and logical_or logical_xor not_equal",
    complex_numbers: "complex",
    division_no_nan: "divide_no_nan multiply_no_nan",
    trigonometric: "atan2",
}
# What unary functions do to the values of a sparse tensor: those that leave zero where it is.
_SPARSE = {
    array: "identity stop_gradient",
    casting: "cast",
    conjugate: "conj",
    elementwise: "abs ceil expm1 floor log1p negative rint round sign sqrt square",
    activation: "elu leaky_relu relu relu6 selu softsign",
    special: "erf",
    trigonometric: "asin asinh atan atanh sin sinh tan tanh",
}


def _functions(table):
    return {getattr(module, name) for module, names in table.items() for name in names.split()}


def _size(input, out_type=None, name=None):
    return array.size(input.flat_values, out_type) if out_type else array.size(input.flat_values)


def _rank(input, name=None):
    rank = input.shape.rank
    return (
        input.ragged_rank + array.rank(input.flat_values)
        if rank is None
        else casting.cast(rank, "int32")
    )


@cache
def _special() -> dict[Any, Any]:
    """Functions with a ragged form of their own."""
    return {
        array.rank: _rank,
        array.size: _size,
        array.size_v1: _size,
        gather.boolean_mask: ragged_functions.boolean_mask,
        gather.boolean_mask_v1: ragged_functions.boolean_mask,
        gather.gather: ragged_functions.gather,
        gather.gather_v1: ragged_functions.gather,
        joining.concat: ragged_functions.concat,
        joining.stack: ragged_functions.stack,
        layout.expand_dims: ragged_functions.expand_dims,
        layout.expand_dims_v1: ragged_functions.expand_dims,
        **{
            getattr(reduction, f"{name}{suffix}"): getattr(ragged_math, name)
            for name in ("reduce_sum", "reduce_prod", "reduce_min", "reduce_max", "reduce_mean",
                         "reduce_all", "reduce_any")
            for suffix in ("", "_v1")
        },
        reduction.reduce_variance: ragged_math.reduce_variance,
        reduction.reduce_std: ragged_math.reduce_std,
    }  # fmt: skip


@cache
def _sets():
    return _functions(_UNARY), _functions(_BINARY), _functions(_SPARSE)


def _is_ragged(value: Any) -> bool:
    return isinstance(value, (RaggedTensor, RaggedTensorValue))


def dispatch(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of `function` for ragged or sparse arguments, NotImplemented where there is none."""
    values = nest.flatten([list(args), list(kwargs.values())])
    unary, binary, sparse = _sets()
    if any(map(_is_ragged, values)):
        if function in unary:
            return ragged_functions.map_flat_values(function, *args, **kwargs)
        if function in binary:
            given = [*args, *(v for k, v in kwargs.items() if k != "name")]
            return ragged_functions.elementwise(function, *given[:2])
        own = _special().get(function)
        return NotImplemented if own is None else own(*args, **_known(own, kwargs))
    if function in sparse and any(isinstance(v, SparseTensor) for v in values):
        first = next(v for v in values if isinstance(v, SparseTensor))
        plain = [v.values if isinstance(v, SparseTensor) else v for v in args]
        named = {k: v.values if isinstance(v, SparseTensor) else v for k, v in kwargs.items()}
        return first.with_values(function(*plain, **named))
    return NotImplemented


_RENAMED = {"keep_dims": "keepdims", "reduction_indices": "axis", "input_tensor": "input_tensor"}


def _known(function: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keywords under the names that `function` has for them."""
    names = set(inspect.signature(function).parameters)
    renamed = {_RENAMED.get(k, k): v for k, v in kwargs.items()}
    return {k: v for k, v in renamed.items() if k in names}
