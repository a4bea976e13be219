"""`tf.autograph`: conversion of Python's control flow to the graph's."""

from tapeflow.autograph import experimental
from tapeflow.function.autograph.convert import to_code, to_graph
from tapeflow.function.autograph.verbosity import set_verbosity, trace

__all__ = ["experimental", "set_verbosity", "to_code", "to_graph", "trace"]
