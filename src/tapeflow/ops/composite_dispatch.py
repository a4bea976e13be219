"""Public functions of tensors, called with ragged or sparse tensors: what stands in for each.

A function that was given such a value fails to convert it; `dispatch` says what to do instead.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from tapeflow.core.sparse_tensor import SparseTensor, SparseTensorValue
from tapeflow.core.structures import nest
from tapeflow.ops import composite_functions
from tapeflow.ops.array import (
    bitcast,
    broadcasting,
    construction,
    joining,
    layout,
    one_hot,
    reorder,
    sizes,
    stacking,
    tiling,
)
from tapeflow.ops.array import rows as array
from tapeflow.ops.control import assertions
from tapeflow.ops.image import adjusting, resizing
from tapeflow.ops.image import geometry as image_geometry
from tapeflow.ops.image import random as image_random
from tapeflow.ops.indexing import boolean_mask, gather, gather_nd, partition
from tapeflow.ops.io import raw_bytes
from tapeflow.ops.linalg import matmul
from tapeflow.ops.math import (
    accumulate,
    arithmetic,
    bitwise,
    casting,
    check,
    choice,
    clip,
    comparison,
    complex_numbers,
    conjugate,
    counting,
    cumulative,
    division,
    division_no_nan,
    elementwise,
    float_kinds,
    logic,
    reductions,
    reductions_v1,
    rounding,
    segment_functions,
    trigonometric,
)
from tapeflow.ops.nn import (
    activation,
    dropout,
    embedding,
    embedding_sparse,
    gelu,
    sigmoid_loss,
    softmax,
    softplus,
)
from tapeflow.ops.ragged import (
    array as ragged_array,
)
from tapeflow.ops.ragged import (
    broadcast as ragged_broadcast,
)
from tapeflow.ops.ragged import (
    functions as ragged_functions,
)
from tapeflow.ops.ragged import gather as ragged_gather
from tapeflow.ops.ragged import joining as ragged_joining
from tapeflow.ops.ragged import (
    math as ragged_math,
)
from tapeflow.ops.ragged import (
    shape_functions as ragged_shape,
)
from tapeflow.ops.ragged.shape import DynamicRaggedShape
from tapeflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor
from tapeflow.ops.ragged.value import RaggedTensorValue
from tapeflow.ops.special import bessel
from tapeflow.ops.special import functions as special
from tapeflow.ops.statistics import bincount
from tapeflow.ops.string import (
    code_points,
    hashing,
    hashing_keyed,
    regex,
)
from tapeflow.ops.string import joining as string_joining
from tapeflow.ops.string import (
    numbers as string_numbers,
)
from tapeflow.ops.string import (
    rows as strings,
)

_UNARY = {
    activation: "elu leaky_relu relu relu6 selu silu",
    softplus: "softplus softsign",
    array: "identity stop_gradient",
    bessel: "bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 bessel_k1e "
    "dawsn bessel_y0 bessel_y1 expint fresnel_cos fresnel_sin spence",
    bitwise: "invert",
    casting: "cast saturate_cast",
    check: "check_numerics",
    float_kinds: "is_finite is_inf is_nan",
    logic: "logical_not",
    complex_numbers: "angle imag real",
    conjugate: "conj",
    construction: "ones_like zeros_like ones_like_v1 zeros_like_v1",
    division_no_nan: "reciprocal_no_nan",
    dropout: "dropout dropout_v1",
    gelu: "gelu",
    elementwise: "abs exp expm1 log log1p negative reciprocal rsqrt sign sqrt square",
    rounding: "ceil floor rint round",
    hashing: "to_hash_bucket_fast",
    adjusting: "adjust_brightness adjust_gamma convert_image_dtype",
    image_random: "random_brightness stateless_random_brightness",
    hashing_keyed: "to_hash_bucket to_hash_bucket_strong to_hash_bucket_v1",
    raw_bytes: "decode_compressed",
    regex: "decode_base64 encode_base64 regex_full_match regex_replace",
    special: "digamma erf erfc erfcinv erfinv lgamma ndtri",
    string_numbers: "as_string to_number to_number_v1",
    code_points: "unicode_script unicode_transcode",
    strings: "length length_v1 lower strip substr substr_v1 upper",
    trigonometric: "acos acosh asin asinh atan atanh cos cosh log_sigmoid sigmoid sin sinh tan tanh",
}
_BINARY = {
    arithmetic: "add maximum minimum multiply pow squared_difference subtract",
    division: "div divide floordiv floormod realdiv truediv truncatediv truncatemod",
    bitwise: "bitwise_and bitwise_or bitwise_xor left_shift right_shift",
    comparison: "equal greater greater_equal less less_equal not_equal",
    logic: "logical_and logical_or logical_xor",
    complex_numbers: "complex",
    division_no_nan: "divide_no_nan multiply_no_nan xdivy xlogy xlog1py",
    sigmoid_loss: "sigmoid_cross_entropy_with_logits",
    special: "nextafter polygamma zeta",
    trigonometric: "atan2",
}
# Functions of several tensors in their first arguments, broadcast together.
_TERNARY = {clip: "clip_by_value"}
# Assertions about pairs of elements.
_ASSERTIONS = ("equal", "greater", "greater_equal", "less", "less_equal", "near", "none_equal")
# Functions of a list of tensors of the same rows.
_OF_LISTS = {accumulate: "add_n", string_joining: "join"}
# What unary functions do to the values of a sparse tensor: those that leave zero where it is.
_SPARSE = {
    array: "identity stop_gradient",
    bessel: "bessel_i0e bessel_i1e",
    casting: "cast",
    conjugate: "conj",
    elementwise: "abs expm1 log1p negative sign sqrt square",
    rounding: "ceil floor rint round",
    activation: "elu leaky_relu relu relu6 selu",
    softplus: "softsign",
    special: "erf",
    trigonometric: "asin asinh atan atanh sin sinh tan tanh",
}
_SEGMENTS = ("sum", "prod", "min", "max", "mean", "sqrt_n")


def _functions(table: dict[Any, Any]):
    return {getattr(module, name) for module, names in table.items() for name in names.split()}


@cache
def _special() -> dict[Any, Any]:
    """Functions with a ragged form of their own."""
    made = composite_functions
    return {
        sizes.rank: made.rank,
        sizes.shape: ragged_shape.shape,
        sizes.shape_v1: ragged_shape.shape_v1,
        sizes.size: made.size,
        sizes.size_v1: made.size,
        broadcasting.broadcast_dynamic_shape: ragged_shape.broadcast_dynamic_shape,
        broadcasting.broadcast_to: ragged_shape.broadcast_to_shape,
        tiling.tile: ragged_array.tile,
        choice.where: ragged_array.where,
        choice.where_v1: ragged_array.where_v1,
        construction.fill: ragged_shape.fill,
        one_hot.one_hot: ragged_array.one_hot,
        construction.ones: ragged_shape.ones,
        construction.zeros: ragged_shape.zeros,
        cumulative.cumsum: ragged_math.cumsum,
        embedding.embedding_lookup: made.embedding_lookup,
        embedding.embedding_lookup_v1: made.embedding_lookup_v1,
        **{
            getattr(embedding_sparse, name): made.with_sparse(getattr(embedding_sparse, name))
            for lookup in ("embedding_lookup_sparse", "safe_embedding_lookup_sparse")
            for name in (lookup, f"{lookup}_v1")
        },
        gather.batch_gather: ragged_gather.batch_gather,
        bitcast.bitcast: ragged_array.bitcast,
        boolean_mask.boolean_mask: ragged_functions.boolean_mask,
        boolean_mask.boolean_mask_v1: ragged_functions.boolean_mask,
        gather.gather: ragged_gather.gather,
        gather.gather_v1: ragged_gather.gather,
        gather_nd.gather_nd: ragged_gather.gather_nd,
        gather_nd.gather_nd_v1: ragged_gather.gather_nd,
        bincount.bincount: counting.bincount,
        joining.concat: ragged_joining.concat,
        joining.split: ragged_array.split,
        stacking.stack: ragged_joining.stack,
        layout.expand_dims: ragged_functions.expand_dims,
        layout.expand_dims_v1: ragged_functions.expand_dims,
        layout.reshape: ragged_shape.reshape,
        layout.squeeze: ragged_array.squeeze,
        layout.squeeze_v1: ragged_array.squeeze,
        matmul.matmul: made.matmul,
        partition.dynamic_partition: ragged_array.dynamic_partition,
        reorder.reverse: ragged_array.reverse,
        softmax.softmax: ragged_array.softmax,
        softmax.softmax_v1: ragged_array.softmax,
        string_joining.format_: made.format_text,
        string_joining.reduce_join: made.reduce_join,
        string_joining.reduce_join_v1: made.reduce_join,
        **{
            getattr(assertions, f"assert_{name}{suffix}"): made.asserting(
                getattr(assertions, f"assert_{name}{suffix}")
            )
            for name in _ASSERTIONS
            for suffix in ("", "_v1")
        },
        resizing.resize: made.of_each_image(resizing.resize),
        resizing.resize_v1: made.of_each_image(resizing.resize_v1),
        image_geometry.resize_with_crop_or_pad: made.of_each_image(
            image_geometry.resize_with_crop_or_pad
        ),
        **{
            getattr(module, f"{name}{suffix}"): getattr(ragged_math, name)
            for name in ("reduce_sum", "reduce_prod", "reduce_min", "reduce_max", "reduce_mean",
                         "reduce_all", "reduce_any", "reduce_logsumexp")
            for module, suffix in ((reductions, ""), (reductions_v1, "_v1"))
        },
        reductions.reduce_variance: ragged_math.reduce_variance,
        reductions.reduce_std: ragged_math.reduce_std,
        **{
            getattr(segment_functions, f"unsorted_segment_{name}"): getattr(ragged_math, f"segment_{name}")
            for name in _SEGMENTS
        },
    }  # fmt: skip


@cache
def _sparse_special() -> dict[Any, Any]:
    """Functions with a sparse form of their own."""
    made = composite_functions
    return {
        division.divide: made.sparse_divide,
        sizes.rank: made.sparse_rank,
        sizes.shape: made.sparse_shape,
        sizes.shape_v1: made.sparse_shape_v1,
        sizes.size: made.sparse_size,
        sizes.size_v1: made.sparse_size_v1,
        bincount.bincount: counting.bincount,
    }


def elementwise_functions() -> tuple[set[Any], set[Any]]:
    """The functions of one and of two tensors that treat each element alike."""
    return _sets()[:2]


@cache
def _sets():
    return tuple(map(_functions, (_UNARY, _BINARY, _TERNARY, _OF_LISTS, _SPARSE)))


@cache
def _known_functions() -> set[Any]:
    return {*_special(), *_sparse_special()}.union(*_sets())


def _is_ragged(value: Any) -> bool:
    return isinstance(value, (RaggedTensor, RaggedTensorValue, DynamicRaggedShape))


def _is_sparse(value: Any) -> bool:
    return isinstance(value, (SparseTensor, SparseTensorValue))


def dispatch(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of `function` for ragged or sparse arguments, NotImplemented where there is none."""
    if function not in _known_functions():
        return NotImplemented
    given = [*args, *kwargs.values()]
    try:
        values = nest.flatten([v for v in given if not _is_sparse(v)])
    except (TypeError, ValueError):  # not iterable after all: the function's own error says what is wrong
        return NotImplemented
    values += [v for v in given if _is_sparse(v)]
    if any(map(_is_ragged, values)):
        return _of_ragged(function, args, kwargs)
    if any(map(_is_sparse, values)):
        return _of_sparse(function, args, kwargs)
    return NotImplemented


