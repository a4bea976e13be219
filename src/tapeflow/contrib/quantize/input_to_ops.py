"""`InputToOps`: the operations of a graph by what they take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tapeflow.contrib.quantize import common

if TYPE_CHECKING:
    from tapeflow.graph.operation import Operation


class InputToOps:
    """The operations of a graph, but for those of gradients and summaries, by the tensors that are their inputs.

    Args:
      graph: a graph; what is added to it later is not known here.
    """

    def __init__(self, graph):
        self.mapping = {}
        for op in graph.get_operations():
            if not op.name.startswith(common.SKIPPED):
                for tensor in op.inputs:
                    self.mapping.setdefault(tensor, set()).add(op)

    def ConsumerOperations(self, producer_op: Operation):
        """The operations that use outputs of an operation.

        Args:
          producer_op: an operation.

        Returns:
          A set of operations.
        """
        return set().union(*(self.mapping.get(tensor, ()) for tensor in producer_op.outputs))
