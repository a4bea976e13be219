"""`tf.__internal__.eager_context`: where operations run."""

from tapeflow.core.config import set_soft_device_placement
from tapeflow.core.context import device_name as get_device_name
from tapeflow.core.context import eager_mode
from tapeflow.core.eager_context import get_config, get_executor

__all__ = ["eager_mode", "get_config", "get_device_name", "get_executor", "set_soft_device_placement"]
