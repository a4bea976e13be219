"""Ragged forms of functions that are no elementwise functions and belong to no other file of ragged tensors."""

from __future__ import annotations

import inspect
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.ops.array import rows as array
from tapeflow.ops.array import sizes as array_sizes
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.control.assertions import assert_equal_v1
from tapeflow.ops.control.flow import cond
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.control.mapping import map_fn
from tapeflow.ops.linalg import matmul as dense_matmul
from tapeflow.ops.math import casting
from tapeflow.ops.math.reductions import reduce_max, reduce_prod
from tapeflow.ops.nn import embedding as dense_embedding
from tapeflow.ops.ragged.broadcast import elementwise
from tapeflow.ops.ragged.functions import gather_rows
from tapeflow.ops.ragged.math import reduce_along
from tapeflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor
from tapeflow.ops.ragged.text import ragged_text
from tapeflow.ops.static import static_value
from tapeflow.ops.string import joining
from tapeflow.ops.string.segment_join import unsorted_segment_join


def size(input, out_type: DTypeLike | None = None, name: str | None = None):
    """`tf.size` of a ragged tensor: of its flat values."""
    return array_sizes.size(input.flat_values, out_type) if out_type else array_sizes.size(input.flat_values)


def rank(input, name: str | None = None):
    """`tf.rank` of a ragged tensor."""
    known = input.shape.rank
    if known is None:
        return input.ragged_rank + array_sizes.rank(input.flat_values)
    return casting.cast(known, "int32")


def sparse_shape(input, out_type: DTypeLike = dtypes.int32, name: str | None = None):
    """`tf.shape` of a sparse tensor: its dense shape."""
    return casting.cast(input.dense_shape, dtypes.int32 if out_type is None else out_type)


def sparse_shape_v1(input, name: str | None = None, out_type: DTypeLike = dtypes.int32):
    """`sparse_shape` with the 1.x order of arguments."""
    return sparse_shape(input, out_type)


def sparse_size(input, out_type: DTypeLike = dtypes.int32, name: str | None = None):
    """`tf.size` of a sparse tensor: the product of its dense shape."""
    return casting.cast(reduce_prod(input.dense_shape), dtypes.int32 if out_type is None else out_type)


def sparse_size_v1(input, name: str | None = None, out_type: DTypeLike = dtypes.int32):
    """`sparse_size` with the 1.x order of arguments."""
    return sparse_size(input, out_type)


def sparse_rank(input, name: str | None = None):
    """`tf.rank` of a sparse tensor."""
    return array_sizes.Shape(input.dense_shape)[0]


def embedding_lookup(params, ids, max_norm: float | None = None, name: str | None = None):
    """`tf.nn.embedding_lookup` of ragged ids: an embedding for each."""
    if max_norm is not None:
        flat = dense_embedding.embedding_lookup(params, ids.flat_values, max_norm)
    else:
        flat = dense_embedding.embedding_lookup(params, ids.flat_values)
    return ids.with_flat_values(flat)


def embedding_lookup_v1(
    params, ids, partition_strategy: str = "mod", name: str | None = None, validate_indices: bool = True,
    max_norm: float | None = None,
):  # fmt: skip
    """`embedding_lookup` of 1.x."""
    return ids.with_flat_values(
        dense_embedding.embedding_lookup_v1(
            params, ids.flat_values, partition_strategy, max_norm=max_norm
        )
    )


def sparse_divide(x, y, name: str | None = None):
    """`tf.divide` of a sparse tensor by a dense one."""
    return x / y


def asserting(function):
    """An assertion about pairs of elements, of ragged tensors: about their flat values, broadcast."""

    def called(x, y, **kwargs):
        made: list[Any] = []

        def check(a, b):
            made.append(function(a, b, **kwargs))
            return a

        elementwise(check, x, y)
        return made[0]

    called.__signature__ = inspect.signature(function)
    return called


def of_each_image(function):
    """`function` of the images of a ragged batch, one by one; the results must have one size."""
    first = next(iter(inspect.signature(function).parameters))

    def called(**kwargs):
        images = kwargs.pop(first)
        if not isinstance(images, RaggedTensor) or images.shape.rank != 4:
            raise ValueError("tf.image.resize: images.shape.rank must be 4 if images is ragged.")

        def of_one(image: TensorLike):
            return function(
                image.to_tensor() if isinstance(image, RaggedTensor) else image, **kwargs
            )

        resizes = "size" in kwargs
        kept = not resizes or kwargs.get("method") in ("nearest", 1)
        dtype = images.dtype if kept else dtypes.float32
        size = kwargs["size"] if resizes else (kwargs["target_height"], kwargs["target_width"])
        known = static_value(size)
        sizes = [None, None] if known is None or kwargs.get("preserve_aspect_ratio") else [int(n) for n in known]
        spec = TensorSpec([*sizes, images.shape[-1]], dtype)

        def of_none():
            channels = array_sizes.shape(images.flat_values)[-1:]
            return zeros(concat([[0], casting.cast(size, dtypes.int32), channels], 0), dtype)

        result = cond(images.nrows() > 0, lambda: map_fn(of_one, images, fn_output_signature=spec), of_none)
        result.set_shape([images.shape[0], *spec.shape])
        return result

    called.__signature__ = inspect.signature(function)
    return called


def with_sparse(function):
    """`function` with ragged arguments as sparse tensors."""

    def called(**kwargs):
        return function(
            **{k: v.to_sparse() if isinstance(v, RaggedTensor) else v for k, v in kwargs.items()}
        )

    called.__signature__ = inspect.signature(function)
    return called


