"""The nodes by which the parts of a graph give each other tensors: `_Send` and `_Recv`."""

from __future__ import annotations

from typing import Any

from tapeflow.cluster import rendezvous
from tapeflow.core.errors import InternalError
from tapeflow.ops.signature import dtype, integer, string
from tapeflow.ops.state.resource_op import resource_op

SEND = "_Send"
RECEIVE = "_Recv"

_ATTRS: dict[str, Any] = {
    "tensor_name": string, "send_device": string, "send_device_incarnation": integer, "recv_device": string,
    "client_terminated": False,
}  # fmt: skip


def key_of(attrs: Any) -> rendezvous.Key:
    """The key of a node, by its attrs as Python values."""
    return rendezvous.Key(
        attrs["send_device"], attrs["send_device_incarnation"] & (1 << 64) - 1, attrs["recv_device"],
        attrs["tensor_name"],
    )  # fmt: skip


def _run() -> Any:
    run = rendezvous.current()
    if run is None:
        raise InternalError(None, None, "There is no step: parts of graphs are run by workers alone.")
    return run


@resource_op(SEND, "tensor: T ->", {"T": dtype, **_ATTRS})
def Send(tensor: Any, T: Any, client_terminated: bool, **attrs: Any):
    """Gives a tensor to another part of the graph."""
    _run().send(str(key_of(attrs)), tensor)


@resource_op(RECEIVE, "-> tensor: tensor_type", {"tensor_type": dtype, **_ATTRS}, lambda attrs, inputs: [None])
def Receive(tensor_type: Any, client_terminated: bool, **attrs: Any):
    """The tensor that another part of the graph gives."""
    return _run().receive(key_of(attrs))
