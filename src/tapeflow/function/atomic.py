"""`AtomicFunction`: a trace as it is called with everything it takes, captures and all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.structures import nest

if TYPE_CHECKING:
    from tapeflow.function.concrete import ConcreteFunction


class AtomicFunction:
    """What a `ConcreteFunction` runs."""

    def __init__(self, concrete: ConcreteFunction):
        self._concrete = concrete

    @property
    def name(self) -> bytes:
        return self._concrete.name

    @property
    def function_type(self) -> Any:
        return self._concrete.function_type

    @property
    def definition(self) -> Any:
        """The function as a FunctionDef message."""
        return self._concrete.function_def

    cached_definition = definition

    @property
    def graph(self) -> Any:
        return self._concrete.graph

    def call_flat(self, *args: Any) -> list[Any]:
        """The flat results for flat tensors."""
        return [
            x
            for x in nest.flatten(self._concrete.call_flat(args), expand_composites=True)
            if x is not None
        ]

    def call_preflattened(self, args: Sequence[Any]) -> Any:
        """The structured result for flat tensors."""
        return self._concrete.call_flat(args)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The structured result for arguments as the function takes them."""
        return self._concrete(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<AtomicFunction> {self._concrete.graph_name}{self.function_type}"
