"""Gradients of the nodes of TensorArrays behind handles: what reads an array writes to the array of its gradients."""

from __future__ import annotations

from typing import Any

from tapeflow.graph.build.gradients import gradient_of
from tapeflow.graph.operation import Operation
from tapeflow.ops.state.resource_op import row_of

_SOURCE = "gradients"


def _call(name: str, *inputs: Any, **attrs: Any) -> Any:
    row = row_of(name)
    assert row is not None, name
    return row(*inputs, **attrs)


def _array(op: Operation, flow: Any) -> Any:
    """(handle, flow) of the array of the gradients."""
    return _call("TensorArrayGradV3", op.inputs[0], flow, source=_SOURCE)


@gradient_of("TensorArrayReadV3")
def _of_read(op: Operation, dy: Any) -> list[Any]:
    handle, flow = _array(op, op.inputs[2])
    return [None, None, _call("TensorArrayWriteV3", handle, op.inputs[1], dy, flow)]


@gradient_of("TensorArrayWriteV3")
def _of_write(op: Operation, dflow: Any) -> list[Any]:
    handle, flow = _array(op, dflow)
    return [None, None, _call("TensorArrayReadV3", handle, op.inputs[1], flow, dtype=op.inputs[2].dtype), dflow]


@gradient_of("TensorArrayGatherV3")
def _of_gather(op: Operation, dy: Any) -> list[Any]:
    handle, flow = _array(op, op.inputs[2])
    return [None, None, _call("TensorArrayScatterV3", handle, op.inputs[1], dy, flow)]


@gradient_of("TensorArrayScatterV3")
def _of_scatter(op: Operation, dflow: Any) -> list[Any]:
    handle, flow = _array(op, dflow)
    return [None, None, _call("TensorArrayGatherV3", handle, op.inputs[1], flow, dtype=op.inputs[2].dtype), dflow]


@gradient_of("TensorArrayConcatV3")
def _of_concat(op: Operation, dy: Any, dlengths: Any) -> list[Any]:
    handle, flow = _array(op, op.inputs[1])
    return [None, _call("TensorArraySplitV3", handle, dy, op.outputs[1], flow)]


@gradient_of("TensorArraySplitV3")
def _of_split(op: Operation, dflow: Any) -> list[Any]:
    handle, flow = _array(op, dflow)
    return [None, _call("TensorArrayConcatV3", handle, flow, dtype=op.inputs[1].dtype)[0], None, dflow]
