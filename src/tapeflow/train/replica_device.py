"""`tf.train.replica_device_setter`: variables are placed on parameter servers, all else on workers (1.x)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow import protos
from tapeflow.cluster.spec import ClusterSpec
from tapeflow.core.device import DeviceSpec
from tapeflow.core.public import public
from tapeflow.ops.state.resource import VarHandleOp

if TYPE_CHECKING:
    from tapeflow.graph.operation import Operation

# Nodes that hold what servers keep.
_SERVED = (
    "Variable", "VariableV2", "AutoReloadVariable", "MutableHashTable", "MutableHashTableV2",
    "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "MutableDenseHashTable", "MutableDenseHashTableV2",
    VarHandleOp.name, "BoostedTreesEnsembleResourceHandleOp", "BoostedTreesQuantileStreamResourceHandleOp",
    "ResourceConditionalAccumulator", "DecisionTreeResource",
)  # fmt: skip


class _InTurn:
    """Gives each server its turn."""

    def __init__(self, count: int):
        self._count, self._next = count, 0

    def __call__(self, op: Operation):
        task = self._next
        self._next = (task + 1) % self._count
        return task


@public
def replica_device_setter(
    ps_tasks: int = 0, ps_device: str = "/job:ps", worker_device: str = "/job:worker", merge_devices: bool = True,
    cluster: ClusterSpec | None = None, ps_ops=None, ps_strategy: Any = None,
):  # fmt: skip
    """A function for `tf.device` that places variables on servers in turn, and all else on the worker.

    Args:
      ps_tasks: how many servers there are; None is returned for none.
      merge_devices: whether devices of operations are completed, or left as they are.
      cluster: says how many servers there are.
      ps_ops: the types of nodes that go to servers.
      ps_strategy: function of an operation: the number of its server.

    Raises TypeError for a strategy that cannot be called.
    """
    if cluster is not None:
        jobs = ClusterSpec(cluster).as_dict()
        name = DeviceSpec.from_string(ps_device).job
        if not jobs.get(name):
            return None
        ps_tasks = len(jobs[name])
    if ps_tasks == 0:
        return None
    served = _SERVED if ps_ops is None else ps_ops
    strategy = _InTurn(ps_tasks) if ps_strategy is None else ps_strategy
    if not callable(strategy):
        raise TypeError("ps_strategy must be callable")

    def place(op: Operation):
        if not merge_devices and op.device:
            return op.device
        current = DeviceSpec.from_string(op.device or "")
        kind = op.op if isinstance(op, protos.NodeDef) else op.type
        if ps_device and kind in served:
            server = DeviceSpec.from_string(ps_device)
            if server.job and current.job in (None, server.job):
                server = server.replace(task=strategy(op))
            return server.make_merged_spec(current).to_string()
        return DeviceSpec.from_string(worker_device or "").make_merged_spec(current).to_string()

    return place
