"""What operations of a session stand for outside of its graph, and the plans that are made with it."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Sequence
from typing import Any

from tapeflow import _native
from tapeflow.core import context, device_calls
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.tensor_shape import as_shape
from tapeflow.core.threads.waiting import Cancellation
from tapeflow.core.variables import declare
from tapeflow.graph.build import streams
from tapeflow.graph.nodes import resource_nodes
from tapeflow.graph.operation import Operation
from tapeflow.graph.run import clusters, order, placement, planning, timeline
from tapeflow.graph.run.clustering import clustering
from tapeflow.graph.run.device_attributes import DeviceAttributes, attributes
from tapeflow.graph.run.program import Instruction
from tapeflow.graph.run.shared import Shared
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.state.resource import VarHandleOp
from tapeflow.ops.state.resource_op import row_of
from tapeflow.ops.state.variable import Variable


class Resolver:
    """Makes plans whose operations find variables and other resources by their names.

    Args:
      shared: holds the resources.
      config: a ConfigProto, or None.
      cancellation: ends waits of runs; None: what holds for the thread that runs does.
    """

    def __init__(self, shared: Shared, config: Any = None, cancellation: Cancellation | None = None):
        self.shared = shared
        self._soft = config is not None and config.allow_soft_placement
        self._logs = config is not None and config.log_device_placement
        self._jit_level = 0 if config is None else config.graph_options.optimizer_options.global_jit_level
        # The streams of random ops start when it does.
        self._streams: streams.Numbers = weakref.WeakKeyDictionary()
        self._cancellation = cancellation

    def plan(
        self, graph: Any, tensors: Sequence[SymbolicTensor], targets: Sequence[Operation],
        feeds: Sequence[SymbolicTensor],
    ) -> Any:  # fmt: skip
        """The native plan that computes `tensors` and runs `targets`, given values of `feeds`."""
        return self.plan_of(graph, order.needed(graph, tensors, targets, feeds), tensors, feeds)

    def execute(self, plan: Any, values: Sequence[Any], options: Any, metadata: Any, timeout: int) -> Sequence[Any]:
        """The results of a plan.

        Args:
          values: eager tensors, of what is fed.
          options: a RunOptions, or None.
          metadata: a RunMetadata that is filled where `options` ask for it, or None.
          timeout: milliseconds that the run may take; 0: any time.
        """
        left = _native.set_deadline(timeout) if timeout > 0 else None
        try:
            with context.eager_mode(), context.pause_recording():
                if options is not None and metadata is not None and getattr(options, "trace_level", False):
                    results, events = plan.timeline(*values)
                    timeline.fill(metadata.step_stats, events)
                    return results
                return plan(*values)
        finally:
            if left is not None:
                _native.set_deadline(left)

    def devices(self) -> list[DeviceAttributes]:
        """Descriptions of the devices that operations can run on."""
        return attributes()

    def close(self) -> None:
        """Let go of what it alone holds."""
        self.shared = Shared()

    def plan_of(
        self, graph: Any, ops: Sequence[Operation], tensors: Sequence[SymbolicTensor], feeds: Sequence[SymbolicTensor],
        ordered: bool = False,
    ) -> Any:  # fmt: skip
        """The native plan that runs operations.

        Args:
          ordered: whether they keep their order, which else changes for what XLA compiles.
        """
        emitter = planning.Emitter("session", self.resolve)
        emitter.program.limits = graph.limits
        emitter.streams = self._streams
        for x in feeds:
            emitter.input(x)
        given = {id(x) for x in feeds}
        emitter.wanted = planning.taken(ops, tensors)
        ops = [op for op in ops if not (op.outputs and all(id(y) in given for y in op.outputs))]
        indices = placement.device_indices(ops, self._soft)
        if self._logs:
            placement.log(ops, indices, sys.stderr.write)
        if indices:
            for part in placement.parts(ops, tensors, given, indices):
                self._emit(graph, emitter, part, given)
        elif ordered:
            for op in ops:
                emitter.emit_around(op, given)
        else:
            clusters.emit(emitter, ops, tensors, given, clustering(self._jit_level))
        emitter.program.outputs = [emitter.number(x) for x in tensors]
        return planning.compile_program(emitter.program)

    def _emit(self, graph: Any, emitter: planning.Emitter, part: placement.Part, given: set[int]) -> None:
        """The instructions of an operation of the host, or the one of a program of an accelerator."""
        if not part.index:
            emitter.emit_around(part.operations[0], given)
            return
        assert device_calls.part_driver is not None  # else all are on the host
        run = device_calls.part_driver(
            part, lambda op: streams.attrs_of(op, self._streams), lambda: self._host_plan(graph, part, given)
        )
        inputs = [emitter.number(x) for x in part.inputs]
        outputs = [emitter.output(y) for y in part.outputs]
        stateful = any(op.stateful for op in part.operations)
        emitter.program.instructions.append(
            Instruction("python", run, inputs, outputs, part.operations[-1], stateful)
        )

    def _host_plan(self, graph: Any, part: placement.Part, given: set[int]) -> Any:
        emitter = planning.Emitter(part.name, self.resolve)
        emitter.program.limits = graph.limits
        emitter.streams = self._streams
        for x in part.inputs:
            emitter.input(x)
        for op in part.operations:
            emitter.emit_around(op, given)
        emitter.program.outputs = [emitter.number(y) for y in part.outputs]
        return planning.compile_program(emitter.program)

    def resolve(self, op: Operation) -> Any:
        """The eager tensor of a node that stands for a resource; None for any other node."""
        if op.type == VarHandleOp.name:
            return self._variable(op).handle
        shared = self.shared
        if row_of(op.type) is not None:
            with shared.lock:
                return resource_nodes.found(op, shared.resources)
        make = op.attrs.get("resource")
        if make is None:
            return None
        with shared.lock:
            key = resource_nodes.key_of(op)
            if key not in shared.resources:
                shared.resources[key] = make()
            return shared.resources[key]

    def _variable(self, op: Operation) -> Any:
        key = resource_nodes.key_of(op)
        shared = self.shared
        with shared.lock:
            found = shared.variables.get(key)
            if found is None:
                found = Variable.__new__(Variable)
                declare(found, op.attrs["dtype"], True, as_shape(op.attrs["shape"]))
                found.name = f"{key[1]}:0"
                shared.variables[key] = found
            elif op.outputs[0].of_reference:
                _check_shape(op, found)
            return found


def _check_shape(op: Operation, variable: Any) -> None:
    """Raises InvalidArgumentError for a reference variable that another graph made with another shape."""
    known, wanted = variable.shape, as_shape(op.attrs["shape"])
    if not known.is_compatible_with(wanted):
        raise InvalidArgumentError(
            None, op, f"Assign requires shapes of both tensors to match. lhs shape= {known} rhs shape= {wanted}"
        )
