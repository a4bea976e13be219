"""Where the operations of a session run: on the host, or in programs of an accelerator.

An operation runs where its device says, else with the variable that it takes, else with its first input that is on an
accelerator. What cannot be compiled runs on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tapeflow.core import device, device_calls, dtypes
from tapeflow.core.device import DeviceSpec
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.state.resource import VarHandleOp

_BODIES = ("If", "Case", "While", "PartitionedCall")


def bodies_of(op: Operation) -> list[Any]:
    """The bodies of a node: branches, those of a loop, or the function that it calls."""
    if op.type == "While":
        return [op.attrs["cond"], op.attrs["body"]]
    return list(op.attrs["branches"]) if op.type in _BODIES else []


class Part:
    """Operations that one program of an accelerator runs.

    Attributes:
      index: the index of the device; 0: the host, and there is one operation.
      operations: in the order in which they run, constants that they take included.
      inputs: the tensors that others make; given by calls.
      outputs: the tensors that others take.
    """

    def __init__(self, index: int, operations: list[Operation]):
        self.index, self.operations = index, operations
        self.name = operations[0].name
        self.inputs: list[SymbolicTensor] = []
        self.outputs: list[SymbolicTensor] = []

    def connect(self, taken: set[int], given: set[int]) -> None:
        """Find inputs and outputs: `taken` has the ids of what is used elsewhere, `given` of what is fed."""
        made = {id(y) for op in self.operations for y in op.outputs} - given
        inputs = {id(x): x for op in self.operations for x in op.inputs if id(x) not in made}
        self.inputs = list(inputs.values())
        self.outputs = [y for op in self.operations for y in op.outputs if id(y) in taken and id(y) in made]


def device_indices(ops: Sequence[Operation], soft: bool) -> dict[Operation, int]:
    """The index of the device of each operation that is on an accelerator.

    Raises InvalidArgumentError for a device that there is not, unless the placement is soft.
    """
    named = {name: _index(name, ops, soft) for name in {op.device for op in ops} if name}
    if device_calls.part_driver is None or not any(named.values()):
        return {}
    found: dict[Operation, int] = {}
    for op in ops:
        index = _wanted(op, named, found)
        if index and (op.type == VarHandleOp.name or _compiles(op)):
            found[op] = index
    return found


def _wanted(op: Operation, named: dict[str, int], found: dict[Operation, int]) -> int:
    held = [x.op for x in op.inputs if x.op.type == VarHandleOp.name]
    if held:
        return found.get(held[0], 0)
    if op.device:
        return named[op.device]
    return next((found[x.op] for x in op.inputs if x.op in found), 0)


def _index(name: str, ops: Sequence[Operation], soft: bool) -> int:
    spec = DeviceSpec.from_string(name)
    if spec.job not in (None, "localhost") or spec.device_type is None:
        return 0
    wanted = spec.device_index or 0
    for each in device.devices(spec.device_type):
        if each.ordinal == wanted:
            return each.index
    if soft or spec.device_type == "CPU":
        return 0
    op = next(op for op in ops if op.device == name)
    known = ", ".join(each.name for each in device.devices())
    raise InvalidArgumentError(
        None, op,
        f"Cannot assign a device for operation {op.name}: {{{{node {op.name}}}}} was explicitly assigned to {name} but "
        f"available devices are [ {known} ]. Make sure the device specification refers to a valid device.",
    )  # fmt: skip


def _compiles(op: Operation) -> bool:
    """Whether an operation may be part of a program of an accelerator."""
    if op.row is None:
        known = op.type in _BODIES or op.forwards
    else:
        known = not op.row.not_compiled and not op.row.checks
    return known and all(_is_held(x) for x in (*op.inputs, *op.outputs))


def _is_held(x: SymbolicTensor) -> bool:
    if x.dtype == dtypes.resource:
        return x.op.type == VarHandleOp.name
    return x.dtype not in (dtypes.string, dtypes.variant) and not x.dtype.is_quantized


def parts(
    ops: Sequence[Operation], fetched: Iterable[SymbolicTensor], given: set[int], indices: dict[Operation, int]
) -> list[Part]:
    """The operations as parts, each after those that it depends on; each operation of the host is one of its own.

    Args:
      ops: in an order in which they can run.
      fetched: the tensors whose values are wanted.
      given: the ids of the tensors that are fed.
      indices: what `device_indices` returned.
    """
    done: list[Part] = []
    waiting: list[Operation] = []  # the next program of an accelerator

    def flush() -> None:
        if waiting:
            done.append(Part(indices[waiting[0]], _with_constants(waiting, given)))
            waiting.clear()

    for op in ops:
        index = 0 if op.type == VarHandleOp.name else indices.get(op, 0)
        if waiting and (_depends(op, waiting) if not index else index != indices[waiting[0]]):
            flush()
        if index:
            waiting.append(op)
        else:
            done.append(Part(0, [op]))
    flush()
    results = {id(x) for x in fetched}
    for part in done:
        if part.index:
            inside = set(part.operations)
            others = {id(x) for each in done if each is not part for op in each.operations for x in op.inputs
                      if op not in inside}  # fmt: skip
            part.connect(results | others, given)
    return done


def _with_constants(ops: list[Operation], given: set[int]) -> list[Operation]:
    """The operations after the constants that they take: what is known when a program is compiled."""
    found = {x.op: None for op in ops for x in op.inputs if x.op.type == "Const" and id(x) not in given}
    return [*found, *[op for op in ops if op not in found]]


def _depends(op: Operation, others: list[Operation]) -> bool:
    """Whether an operation has to run after one of others: it takes what they make, or the same variable."""
    before = set(others)
    if any(x.op in before for x in op.inputs) or any(c in before for c in op.control_inputs):
        return True
    held = {id(x) for x in op.inputs if x.dtype == dtypes.resource}
    return bool(held) and any(id(x) in held for other in others for x in other.inputs)


def log(ops: Iterable[Operation], indices: dict[Operation, int], write: Callable[[str], Any]) -> None:
    """Write a line for each operation: its name, its type and the device that it runs on."""
    for op in ops:
        write(f"{op.name}: ({op.type}): {device.name_of(indices.get(op, 0))}\n")
