"""Walks through a graph: what can be reached from operations, forward, backward and between bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.compat import v1
from tapeflow.contrib.graph_editor import util
from tapeflow.contrib.graph_editor.select import check_cios, get_ops_ios
from tapeflow.core.annotations import Tensor, TensorLike

if TYPE_CHECKING:
    from tapeflow.contrib.graph_editor.util import ControlOutputs
    from tapeflow.graph.operation import Operation


def get_within_boundary_ops(
    ops: Sequence[Any], seed_ops: Sequence[Any], boundary_ops: Sequence[Any] = (), inclusive: bool = True,
    control_inputs: bool = False, control_outputs: Sequence[Any] | None = None,
    control_ios: Sequence[Any] | None = None,
):  # fmt: skip
    """Those of `ops` that can be reached from seeds, in both directions, up to (and with) a boundary.

    Raises ValueError for seeds in the boundary.
    """
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    ops, boundary = util.make_list_of_op(ops), set(util.make_list_of_op(boundary_ops))
    found = set(util.make_list_of_op(seed_ops, allow_graph=False))
    if boundary & found:
        raise ValueError("Boundary is intersecting with the seeds.")
    wave = found
    while wave:
        around = set(get_ops_ios(wave, control_inputs, control_outputs)) - found
        if inclusive:
            found = found | (around & boundary)
        wave = around - boundary
        found = found | wave
    return [op for op in ops if op in found]


def _walk(seeds: Sequence[Any], inclusive: bool, within_ops, within_ops_fn, after: Callable[..., Any]):
    allowed = None if not within_ops else set(util.make_list_of_op(within_ops, allow_graph=False))
    seeds = [op for op in seeds if allowed is None or op in allowed]
    found, at = dict.fromkeys(seeds), 0
    order = list(found)
    while at < len(order):
        for op in after(order[at]):
            if (
                op not in found
                and (allowed is None or op in allowed)
                and (within_ops_fn is None or within_ops_fn(op))
            ):
                found[op] = None
                order.append(op)
        at += 1
    return order if inclusive else [op for op in order if op not in set(seeds)]


def _seeds(given: Any, of_tensors: Callable[..., Any]):
    given = list(given) if util.is_iterable(given) else [given]
    if given and isinstance(given[0], v1.Tensor):
        return util.unique(of_tensors(given))
    return util.unique(util.make_list_of_op(given, allow_graph=False))


def get_forward_walk_ops(
    seed_ops: Sequence[Any] | Operation, inclusive: bool = True, within_ops=None, within_ops_fn=None,
    stop_at_ts: Sequence[Tensor] = (), control_outputs: ControlOutputs | None = None,
):
    """The operations that follow operations or tensors.

    Args:
      inclusive: whether the first ones are among them.
      within_ops, within_ops_fn: where the walk stays: operations, and a function of one.
      stop_at_ts: tensors that the walk does not pass.
      control_outputs: ControlOutputs, where control edges count.
    """
    _, control_outputs = check_cios(False, control_outputs)
    stops = set(util.make_list_of_t(stop_at_ts))

    def after(op):
        found = [each for t in op.outputs if t not in stops for each in t.consumers()]
        return found + list(control_outputs.get(op)) if control_outputs is not None else found

    return _walk(_seeds(seed_ops, util.get_consuming_ops), inclusive, within_ops, within_ops_fn, after)


def get_backward_walk_ops(
    seed_ops: TensorLike, inclusive: bool = True, within_ops=None, within_ops_fn=None, stop_at_ts: Sequence[Any] = (),
    control_inputs: bool = False,
):
    """The operations that operations or tensors follow from; see `get_forward_walk_ops`."""
    stops = set(util.make_list_of_t(stop_at_ts))

    def before(op: Operation):
        found = [tensor.op for tensor in op.inputs if tensor not in stops]
        return found + list(op.control_inputs) if control_inputs else found

    return _walk(_seeds(seed_ops, util.get_generating_ops), inclusive, within_ops, within_ops_fn, before)


def _both(
    forward: Any, backward: Any, forward_all: bool, backward_all: bool, within, within_fn, inputs, outputs, ios
):
    inputs, outputs = check_cios(inputs, outputs, ios)
    return (
        get_forward_walk_ops(forward, forward_all, within, within_fn, control_outputs=outputs),
        get_backward_walk_ops(backward, backward_all, within, within_fn, control_inputs=inputs),
    )


def get_walks_intersection_ops(
    forward_seed_ops: Sequence[Any], backward_seed_ops: Sequence[Any], forward_inclusive: bool = True,
    backward_inclusive: bool = True, within_ops=None, within_ops_fn=None, control_inputs: bool = False,
    control_outputs: Sequence[Any] | None = None, control_ios=None,
):  # fmt: skip
    """The operations between the first and the last ones."""
    forward, backward = _both(
        forward_seed_ops, backward_seed_ops, forward_inclusive, backward_inclusive, within_ops, within_ops_fn,
        control_inputs, control_outputs, control_ios,
    )  # fmt: skip
    common = set(backward)
    return [op for op in forward if op in common]


def get_walks_union_ops(
    forward_seed_ops: Sequence[Any], backward_seed_ops: Sequence[Any], forward_inclusive: bool = True,
    backward_inclusive: bool = True, within_ops=None, within_ops_fn=None, control_inputs: bool = False,
    control_outputs: Sequence[Any] | None = None, control_ios: Sequence[Any] | None = None,
):  # fmt: skip
    """The operations after the first ones, and those before the last ones."""
    return util.unique(
        *_both(
            forward_seed_ops, backward_seed_ops, forward_inclusive, backward_inclusive, within_ops, within_ops_fn,
            control_inputs, control_outputs, control_ios,
        )
    )  # fmt: skip
