"""`tf.__internal__.ops`: operations that losses and layers need."""

from tapeflow.graph.build.handle_data import get_resource_handle_data
from tapeflow.ops.state.variable import is_resource_variable
from tapeflow.v1.metrics.weighting import broadcast_weights

__all__ = ["broadcast_weights", "get_resource_handle_data", "is_resource_variable"]
