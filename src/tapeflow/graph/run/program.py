"""`Program`: what a plan is made of: instructions over numbered values, in the order in which they run.

A program is made of a graph (`planning`), changed by passes (`passes/`), and compiled to a native plan. Numbers
stand for values; each is written once.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Value(NamedTuple):
    """What is known of a value."""

    dtype: Any
    shape: tuple[int | None, ...] | None


class Instruction:
    """One step.

    Attributes:
      kind: "op", "if", "case", "while", "call", "python" or "fused".
      payload: as `_native.Plan` takes it, with programs in place of plans.
      inputs, outputs: numbers of values; an output -1 is not wanted.
      label: the operation that it was made of.
      stateful: whether it has effects or results that differ from run to run.
    """

    __slots__ = ("kind", "payload", "inputs", "outputs", "label", "stateful")

    def __init__(
        self,
        kind: str,
        payload: Any,
        inputs: list[int],
        outputs: list[int],
        label: Any,
        stateful: bool,
    ):
        self.kind = kind
        self.payload = payload
        self.inputs = inputs
        self.outputs = outputs
        self.label = label
        self.stateful = stateful

    @property
    def row(self) -> Any:
        """The row of an "op", else None."""
        return self.payload[0] if self.kind == "op" else None

    @property
    def type(self) -> str:
        return self.payload[0].name if self.kind == "op" else self.kind

    def __repr__(self) -> str:
        name = getattr(self.label, "name", "")
        return f"{self.outputs} = {self.type}{self.inputs}  # {name}"


class Program:
    """Instructions, with the numbers of inputs, constants and outputs."""

    def __init__(self, name: str):
        self.name = name
        self.values: list[Value] = []
        self.inputs: list[int] = []
        self.constants: dict[int, Any] = {}
        self.instructions: list[Instruction] = []
        self.outputs: list[int] = []
        # What runs may use: those of the graph (see `trust`); None: anything.
        self.limits: Any = None

    def value(self, dtype: Any, shape: Any) -> int:
        """The number of a new value."""
        self.values.append(Value(dtype, shape))
        return len(self.values) - 1

    def constant(self, tensor: Any) -> int:
        number = self.value(tensor.dtype, tuple(tensor.shape.as_list()))
        self.constants[number] = tensor
        return number

    def replace(self, numbers: dict[int, int]) -> None:
        """Let each use of a value be one of another. Chains are followed."""
        if not numbers:
            return

        def final(v: int) -> int:
            while v in numbers:
                v = numbers[v]
            return v

        for instruction in self.instructions:
            instruction.inputs = [final(v) for v in instruction.inputs]
        self.outputs = [final(v) for v in self.outputs]

    def producers(self) -> dict[int, Instruction]:
        return {v: each for each in self.instructions for v in each.outputs if v >= 0}

    def uses(self) -> dict[int, int]:
        """How often each value is used; being an output counts as well."""
        counts: dict[int, int] = {}
        for each in self.instructions:
            for v in each.inputs:
                counts[v] = counts.get(v, 0) + 1
        for v in self.outputs:
            counts[v] = counts.get(v, 0) + 1
        return counts

    def __str__(self) -> str:
        lines = [f"program {self.name}({', '.join(f'%{v}' for v in self.inputs)})"]
        for each in self.instructions:
            left = ", ".join(f"%{v}" for v in each.outputs)
            right = ", ".join(f"%{v}" for v in each.inputs)
            lines.append(f"  {left} = {each.type}({right})  # {getattr(each.label, 'name', '')}")
        lines.append(f"  return {', '.join(f'%{v}' for v in self.outputs)}")
        return "\n".join(lines)
