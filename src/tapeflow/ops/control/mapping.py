"""Functions applied to every element along the first dimension: map_fn, scan, foldl, foldr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import _native
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, public
from tapeflow.core.structures import nest
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.stacking import Pack, unstack
from tapeflow.ops.array.tiling import repeat
from tapeflow.ops.control import mapping_staged, staging
from tapeflow.ops.control.mapping_staged import map_elements, options_of

if TYPE_CHECKING:
    from tapeflow.core.specs.tensor_spec import TensorSpec


def _flat(elems):
    """The tensors of `elems`, which have a first dimension."""
    flat = [convert_to_tensor(e) for e in nest.flatten(elems)]
    if not flat:
        raise ValueError(
            f"elems must be a Tensor or (possibly nested) sequence of Tensors. Got {elems}, which does not "
            "contain any Tensors."
        )
    for tensor in flat:
        if tensor.shape.rank == 0:
            raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
    return flat


def _is_staged(flat: Sequence[Tensor], *values) -> bool:
    return staging.staged(*flat, *[v for x in values for v in nest.flatten(x)])


def _rows(elems: TensorLike, flat: Sequence[Tensor]):
    """`elems` as a list of structures, one for each element of the first dimension of its tensors."""
    counts = {tensor.shape[0] for tensor in flat}
    if len(counts) > 1:
        raise ValueError(f"The first dimensions of elems must be equal, but are {sorted(counts)}")
    columns = [unstack(tensor) for tensor in flat]
    return [nest.pack_sequence_as(elems, list(row)) for row in zip(*columns, strict=True)]


def _stacked(results: Sequence[Any], like: Any, empty):
    """The structures `results` stacked; `empty()` gives the specs of the elements where there are none."""
    if not results:
        return nest.map_structure(_nothing, empty())
    flat = [nest.flatten(r) for r in results]
    columns = [Pack([convert_to_tensor(v) for v in column]) for column in zip(*flat, strict=True)]
    return nest.pack_sequence_as(results[0] if like is None else like, columns)


def _nothing(spec):
    """No elements of a dtype, or of the dtype and shape of a tensor."""
    kind = dtypes.as_dtype(getattr(spec, "dtype", spec))
    shape = spec.shape if hasattr(spec, "shape") and spec.shape.is_fully_defined() else []
    return zeros([0, *shape], kind)


def _require_callable(fn) -> None:
    if not callable(fn):
        raise TypeError(f"The provided function {getattr(fn, '__name__', fn)} is not callable.")


# Ragged and sparse tensors can only be there where these modules are.
_COMPOSITES = {"tapeflow.core.sparse_tensor", "tapeflow.ops.ragged.tensor"}


@api(v2="map_fn")
@public
@graph_scope("map")
def map_fn(
    fn: Callable[..., Any], elems: Any, dtype: DTypeLike | None = None, parallel_iterations: TensorLike | None = None,
    back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True, name: str | None = None,
    fn_output_signature: Sequence[Any] | None = None,
):
    """Apply a function to each element along the first dimension, and stack the results.

    Args:
      fn: a function of one element, in the structure of `elems`.
      elems: a tensor, a `tf.RaggedTensor` or `tf.SparseTensor`, or a structure of those of one first dimension.
      dtype: the old name of `fn_output_signature`.
      parallel_iterations, back_prop, swap_memory: have no effect on the result.
      infer_shape: whether all results must have one shape.
      name: a name for the operation (optional).
      fn_output_signature: the dtype of what `fn` returns, or a `tf.TensorSpec`, `tf.RaggedTensorSpec` or a
        structure of those; it is needed where that is not like `elems`.

    Returns:
      What `fn` returned, stacked along a new first dimension.

    Raises:
      TypeError: where `fn` is not callable.
      ValueError: where first dimensions differ.
      InvalidArgumentError: where `fn` returns another dtype than was said.

    >>> tf.map_fn(lambda x: x * x, tf.constant([1, 2, 3]))
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 4, 9], dtype=int32)>
    >>> tf.map_fn(lambda x: x / 2, tf.constant([1, 2]), fn_output_signature=tf.float64)
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([0.5, 1. ])>
    """
    _require_callable(fn)
    signature = dtype if fn_output_signature is None else fn_output_signature
    if "tapeflow.core.specs.extension_batching" in sys.modules:  # the program may have types of its own
        from tapeflow.ops.control import mapping_composite

        if mapping_composite.concerns(elems, signature):
            return mapping_composite.map_components(
                map_fn, fn, elems, signature, parallel_iterations=parallel_iterations, swap_memory=swap_memory,
                infer_shape=infer_shape, name=name,
            )  # fmt: skip
    if _COMPOSITES & sys.modules.keys():
        from tapeflow.ops.control import mapping_ragged

        if mapping_ragged.concerns(elems, signature):
            options = options_of(parallel_iterations, swap_memory, name or "map")
            return mapping_ragged.map_rows(fn, elems, signature, options)
    flat = _flat(elems)
    kinds = [tensor.dtype for tensor in flat]
    promised = nest.pack_sequence_as(elems, kinds) if signature is None else signature
    if _is_staged(flat):
        options = options_of(parallel_iterations, swap_memory, name or "map")
        return map_elements(fn, elems, flat, promised, infer_shape, options)
    results = [_read(fn(row)) for row in _rows(elems, flat)]
    if results:
        nest.assert_same_structure(promised, results[0])
        results = [
            nest.map_structure(lambda kind, v: _promised(v, kind), promised, result)
            for result in results
        ]
    return _stacked(results, promised, lambda: promised)


def _read(result: TensorLike):
    """A result with variables as the values that they have now: the next call may change them."""
    return nest.map_structure(lambda x: convert_to_tensor(x) if isinstance(x, _native.Variable) else x, result)


def _promised(value: Tensor, kind: DType | TensorSpec):
    kind = dtypes.as_dtype(getattr(kind, "dtype", kind))
    value = convert_to_tensor(value, dtype_hint=kind)
    if value.dtype != kind:
        raise InvalidArgumentError(
            None,
            None,
            f"TensorArray dtype is {kind.name} but Op is trying to write dtype {value.dtype.name} ",
        )
    return value


@api(v1="map_fn")
@public
@graph_scope("map")
def map_fn_v1(
    fn: Callable[..., Any], elems: TensorLike, dtype: DTypeLike | None = None,
    parallel_iterations: TensorLike | None = None, back_prop: bool = True, swap_memory: bool = False,
    infer_shape: bool = True, name: str | None = None, fn_output_signature=None,
):
    """`map_fn` as 1.x has it."""
    return map_fn(
        fn,
        elems,
        dtype,
        parallel_iterations,
        back_prop,
        swap_memory,
        infer_shape,
        name,
        fn_output_signature,
    )


def _folded(fn: Callable[..., Any], rows: Any, initializer: Any):
    _require_callable(fn)
    rows = list(rows)
    if initializer is None:
        if not rows:
            raise ValueError("elems must have at least one element where there is no initializer")
        state, rows = rows[0], rows[1:]
    else:
        state = nest.map_structure(convert_to_tensor, initializer)
    return state, rows


def _fold(fn: Callable[..., Any], elems: Any, initializer, options: dict[str, Any], reverse: bool = False):
    _require_callable(fn)
    flat = _flat(elems)
    if _is_staged(flat, initializer):
        return mapping_staged.fold(fn, elems, flat, initializer, options, reverse)
    rows = _rows(elems, flat)
    state, rows = _folded(fn, reversed(rows) if reverse else rows, initializer)
    for row in rows:
        state = fn(state, row)
    return state


@api("foldl")
@public
@graph_scope("foldl")
def foldl(
    fn: Callable[..., Any], elems: TensorLike, initializer: TensorLike | None = None,
    parallel_iterations: TensorLike = 10, back_prop: bool = True, swap_memory: bool = False, name: str | None = None,
):
    """Combine the elements of a tensor along its first dimension, from the first to the last.

    Args:
      fn: a function of what was combined so far and of an element, both of which may be structures.
      elems: a tensor, or a structure of tensors of one first dimension.
      initializer: what to begin with; None: the first element.
      parallel_iterations, back_prop, swap_memory: have no effect on the result.
      name: a name for the operation (optional).

    Returns:
      What `fn` returned last.

    Raises:
      TypeError: where `fn` is not callable.

    >>> tf.foldl(lambda total, x: total * 10 + x, tf.constant([1, 2, 3]))
    <tf.Tensor: shape=(), dtype=int32, numpy=123>
    """
    return _fold(
        fn, elems, initializer, options_of(parallel_iterations, swap_memory, name or "foldl")
    )


@api("foldr")
@public
@graph_scope("foldr")
def foldr(
    fn: Callable[..., Any], elems: TensorLike, initializer: TensorLike | None = None,
    parallel_iterations: TensorLike = 10, back_prop: bool = True, swap_memory: bool = False, name: str | None = None,
):
    """Combine the elements of a tensor along its first dimension, from the last to the first.

    Args:
      fn: a function of what was combined so far and of an element, both of which may be structures.
      elems: a tensor, or a structure of tensors of one first dimension.
      initializer: what to begin with; None: the last element.
      parallel_iterations, back_prop, swap_memory: have no effect on the result.
      name: a name for the operation (optional).

    Returns:
      What `fn` returned last.

    Raises:
      TypeError: where `fn` is not callable.

    >>> tf.foldr(lambda total, x: total * 10 + x, tf.constant([1, 2, 3]))
    <tf.Tensor: shape=(), dtype=int32, numpy=321>
    """
    options = options_of(parallel_iterations, swap_memory, name or "foldr")
    return _fold(fn, elems, initializer, options, True)


@api("scan")
@public
@graph_scope("scan")
def scan(
    fn, elems: Any, initializer: Any = None, parallel_iterations=10, back_prop: bool = True,
    swap_memory: bool = False, infer_shape: bool = True, reverse: bool = False, name: str | None = None,
):
    """Combine the elements of a tensor along its first dimension, and keep every intermediate result.

    Args:
      fn: a function of the result before and of an element, both of which may be structures; it returns the next
        result.
      elems: a tensor, or a structure of tensors of one first dimension.
      initializer: the result before the first; None: the first element, which is then the first result.
      parallel_iterations, back_prop, swap_memory: have no effect on the result.
      infer_shape: whether results must keep one shape in a graph.
      reverse: whether to go from the last element to the first.
      name: a name for the operation (optional).

    Returns:
      The results stacked along a new first dimension, in the order of `elems`.

    Raises:
      TypeError: where `fn` is not callable.

    >>> tf.scan(lambda total, x: total + x, tf.constant([1, 2, 3]))
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 3, 6], dtype=int32)>
    """
    _require_callable(fn)
    flat = _flat(elems)
    if _is_staged(flat, initializer):
        options = options_of(parallel_iterations, swap_memory, name or "scan")
        return mapping_staged.scan(fn, elems, flat, initializer, infer_shape, options, reverse)
    rows = _rows(elems, flat)
    state, rest = _folded(fn, reversed(rows) if reverse else rows, initializer)
    results = [state] if initializer is None else []
    first = state
    for row in rest:
        state = fn(state, row)
        nest.assert_same_structure(first, state)
        results.append(state)
    if reverse:
        results.reverse()
    return _stacked(results, None, lambda: nest.map_structure(convert_to_tensor, initializer))


def flat_elements(fn: Callable[..., Any], elems: TensorLike | dict[str, Any]):
    """The tensors of `elems`, one of a single element repeated as often as the others have some."""
    _require_callable(fn)
    return _repeated(_flat(elems))


def map_without_signature(fn: Callable[..., Any], elems: TensorLike, flat: Sequence[Tensor]):
    """The results of a function of each element, stacked; `flat` are the tensors of `elems`."""
    if _is_staged(flat):
        signature = mapping_staged.signature_of(fn, elems, flat)
        return map_elements(fn, elems, flat, signature, True, options_of(None, False, "loop_body"))
    results = [_read(fn(row)) for row in _rows(elems, flat)]
    if results:
        return _stacked(results, None, None)
    # What `fn` gives for one element says of which dtypes and shapes there are none.
    one = fn(nest.pack_sequence_as(elems, [zeros(t.shape[1:], t.dtype) for t in flat]))
    return nest.map_structure(lambda t: _nothing(convert_to_tensor(t)), one)


def _repeated(flat: Sequence[Tensor]):
    """A tensor of one element stands beside others for as many as they have."""
    counts = [t.shape[0] if t.shape.rank else None for t in flat]
    if 1 not in counts or set(counts) == {1}:
        return flat
    longest = next(t for t, n in zip(flat, counts, strict=True) if n != 1)
    repeats = Shape(longest)[0]
    return [repeat(t, repeats, axis=0) if n == 1 else t for t, n in zip(flat, counts, strict=True)]
