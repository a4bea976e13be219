"""Strings joined: elementwise, along axes, and by templates."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, AxisLike, IntLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError, OutOfRangeError
from tapeflow.core.public import public, tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.control import staging
from tapeflow.ops.control.printing import tensor_text
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.static import concrete_value, rank_of
from tapeflow.ops.string.rows import each, texts
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall


def _join_rule(call: ShapeCall):
    return [shapes.merged_or_scalar(call)]


@op("StringJoin", "inputs: N*string -> output: string", attrs={"separator": ""},
    shape=_join_rule)  # fmt: skip
def StringJoin(xp: ModuleType, inputs: Sequence[Array], separator: str):
    shape = next((x.shape for x in inputs if x.ndim), ())
    for x in inputs:
        if x.ndim and x.shape != shape:
            raise invalid(
                f"Input shapes do not match: {shape_text(shape)} vs. {shape_text(x.shape)}"
            )
    glue = separator.encode() if isinstance(separator, str) else separator
    if not inputs:
        return np.array(b"", object)
    return each(lambda *parts: glue.join(parts), *inputs)


StringJoin.gradient(None)


@StringJoin.samples
def _(rng: SampleGenerator):
    yield Sample(
        [np.array(b"a", object), texts("b", "c")], separator="-", expect=texts("a-b", "a-c")
    )
    yield Sample([texts("a"), texts("b")], expect=texts("ab"))
    yield Sample([texts("a", "b"), texts("c", "d", "e")], raises=InvalidArgumentError)


@api("strings.join", v1="string_join")
@tensor_function
def join(inputs: Sequence[Tensor | str], separator: str = "", name: str | None = None):
    """Join the strings of several tensors element by element.

    Args:
      inputs: a list of string tensors of one shape; scalars broadcast.
      separator: what stands between them.
      name: a name for the operation (optional).

    Returns:
      A string tensor of that shape.

    >>> tf.strings.join([["a", "b"], "c"], separator="-").numpy()
    array([b'a-c', b'b-c'], dtype=object)
    """
    if not len(inputs):
        return convert_to_tensor("")
    return StringJoin(list(inputs), separator)


@op("ReduceJoin", "inputs: string, reduction_indices: int32 -> output: string",
    attrs={"keep_dims": False, "separator": ""}, shape=shapes.reduction)  # fmt: skip
def ReduceJoin(xp: ModuleType, inputs: Array, reduction_indices: Array, keep_dims: bool, separator: str):
    rank = inputs.ndim
    axes = [int(a) for a in np.ravel(reduction_indices)]
    for a in axes:
        if not -rank <= a < rank:
            raise OutOfRangeError(
                None, None, f"Invalid reduction dimension {a} for input with {rank} dimension(s)"
            )
    axes = [a % rank for a in axes]
    if len(set(axes)) < len(axes):
        raise invalid(f"Duplicate reduction dimension in {axes}")
    kept = [i for i in range(rank) if i not in axes]
    # Joined along the first axis first.
    rows = np.transpose(inputs, [*kept, *axes[::-1]])
    rows = rows.reshape([*rows.shape[: len(kept)], -1]) if axes else rows[..., None]
    glue = separator.encode() if isinstance(separator, str) else separator
    out = np.empty(rows.shape[:-1], object)
    for at in np.ndindex(*out.shape):
        out[at] = glue.join(rows[at])
    if keep_dims:
        return out.reshape([1 if i in axes else d for i, d in enumerate(inputs.shape)])
    return out


ReduceJoin.gradient(None)


@ReduceJoin.samples
def _(rng: SampleGenerator):
    square = np.array([[b"a", b"b"], [b"c", b"d"]], object)
    yield Sample(square, [0], expect=texts("ac", "bd"))
    yield Sample(square, [1, 0], expect=np.array(b"abcd", object))
    yield Sample(square, [0, 1], separator=",", expect=np.array(b"a,c,b,d", object))
    yield Sample(square, 1, keep_dims=True, expect=np.array([[b"ab"], [b"cd"]], object))
    yield Sample(square, [2], raises=OutOfRangeError)
    yield Sample(square, [0, 0], raises=InvalidArgumentError)


@api(v2="strings.reduce_join")
@tensor_function
def reduce_join(
    inputs: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, separator: str = "",
    name: str | None = None,
):
    """Join strings along axes to one each.

    Args:
      inputs: a string tensor.
      axis: the axis, or a list of axes of which the first is joined first; None: all, the last first.
      keepdims: whether the axes stay, with size 1.
      separator: what stands between them.
      name: a name for the operation (optional).

    Returns:
      A string tensor of the shape of `inputs` without the axes.

    Raises:
      OutOfRangeError: for an axis out of range.

    >>> tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=1, separator=" ").numpy()
    array([b'a b', b'c d'], dtype=object)
    """
    inputs = convert_to_tensor(inputs)
    if axis is None:
        rank = rank_of(inputs)
        known = isinstance(rank, int)
        axis = np.arange(rank - 1, -1, -1, dtype=np.int32) if known else range_(rank - 1, -1, -1)
    return ReduceJoin(inputs, axis, bool(keepdims), separator)


@api(v1=("strings.reduce_join", "reduce_join"))
@tensor_function
def reduce_join_v1(
    inputs: TensorLike, axis: AxisLike | None = None, keep_dims: bool | None = None, separator: str = "",
    name: str | None = None, reduction_indices=None, keepdims: bool | None = None,
):
    """`reduce_join` with the 1.x spellings `reduction_indices` and `keep_dims`."""
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    keep = renamed("keepdims", keepdims, "keep_dims", keep_dims, False)
    return reduce_join(inputs, axis, keep, separator)


@api("strings.format")
@public
def format_(template, inputs: TensorLike, placeholder: str = "{}", summarize: IntLike = 3, name: str | None = None):
    """Write tensors into a template, as `tf.print` shows them.

    Args:
      template: a str.
      inputs: a tensor, or a list of tensors, one for each placeholder.
      placeholder: what is replaced in the template.
      summarize: how many elements at each end of a dimension are shown; -1: all.
      name: a name for the operation (optional).

    Returns:
      A scalar string.

    Raises:
      ValueError: where there are not as many placeholders as tensors.

    >>> tf.strings.format("x = {}", tf.range(10)).numpy()
    b'x = [0 1 2 ... 7 8 9]'
    """
    if hasattr(inputs, "dtype") or not isinstance(inputs, (list, tuple)):
        inputs = [inputs]
    pieces = template.split(placeholder)
    if len(pieces) - 1 != len(inputs):
        raise ValueError(
            f"The template expects {len(pieces) - 1} tensors, but the inputs only has {len(inputs)}. Please "
            "ensure the number of placeholders in template matches inputs length."
        )
    if staging.staged(*inputs):
        return staging.nodes.string_format(template, placeholder, inputs, summarize, name)
    return convert_to_tensor(formatted(pieces, inputs, summarize))


def formatted(pieces: Sequence[str], values: Sequence[Tensor], summarize) -> str:
    """The pieces of a template with the text of a tensor between each two."""
    text = pieces[0]
    for value, rest in zip(values, pieces[1:], strict=True):
        text += tensor_text(concrete_value(convert_to_tensor(value)), summarize) + rest
    return text