def reduce_join(
    inputs, axis=None, keepdims: bool | None = None, separator: str = "", name: str | None = None
):
    """`tf.strings.reduce_join` of a ragged tensor."""
    def joined(value, axis, keep):
        return joining.reduce_join(value, axis, keep, separator)

    def of_segments(data, ids, count: int):
        return unsorted_segment_join(data, ids, count, separator)

    return reduce_along(joined, of_segments, inputs, axis, bool(keepdims))


def format_text(template, inputs, placeholder: str = "{}", summarize: int = 3, name: str | None = None):
    """`tf.strings.format` with ragged tensors among the inputs."""
    if not isinstance(inputs, (list, tuple)):
        inputs = [inputs]
    texts = [ragged_text(v, summarize) if isinstance(v, RaggedTensor) else v for v in inputs]
    pieces = template.split(placeholder)
    if len(pieces) - 1 != len(inputs):
        return joining.format_(template, [0] * len(inputs), placeholder, summarize)
    out: list[Any] = [pieces[0]]
    for value, text, piece in zip(inputs, texts, pieces[1:], strict=True):
        ragged = isinstance(value, RaggedTensor)
        out += [text if ragged else joining.format_("{}", [value], summarize=summarize), piece]
    return joining.join(out)


# Products


def matmul(
    a, b, transpose_a=False, transpose_b: bool = False, adjoint_a: bool = False, adjoint_b: bool = False,
    a_is_sparse: bool = False, b_is_sparse: bool = False, output_type: DTypeLike | None = None,
    grad_a: bool = False, grad_b: bool = False, name: str | None = None,
):
    """`tf.matmul` of batches of matrices with different numbers of rows or columns.

    Raises ValueError for matrices that are no batch, InvalidArgumentError for sizes that do not fit.
    """
    if a_is_sparse or b_is_sparse:
        raise ValueError("a_is_sparse and b_is_sparse are not supported for ragged tensors")
    a, b = as_ragged_or_tensor(a), as_ragged_or_tensor(b)
    ranks = a.shape.rank, b.shape.rank
    if ranks[0] is None or ranks[0] != ranks[1]:
        raise ValueError(f"`a` and `b` must have the same known rank, got ranks {ranks[0]} and {ranks[1]}")
    settings = {
        "transpose_a": transpose_a,
        "transpose_b": transpose_b,
        "adjoint_a": adjoint_a,
        "adjoint_b": adjoint_b,
        "output_type": output_type,
    }
    if ranks[0] == 2:
        return dense_matmul.matmul(_matrix(a), _matrix(b), **settings)
    return _batches(a, b, ranks[0] - 2, settings)


def _matrix(value):
    """A ragged matrix as a tensor; its rows must be equally long."""
    if not isinstance(value, RaggedTensor):
        return value
    lengths = value.row_lengths()
    check = assert_equal_v1(lengths[1:], lengths[:-1], message="A matrix must have rows of one length")
    with control_dependencies([] if check is None else [check]):
        return value.to_tensor()


def _batches(a, b, depth: int, settings):
    if depth > 1:
        a, b = (v if isinstance(v, RaggedTensor) else RaggedTensor.from_tensor(v) for v in (a, b))
        check = assert_equal_v1(a.row_splits, b.row_splits, message="The batches must be equal")
        with control_dependencies([] if check is None else [check]):
            return a.with_values(_batches(a.values, b.values, depth - 1, settings))
    a_rows, a_columns = _sizes(a, settings["transpose_a"] or settings["adjoint_a"])
    b_rows, b_columns = _sizes(b, settings["transpose_b"] or settings["adjoint_b"])
    check = assert_equal_v1(a_columns, b_rows, message="The sizes of the matrices do not fit")
    with control_dependencies([] if check is None else [check]):
        padded = dense_matmul.matmul(_padded(a), _padded(b), **settings)
    rows = RaggedTensor.from_tensor(padded, lengths=a_rows)
    if _has_ragged_columns(a, b, settings):
        each = gather_rows(b_columns, rows.value_rowids())
        return rows.with_values(RaggedTensor.from_tensor(rows.values, lengths=each))
    return rows


def _padded(value):
    return value.to_tensor() if isinstance(value, RaggedTensor) else value


def _has_ragged_columns(a, b, settings):
    if not isinstance(b, RaggedTensor):
        return False
    turned = settings["transpose_b"] or settings["adjoint_b"]
    return turned or b.ragged_rank > 1


def _sizes(value, turned):
    """(rows, columns) of each matrix of a batch."""
    if isinstance(value, RaggedTensor):
        rows = value.row_lengths()
        inner = value.values
        if isinstance(inner, RaggedTensor):
            # A matrix without rows has no columns to go by; those of a matrix are equally long.
            lengths = inner.row_lengths()
            padded = value.with_values(lengths).to_tensor()
            columns = reduce_max(_with_zero(padded), 1)
            same = assert_equal_v1(
                lengths,
                gather_rows(columns, value.value_rowids()),
                message="A matrix must have rows of one length",
            )
            with control_dependencies([] if same is None else [same]):
                columns = array.identity(columns)
        else:
            columns = rows * 0 + casting.cast(array_sizes.Shape(inner)[1], rows.dtype)
    else:
        sizes = casting.cast(array_sizes.Shape(value), dtypes.int64)
        zero = range_(sizes[0]) * 0
        rows, columns = zero + sizes[1], zero + sizes[2]
    return (columns, rows) if turned else (rows, columns)


def _with_zero(lengths):
    """A zero before the lengths of each row, so that a row without any has a largest one."""
    zero = zeros(stack([array_sizes.Shape(lengths)[0], 1]), lengths.dtype)
    return concat([zero, lengths], 1)
