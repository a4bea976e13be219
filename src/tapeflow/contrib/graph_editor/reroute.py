"""Edges that come from other tensors: exchanged (swap), or taken over from one to the other (reroute)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.compat import v1
from tapeflow.contrib.graph_editor import util
from tapeflow.contrib.graph_editor.subgraph import make_view
from tapeflow.core.annotations import Tensor, TensorLike

if TYPE_CHECKING:
    from tapeflow.contrib.graph_editor.subgraph import SubGraphView
    from tapeflow.graph.operation import Operation


def _check(first, second):
    if len(first) != len(second):
        raise ValueError(f"ts0 and ts1 have different sizes: {len(first)} != {len(second)}")
    for one, other in zip(first, second, strict=True):
        if not one.dtype.is_compatible_with(other.dtype):
            raise ValueError(f"Dtypes {one.dtype} and {other.dtype} are not compatible.")
        if not one.shape.is_compatible_with(other.shape):
            raise ValueError(f"Shapes {one.shape} and {other.shape} are not compatible.")


def _rerouted(ts0: Any, ts1: Any, both_ways: bool, can_modify: Sequence[Any] | None, cannot_modify):
    ts0, ts1 = util.make_list_of_t(ts0), util.make_list_of_t(ts1)
    _check(ts0, ts1)
    allowed = None if can_modify is None else set(util.make_list_of_op(can_modify))
    refused = set() if cannot_modify is None else set(util.make_list_of_op(cannot_modify))
    # All edges are looked up before the first one changes.
    edges = []
    for one, other in zip(ts0, ts1, strict=True):
        for new, old in ((one, other), (other, one))[: 1 + both_ways]:
            if new is old:
                continue
            for op in util.unique(old.consumers()):
                if (allowed is None or op in allowed) and op not in refused:
                    edges += [(op, i, new) for i, t in enumerate(op.inputs) if t is old]
    for op, i, new in edges:
        op.update_input(i, new)
    return len(edges)


def swap_ts(ts0: Sequence[Tensor], ts1: Sequence[Tensor], can_modify=None, cannot_modify=None):
    """Exchanges the uses of tensors, pair by pair; returns how many inputs have changed.

    Args:
      can_modify, cannot_modify: the operations whose inputs may, or may not, change.

    Raises ValueError for other numbers, dtypes or shapes of tensors.
    """
    return _rerouted(ts0, ts1, True, can_modify, cannot_modify)


def reroute_ts(ts0: TensorLike, ts1: TensorLike, can_modify=None, cannot_modify=None):
    """Gives those who use `ts1` the tensors `ts0` instead; see `swap_ts`."""
    return _rerouted(ts0, ts1, False, can_modify, cannot_modify)


def _take_over(source, inputs, passthroughs: Sequence[Tensor], view):
    """The outputs of a view after it has taken the inputs of another: what passed through is new."""
    old = {id(tensor): i for i, tensor in enumerate(view.inputs) if view.is_passthrough(tensor)}
    outputs = [inputs[old[id(t)]] if id(t) in old else t for t in view.outputs]
    return inputs, passthroughs, outputs


def _with_inputs(sgv0, sgv1, both_ways):
    sgv0, sgv1 = make_view(sgv0), make_view(sgv1)
    util.check_graphs(sgv0, sgv1)
    may = [*sgv0.ops, *sgv1.ops]
    for view in (sgv0, sgv1):
        may += util.get_consuming_ops(view.passthroughs)
    _rerouted(sgv0.inputs, sgv1.inputs, both_ways, may, None)
    first = _take_over(sgv0, sgv0.inputs, sgv0.passthroughs, sgv1)
    second = _take_over(sgv1, sgv1.inputs, sgv1.passthroughs, sgv0)
    sgv1.take_boundary(*first)
    if both_ways:
        sgv0.take_boundary(*second)
    return sgv0, sgv1


def _with_outputs(sgv0: SubGraphView, sgv1, both_ways: bool):
    sgv0, sgv1 = make_view(sgv0), make_view(sgv1)
    util.check_graphs(sgv0, sgv1)
    _rerouted(sgv0.outputs, sgv1.outputs, both_ways, None, [*sgv0.ops, *sgv1.ops])
    return sgv0, sgv1


def swap_inputs(sgv0: SubGraphView, sgv1: Sequence[Tensor]):
    """Exchanges the inputs of two views; returns both."""
    return _with_inputs(sgv0, sgv1, True)


def reroute_inputs(sgv0: SubGraphView, sgv1: SubGraphView):
    """Gives the second view the inputs of the first; returns both."""
    return _with_inputs(sgv0, sgv1, False)


def swap_outputs(sgv0: SubGraphView, sgv1: Sequence[Tensor]):
    """Exchanges who uses the outputs of two views; returns both."""
    return _with_outputs(sgv0, sgv1, True)


def reroute_outputs(sgv0, sgv1):
    """Gives those who use the outputs of the second view those of the first; returns both."""
    return _with_outputs(sgv0, sgv1, False)


def swap_ios(sgv0, sgv1):
    """`swap_outputs`, then `swap_inputs`."""
    return _with_inputs(*_with_outputs(sgv0, sgv1, True), True)


def reroute_ios(sgv0, sgv1):
    """`reroute_outputs`, then `reroute_inputs`."""
    return _with_inputs(*_with_outputs(sgv0, sgv1, False), False)


def _check_operation(op: Operation):
    if not isinstance(op, v1.Operation):
        raise TypeError(f"Expected a tf.Operation, got: {type(op)}")


def remove_control_inputs(op, cops):
    """Lets an operation wait no more for others. Raises ValueError for those that it does not wait for."""
    _check_operation(op)
    cops = util.make_list_of_op(cops, allow_graph=False)
    for each in cops:
        if each not in op.control_inputs:
            raise ValueError(f"{op.name} is not a control_input of {each.name}")
    kept = [each for each in op.control_inputs if each not in cops]
    op.remove_control_inputs()
    op.add_control_inputs(kept)


def add_control_inputs(op, cops):
    """Lets an operation wait for others. Raises ValueError for those that it waits for."""
    _check_operation(op)
    cops = util.make_list_of_op(cops, allow_graph=False)
    for each in cops:
        if each in op.control_inputs:
            raise ValueError(f"{each.name} is already a control_input of {op.name}")
    op.add_control_inputs(cops)


