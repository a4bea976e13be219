"""`FunctionType`: the signature of a trace, with the type of each argument and of the result."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Self

from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.specs.trace_type import of_structure
from tapeflow.core.structures import nest


class Parameter(inspect.Parameter):
    """An argument of a trace. `type_constraint` is its type."""

    def __init__(self, name: str, kind: Any, optional: bool, type_constraint: Any):
        super().__init__(name, kind, annotation=type_constraint)
        self.optional = optional

    @property
    def type_constraint(self) -> Any:
        return self.annotation

    def __repr__(self) -> str:
        return (
            f"Parameter(name={self.name}, kind={self.kind.name}, optional={self.optional!r}, "
            f"type_constraint={self.type_constraint!r})"
        )


class FunctionType(inspect.Signature):
    """Parameters with types, the type of the result, and those of what is captured, by their keys."""

    def __init__(
        self,
        parameters: Sequence[Parameter] | None = None,
        captures: Any = None,
        return_annotation: Any = None,
    ):
        super().__init__(parameters, return_annotation=return_annotation)
        self._captures = captures or OrderedDict()

    @property
    def output(self) -> Any:
        """The type of the result."""
        return self.return_annotation

    @property
    def captures(self) -> Any:
        """The types of what the trace takes from outside of it."""
        return self._captures

    def __repr__(self) -> str:
        lines = ["Input Parameters:"]
        lines += [
            f"  {p.name} ({p.kind.name}): {p.annotation!r}" for p in self.parameters.values()
        ] or ["  None"]
        lines += ["Output Type:", f"  {self.output!r}", "Captures:"]
        lines += [f"  {key}: {value!r}" for key, value in self.captures.items()] or ["  None"]
        return "\n".join(lines)

    def __str__(self) -> str:
        named = [str(p) for p in self.parameters.values()]
        kinds = [p.kind for p in self.parameters.values()]
        if inspect.Parameter.POSITIONAL_ONLY in kinds:
            named.insert(kinds.count(inspect.Parameter.POSITIONAL_ONLY), "/")
        if inspect.Parameter.KEYWORD_ONLY in kinds:
            named.insert(len(named) - kinds.count(inspect.Parameter.KEYWORD_ONLY), "*")
        return f"({', '.join(named)}) -> {self.output!r}"

    @classmethod
    def of_trace(
        cls,
        signature: Any,
        names: Sequence[str],
        outputs: Any,
        captures: Sequence[Any],
        declared: bool,
    ) -> Self:
        """The type of a trace.

        Args:
          signature: (args, kwargs) of specs and Python values.
          names: of the positional parameters.
          outputs: the structure that it returns, with tensors.
          captures: tensors and variables from outside.
          declared: whether an input signature gave the specs, so that their names are shown.
        """
        args, kwargs = signature
        variadic = len(args) > len(names)
        kind = Parameter.POSITIONAL_ONLY if variadic else Parameter.POSITIONAL_OR_KEYWORD
        labels = [*names, *(f"args_{i}" for i in range(len(args) - len(names)))]
        parameters = [
            Parameter(label, kind, False, of_structure(_unnamed(value, declared)))
            for label, value in zip(labels, args, strict=False)
        ]
        parameters += [
            Parameter(key, Parameter.KEYWORD_ONLY, False, of_structure(_unnamed(value, declared)))
            for key, value in kwargs.items()
        ]
        taken = OrderedDict((id(x), TensorSpec(x.shape, x.dtype)) for x in captures)
        return cls(parameters, taken, of_structure(outputs))


def _unnamed(value: Any, declared: bool) -> Any:
    """Specs without the names that arguments lend them."""
    if declared:
        return value
    return nest.map_structure(
        lambda x: TensorSpec(x.shape, x.dtype) if type(x) is TensorSpec else x, value
    )
