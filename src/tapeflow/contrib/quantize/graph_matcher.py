"""Patterns of operations: an op's type, and the patterns of its inputs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.annotations import TensorLike

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph
    from tapeflow.graph.operation import Operation


class MatchResult:
    """What patterns stand for in one match: by the pattern itself, or its name."""

    def __init__(self, found: dict[Any, tuple[Any, Any]]):
        self._found = found

    def _pair(self, pattern: Any) -> tuple[Any, Any]:
        if isinstance(pattern, str):
            pattern = next((each for each in self._found if each.name == pattern), None)
        elif not isinstance(pattern, (OpTypePattern, OneofPattern)):
            raise ValueError(f"pattern_or_name has type {type(pattern)}. Expect Pattern or str.")
        return self._found.get(pattern, (None, None))

    def get_op(self, pattern_or_name: OpTypePattern):
        """The operation of a pattern, or None."""
        return self._pair(pattern_or_name)[0]

    def get_tensor(self, pattern_or_name: OpTypePattern):
        """The tensor by which the operation of a pattern is used, or None."""
        return self._pair(pattern_or_name)[1]


class OpTypePattern:
    """An operation of certain types, whose inputs have patterns.

    Args:
      op_type: types with "|" between them; "*" for any.
      name: what finds it in a match.
      inputs: a pattern, or the types, of each input; None for any inputs.
      ordered_inputs: whether inputs come in this order.

    Raises:
      ValueError: for more than 8 inputs.
    """

    def __init__(self, op_type: str, name=None, inputs: Any = None, ordered_inputs: bool = True):
        if inputs is not None and len(inputs) > 8:
            raise ValueError("Only < 8 inputs are allowed when ordered_inputs is False.")
        self.name = name
        self._types = None if op_type == "*" else frozenset(op_type.split("|"))
        self._inputs = [OpTypePattern(each) if isinstance(each, str) else each for each in inputs or ()]
        self._ordered = ordered_inputs

    def match(self, op, tensor):
        """Match an operation, used by a tensor.

        Returns:
          A dict of (operation, tensor) by pattern, or None.
        """
        if self._types is not None and op.type not in self._types:
            return None
        if not self._inputs:
            return {self: (op, tensor)}
        if len(op.inputs) != len(self._inputs):
            return None
        for order in [self._inputs] if self._ordered else itertools.permutations(self._inputs):
            found: dict[Any, Any] | None = {self: (op, tensor)}
            for x, pattern in zip(op.inputs, order, strict=True):
                inner = pattern.match(x.op, x)
                if inner is None:
                    found = None
                    break
                found.update(inner)
            if found is not None:
                return found
        return None


class OneofPattern:
    """The first of several patterns that matches."""

    name = None

    def __init__(self, sub_patterns: Sequence[Any]):
        self._patterns: Sequence[Any] = sub_patterns

    def match(self, op: Operation, tensor: TensorLike | None):
        """Match an operation as `OpTypePattern.match` does."""
        return next((found for each in self._patterns if (found := each.match(op, tensor)) is not None), None)


class GraphMatcher:
    """Finds the operations of a graph that a pattern matches."""

    def __init__(self, pattern):
        self._pattern = pattern

    def match_op(self, op):
        """The match at an operation, or None."""
        found = self._pattern.match(op, None)
        return None if found is None else MatchResult(found)

    def match_ops(self, ops: Sequence[Any]) -> Iterator[MatchResult]:
        """The matches at some operations."""
        for op in ops:
            found = self.match_op(op)
            if found is not None:
                yield found

    def match_graph(self, graph: Graph) -> Iterator[MatchResult]:
        """The matches in a graph."""
        yield from self.match_ops(graph.get_operations())
