"""tf.config: the devices there are, and how operations run on them."""

from tapeflow.config import experimental, optimizer, threading
from tapeflow.core.config import (
    LogicalDevice,
    LogicalDeviceConfiguration,
    PhysicalDevice,
    functions_run_eagerly,
    get_logical_device_configuration,
    get_soft_device_placement,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    run_functions_eagerly,
    set_logical_device_configuration,
    set_soft_device_placement,
    set_visible_devices,
)
from tapeflow.core.config import functions_run_eagerly as experimental_functions_run_eagerly
from tapeflow.core.config import run_functions_eagerly as experimental_run_functions_eagerly

__all__ = [
    "LogicalDevice", "LogicalDeviceConfiguration", "PhysicalDevice", "experimental",
    "experimental_functions_run_eagerly", "experimental_run_functions_eagerly", "functions_run_eagerly",
    "get_logical_device_configuration", "get_soft_device_placement", "get_visible_devices", "list_logical_devices",
    "list_physical_devices", "optimizer", "run_functions_eagerly", "set_logical_device_configuration",
    "set_soft_device_placement", "set_visible_devices", "threading",
]  # fmt: skip
