"""`tf.gradients` and `tf.hessians` of 1.x."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow import _native
from tapeflow.api import api
from tapeflow.core import context
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import public
from tapeflow.core.structures import gradient_parts, nest
from tapeflow.graph.build import gradients as walk
from tapeflow.graph.build.recording import source_in, unconnected
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.sizes import Shape, Size
from tapeflow.ops.control import flow as control
from tapeflow.ops.gradient_arguments import UnconnectedGradients, in_shape_of
from tapeflow.ops.lists.tensor_array import TensorArray

_NONE = UnconnectedGradients.NONE


@api(v2="gradients")
@public
def gradients(
    ys: Any, xs: Any, grad_ys: Sequence[Tensor] | None = None, name: str | None = "gradients",
    gate_gradients: bool = False, aggregation_method=None, stop_gradients=None,
    unconnected_gradients: UnconnectedGradients = _NONE,
):
    """Compute the gradients of a sum by tensors, as tensors of the graph.

    Args:
      ys: a tensor, or a list of tensors, that are summed.
      xs: a tensor or variable, or a list of those.
      grad_ys: weights of the elements of `ys`, a list as long; None: ones.
      name: a name for the operation (optional).
      gate_gradients: not used.
      aggregation_method: a `tf.AggregationMethod`; all give the same.
      stop_gradients: tensors that are taken as constants (optional).
      unconnected_gradients: "none" or "zero", what an x gets that `ys` do not depend on.

    Returns:
      A list of tensors, `tf.IndexedSlices` or None, one for each of `xs`.

    Raises:
      RuntimeError: in eager execution; use `tf.GradientTape`.
      LookupError: for an operation that has no gradient.
      TypeError: for integer `ys`.
      ValueError: for an unknown `aggregation_method`.
    """
    _check_aggregation(aggregation_method)
    return _gradients(ys, xs, grad_ys, stop_gradients, unconnected_gradients)


def _check_aggregation(method: str | None):
    """How sums are made is not chosen by it, but a wrong one is no method."""
    if method not in (None, 0, 1, 2):
        raise ValueError(
            f"Invalid `aggregation_method` specified {method}. Accepted values are [0, 1, 2]."
        )


def _gradients(
    ys: Any, xs: Any, grad_ys, stop_gradients, unconnected_gradients: UnconnectedGradients, colocate: bool = False
):
    if context.executing_eagerly():
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead."
        )
    try:
        zero = UnconnectedGradients(unconnected_gradients) is not _NONE
    except ValueError:
        raise ValueError(
            f"Unknown value for unconnected_gradients: {unconnected_gradients!r}"
        ) from None
    apart = gradient_parts.taken_apart(_listed(xs))
    if apart is not None:
        flat = _gradients(ys, nest.flatten(apart), grad_ys, stop_gradients, unconnected_gradients, colocate)
        return gradient_parts.put_together(_listed(xs), nest.pack_sequence_as(apart, flat), zeros_like)
    targets = [_tensor(gradient_parts.part_of(y)) for y in _listed(ys)]
    sources = _listed(xs)
    parts = [gradient_parts.part_of(x) for x in sources]
    weights = None if grad_ys is None else _listed(grad_ys)
    if weights is not None and len(weights) != len(targets):
        raise ValueError(f"Passed {len(weights)} grad_ys for {len(targets)} ys")
    if weights is not None:
        weights = [_weight(gradient_parts.part_of(w), y) for w, y in zip(weights, targets, strict=True)]
    stopped = [gradient_parts.part_of(x) for x in _listed(stop_gradients or [])]
    found = _found(targets, parts, weights, stopped, colocate)
    found = [unconnected(x) if dx is None and zero else dx for dx, x in zip(found, parts, strict=True)]
    return [gradient_parts.gradient_by(x, dx) for x, dx in zip(sources, found, strict=True)]


def _found(targets, sources, weights, stop, colocate):
    if not targets:
        return [None] * len(sources)
    graph = targets[0].op.graph
    inner = [source_in(graph, x) for x in sources]
    known = [i for i, x in enumerate(inner) if x is not None]
    stopped = [x for x in (source_in(graph, s) for s in stop) if x is not None]
    dxs = walk.gradients(targets, [inner[i] for i in known], weights, stop=stopped, colocate=colocate)
    result = [None] * len(sources)
    for i, dx in zip(known, dxs, strict=True):
        result[i] = dx
    return result


def _listed(x):
    if x is None:
        return [None]
    return (
        list(x) if isinstance(x, (list, tuple)) else nest.flatten(x) if nest.is_nested(x) else [x]
    )


def _tensor(y):
    if isinstance(y, IndexedSlices):
        return y.values
    if isinstance(y, SymbolicTensor):
        return y
    return convert_to_tensor(y.read_value() if isinstance(y, _native.Variable) else y)


def _weight(w: Tensor, y: Tensor):
    if w is None or isinstance(w, IndexedSlices):
        return w
    w = convert_to_tensor(w, None if hasattr(w, "dtype") else y.dtype)
    if y.dtype.is_integer and not w.dtype.is_integer:
        raise TypeError(
            f"Gradient type {w.dtype.name} generated for integer type {y.dtype.name} does not "
            "match: expected an integer."
        )
    if w.dtype != y.dtype:
        raise TypeError(
            f"Gradient type {w.dtype.name} generated for real type {y.dtype.name} does not match"
        )
    return in_shape_of(y, w)


@api(v1="gradients")
@public
def gradients_v1(
    ys: TensorLike, xs: TensorLike, grad_ys=None, name: str | None = "gradients",
    colocate_gradients_with_ops: bool = False, gate_gradients: bool = False, aggregation_method=None,
    stop_gradients=None, unconnected_gradients: UnconnectedGradients = _NONE,
):
    """`gradients` with the arguments of 1.x.

    Args:
      ys, xs: a tensor or a list of tensors.
      grad_ys: weights of the elements of `ys`, a list of tensors; None: ones.
      name: a name for the operation (optional).
      colocate_gradients_with_ops, gate_gradients, aggregation_method: have no effect on the result.
      stop_gradients: tensors that are constants here.
      unconnected_gradients: "none" or "zero", what an `x` gets that `ys` do not depend on.
    """
    _check_aggregation(aggregation_method)
    return _gradients(
        ys, xs, grad_ys, stop_gradients, unconnected_gradients, bool(colocate_gradients_with_ops)
    )


@api(v2="hessians")
@public
def hessians(ys, xs, gate_gradients: bool = False, aggregation_method=None, name: str | None = "hessians"):
    """Compute the second derivatives of a sum by tensors, in a graph.

    Args:
      ys: a tensor, or a list of tensors, that are summed.
      xs: a tensor, or a list of tensors.
      gate_gradients: not used.
      aggregation_method: a `tf.AggregationMethod`; all give the same.
      name: a name for the operation (optional).

    Returns:
      A list of tensors of shape `x.shape + x.shape`, one for each of `xs`.

    Raises:
      ValueError: where the gradient does not depend on an x.
    """
    _check_aggregation(aggregation_method)
    result = []
    for x in _listed(xs):
        (gradient,) = gradients(ys, [x])
        if gradient is None:
            raise ValueError(f"the gradient with respect to {x} is None: there is no Hessian")
        flat = reshape(gradient, [-1])
        count = Size(flat)
        rows = TensorArray(x.dtype, count)

        def row(i: int, rows, flat=flat, x=x):
            (second,) = gradients(flat[i], [x])
            if second is None:
                raise ValueError(
                    f"the gradient of {flat[i]} does not depend on {x}: there is no Hessian"
                )
            return i + 1, rows.write(i, convert_to_tensor(second))

        _, rows = control.while_loop(lambda i, _, count=count: i < count, row, [0, rows])
        tensor = convert_to_tensor(x)
        shape = concat([Shape(tensor), Shape(tensor)], 0)
        hessian = reshape(rows.stack(), shape)
        hessian.set_shape(tensor.shape.concatenate(tensor.shape))
        result.append(hessian)
    return result


@api(v1="hessians")
@public
def hessians_v1(
    ys, xs, name: str | None = "hessians", colocate_gradients_with_ops: bool = False, gate_gradients: bool = False,
    aggregation_method=None,
):
    """`hessians` with the arguments of 1.x.

    Args:
      ys, xs: a tensor or a list of tensors.
      name: a name for the operation (optional).
      colocate_gradients_with_ops, gate_gradients, aggregation_method: have no effect on the result.
    """
    return hessians(ys, xs, gate_gradients, aggregation_method, name)