def _of_ragged(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    args = tuple(_made(v) for v in args)
    kwargs = {k: _made(v) for k, v in kwargs.items()}
    unary, binary, ternary, of_lists, _ = _sets()
    if function in unary:
        return ragged_functions.map_flat_values(function, *args, **kwargs)
    if function in binary or function in ternary:
        given = [*args, *(v for k, v in kwargs.items() if k != "name")]
        count = 3 if function in ternary else 2
        if len(given) < count:
            return NotImplemented
        return ragged_broadcast.elementwise(function, *given[:count])
    if function in of_lists:
        parts, *rest = args if args else [next(iter(kwargs.values()))]
        named = dict(list(kwargs.items())[0 if args else 1 :])
        return ragged_broadcast.elementwise(lambda *flat: function(list(flat), *rest, **named), *parts)
    own = _special().get(function)
    return NotImplemented if own is None else _call(function, own, args, kwargs)


def _made(value: Any) -> Any:
    """`value` with ragged tensors in place of the values that stand for them, also in lists."""
    if isinstance(value, RaggedTensorValue):
        return as_ragged_or_tensor(value)
    if type(value) in (list, tuple) and any(isinstance(v, RaggedTensorValue) for v in value):
        return type(value)(_made(v) for v in value)
    return value


def _of_sparse(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    args = tuple(SparseTensor.from_value(v) if _is_sparse(v) else v for v in args)
    kwargs = {k: SparseTensor.from_value(v) if _is_sparse(v) else v for k, v in kwargs.items()}
    own = _sparse_special().get(function)
    if own is not None:
        return _call(function, own, args, kwargs)
    if function not in _sets()[4]:
        return NotImplemented
    first = next((v for v in (*args, *kwargs.values()) if isinstance(v, SparseTensor)), None)
    if first is None:
        return NotImplemented
    plain = [v.values if isinstance(v, SparseTensor) else v for v in args]
    named = {k: v.values if isinstance(v, SparseTensor) else v for k, v in kwargs.items()}
    return first.with_values(function(*plain, **named))


_RENAMED = {"keep_dims": "keepdims", "reduction_indices": "axis", "squeeze_dims": "axis", "dim": "axis"}
# Arguments that make no difference to what comes out.
_WITHOUT_EFFECT = {"name", "validate_indices", "partition_strategy", "bad_indices_policy"}


def _call(function: Any, own: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`own` with the arguments that `function` was called with, under the names that it has for them.

    NotImplemented where `own` lacks one that was given.
    """
    bound = inspect.signature(function).bind(*args, **kwargs).arguments
    names = inspect.signature(own).parameters
    given: dict[str, Any] = {}
    for key, value in bound.items():
        key = key if key in names else _RENAMED.get(key, key)
        if key in names:
            if value is not None or key not in given:
                given[key] = value
        elif value is not None and key not in _WITHOUT_EFFECT:
            return NotImplemented
    return own(**given)
