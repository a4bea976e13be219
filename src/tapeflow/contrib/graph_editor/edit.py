"""Views cut off from their graph, and connected with each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.compat import v1
from tapeflow.contrib.graph_editor import reroute, select, util
from tapeflow.contrib.graph_editor.subgraph import SubGraphView, make_view


def detach_control_inputs(sgv):
    """Lets the operations of a view wait for none outside."""
    sgv = make_view(sgv)
    inside = set(sgv.ops)
    for op in sgv.ops:
        reroute.remove_control_inputs(op, [x for x in op.control_inputs if x not in inside])


def detach_control_outputs(sgv, control_outputs: Sequence[Any]):
    """Lets none outside wait for the operations of a view. Raises TypeError for other than ControlOutputs."""
    if not isinstance(control_outputs, util.ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(control_outputs)}")
    control_outputs.update()
    sgv = make_view(sgv)
    inside = set(sgv.ops)
    for op in sgv.ops:
        for waiting in control_outputs.get(op):
            if waiting not in inside:
                reroute.remove_control_inputs(waiting, op)


def detach_inputs(sgv: SubGraphView, control_inputs: bool = False):
    """Puts placeholders before a view; returns the view and these."""
    sgv = make_view(sgv)
    with sgv.graph.as_default():
        placeholders = [v1.placeholder(t.dtype, name=util.placeholder_name(t)) for t in sgv.inputs]
    reroute.swap_inputs(sgv, placeholders)
    if control_inputs:
        detach_control_inputs(sgv)
    return sgv, placeholders


def detach_outputs(sgv: SubGraphView, control_outputs: Sequence[Any] | None = None):
    """Puts placeholders after a view; returns the view, with the outputs that are used, and these."""
    sgv = make_view(sgv)
    sgv = sgv.remap_outputs([i for i, tensor in enumerate(sgv.outputs) if tensor.consumers()])
    used = SubGraphView(sgv.consumers())
    known = set(sgv.outputs)
    used = used.remap_inputs([i for i, tensor in enumerate(used.inputs) if tensor in known])
    with sgv.graph.as_default():
        placeholders = [util.make_placeholder_from_tensor(tensor) for tensor in used.inputs]
    reroute.swap_outputs(sgv.remap_outputs(used.inputs), placeholders)
    if control_outputs is not None:
        detach_control_outputs(sgv, control_outputs)
    return sgv, placeholders


def detach(
    sgv: SubGraphView, control_inputs: bool = False, control_outputs: Sequence[Any] | None = None,
    control_ios: Sequence[Any] | None = None,
):
    """Puts placeholders before and after a view; returns (view, those before, those after)."""
    control_inputs, control_outputs = select.check_cios(control_inputs, control_outputs, control_ios)
    _, before = detach_inputs(sgv, control_inputs)
    _, after = detach_outputs(sgv, control_outputs)
    return sgv, before, after


def connect(sgv0: SubGraphView, sgv1: SubGraphView, disconnect_first: bool = False):
    """Lets the outputs of the first view be the inputs of the second; returns both.

    `disconnect_first`: whether the first view's outputs are cut off from others.
    """
    sgv0, sgv1 = make_view(sgv0), make_view(sgv1)
    util.check_graphs(sgv0, sgv1)
    if disconnect_first:
        detach_outputs(sgv0)
    reroute.reroute_inputs(SubGraphView(passthrough_ts=sgv0.outputs), sgv1)
    return sgv0, sgv1


def bypass(sgv: SubGraphView):
    """Lets those who use the outputs of a view use its inputs; returns the view, cut off, and its placeholders."""
    sgv = make_view(sgv)
    inputs = sgv.inputs
    sgv, placeholders = detach_inputs(sgv)
    reroute.reroute_ts(inputs, sgv.outputs)
    return sgv, placeholders
