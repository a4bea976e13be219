"""`tensorflow.python.framework.c_api_util.ApiDefMap`: the ops that there are, by their definitions."""

from __future__ import annotations

from typing import Any

from tapeflow import raw_ops
from tapeflow.graph.op_defs import messages as op_defs


class ApiDefMap:
    """The definitions of the ops.

    Args:
      op_defs_or_list: not used: the ops are those of the package.
    """

    def __init__(self, op_defs_or_list: Any = None):
        self._names = sorted(name for name in dir(raw_ops) if op_defs.known(name))

    def op_names(self) -> list[str]:
        """The names of the ops."""
        return list(self._names)

    def get_op_def(self, op_name: str) -> Any:
        """The definition of an op. Raises ValueError for an op that is not known."""
        if op_name not in self._names:
            raise ValueError(f"Not found: unknown op {op_name!r}")
        return op_defs.op_def(op_name)
