"""`FunctionType`: the signature of a trace, with the type of each argument and of the result."""

from __future__ import annotations

import inspect
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Self

from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.specs.trace_type import of_structure


class DefaultValue:
    """The default of a parameter, kept when the signature was made."""

    def __init__(self, value: Any):
        self.value = value

    def __repr__(self) -> str:
        return "<captured_default_value>"


class Parameter(inspect.Parameter):
    """An argument of a trace. `type_constraint` is its type."""

    def __init__(
        self, name: str, kind: Any, optional: bool, type_constraint: Any, default: Any = inspect.Parameter.empty
    ):
        super().__init__(name, kind, annotation=type_constraint, default=default)
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
        return f"{self.text_of_parameters()} -> {self.output!r}"

    def text_of_parameters(self) -> str:
        """The parameters, in parentheses."""
        named = [str(p) for p in self.parameters.values()]
        kinds = [p.kind for p in self.parameters.values()]
        if inspect.Parameter.POSITIONAL_ONLY in kinds:
            named.insert(kinds.count(inspect.Parameter.POSITIONAL_ONLY), "/")
        if inspect.Parameter.KEYWORD_ONLY in kinds:
            named.insert(len(named) - kinds.count(inspect.Parameter.KEYWORD_ONLY), "*")
        return f"({', '.join(named)})"

    @classmethod
    def of_trace(
        cls,
        signature: Any,
        names: Sequence[str],
        variadic: str | None,
        outputs: Any,
        captures: Sequence[Any],
    ) -> Self:
        """The type of a trace.

        Args:
          signature: (args, kwargs) of specs and Python values.
          names: of the positional parameters.
          variadic: the name of the parameter for any number of arguments; None if there is none.
          outputs: the structure that it returns, with tensors.
          captures: tensors and variables from outside.
        """
        args, kwargs = signature
        positional = Parameter.POSITIONAL_OR_KEYWORD if variadic is None else Parameter.POSITIONAL_ONLY
        parameters = [
            Parameter(label, positional, False, of_structure(value))
            for label, value in zip(labels(names, variadic, len(args)), args, strict=True)
        ]
        parameters += [
            Parameter(sanitized(key), Parameter.KEYWORD_ONLY, False, of_structure(value))
            for key, value in kwargs.items()
        ]
        taken = OrderedDict((id(x), TensorSpec(x.shape, x.dtype)) for x in captures)
        return cls(parameters, taken, of_structure(outputs))

    @classmethod
    def declared(
        cls, signature: inspect.Signature | None, constraints: Sequence[Any]
    ) -> tuple[Self, Mapping[str, Any]]:
        """The type that an input signature declares for a function, and by name what it wants of each argument.

        Args:
          signature: of the Python function; None if Python does not know it.
          constraints: specs, or structures of them, of the first arguments. Those after them keep their defaults.

        Raises:
          TypeError: for an argument without a spec and a default, and for more specs than arguments.
        """
        left = list(constraints)
        if signature is None:
            signature = inspect.Signature([inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)])
        given = list(signature.parameters.values())
        variadic = any(p.kind is p.VAR_POSITIONAL for p in given)
        made: list[Parameter] = []
        wanted: dict[str, Any] = {}

        def add(name: str, kind: Any, default: Any, want: Any) -> None:
            wanted[name] = want
            made.append(Parameter(name, kind, default is not Parameter.empty, of_structure(want), default))

        for p in given:
            kind = p.POSITIONAL_ONLY if variadic and p.kind is p.POSITIONAL_OR_KEYWORD else p.kind
            default = p.empty if p.default is p.empty else DefaultValue(p.default)
            if p.kind is p.VAR_KEYWORD:
                continue
            if p.kind is p.VAR_POSITIONAL:
                for i, want in enumerate(left):
                    add(f"{p.name}_{i}", p.POSITIONAL_ONLY, p.empty, want)
                left = []
            elif p.name == "self":
                made.append(Parameter("self", kind, False, None))
            elif p.kind is p.KEYWORD_ONLY and p.default is p.empty:
                raise TypeError(
                    f"Since input_signature is defined, keyword-only parameter `{p.name}` must have a default value"
                )
            elif left:
                want = left.pop(0)
                # Without its default where arguments follow that have none.
                add(p.name, kind, p.empty if variadic and left else default, want)
            elif p.default is not p.empty:
                add(p.name, kind, default, p.default)
            else:
                raise TypeError(f"input_signature missing type constraint for {p.name}")
        if left:
            raise TypeError(f"input_signature contains {len(left)} extra type constraints.")
        return cls(made), wanted


def sanitized(name: str) -> str:
    """The name of a keyword as that of a parameter, which any string can be a keyword for."""
    swapped = re.sub(r"\W", "_", name)
    return swapped if swapped[:1].isalpha() else f"arg_{swapped}"


def labels(names: Sequence[str], variadic: str | None, count: int) -> list[str]:
    """The names of the first `count` positional arguments."""
    named = list(names[:count])
    return named + [f"{variadic or 'args'}_{i}" for i in range(count - len(named))]
