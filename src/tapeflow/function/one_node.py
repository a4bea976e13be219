"""Eager calls of ops that only graphs have: a function of one node."""

from __future__ import annotations

import collections
from typing import Any

from tapeflow.function.function import Function
from tapeflow.graph.nodes import raw_nodes

# The functions of the last calls, by their nodes.
_MOST = 256
_functions: collections.OrderedDict[Any, Function] = collections.OrderedDict()


def run(call: raw_nodes.Call) -> Any:
    """What the op returns for eager tensors; None for an op without outputs."""
    key = (call.node.SerializeToString(deterministic=True), *map(id, call.functions.functions))
    function = _functions.get(key)
    if function is None:
        function = Function(_Node(call), call.node.op, autograph=False)
        _functions[key] = function
        if len(_functions) > _MOST:
            _functions.popitem(last=False)
    return function(*call.inputs)


class _Node:
    """The Python function of a node; it keeps the functions that its key names alive."""

    def __init__(self, call: raw_nodes.Call):
        self.node, self.functions = call.node, call.functions
        self.__name__ = call.node.op

    def __call__(self, *inputs: Any) -> Any:
        made = raw_nodes.make(raw_nodes.Call(self.node, list(inputs), self.functions), None)
        return None if hasattr(made, "outputs") else made
