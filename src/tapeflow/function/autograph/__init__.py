"""AutoGraph: Python's control flow on tensors becomes control flow of the graph.

`tf_convert` rewrites a function (`source`, `jumps`, `activity`, `transform`, `convert`) so that `if`, `while`, `for`
and the like call `operators`, which run Python's own for Python values and build the graph's for tensors of a graph.
Everything here is loaded when the first function is converted.
"""

from tapeflow.function.autograph.convert import do_not_convert, tf_convert, to_code, to_graph
from tapeflow.function.autograph.errors import AutoGraphError, ConversionError

__all__ = [
    "AutoGraphError",
    "ConversionError",
    "do_not_convert",
    "tf_convert",
    "to_code",
    "to_graph",
]
