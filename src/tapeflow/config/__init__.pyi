# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.config import experimental as experimental
from tapeflow.config import optimizer as optimizer
from tapeflow.config import threading as threading
from tapeflow.core.config import LogicalDevice as LogicalDevice
from tapeflow.core.config import LogicalDeviceConfiguration as LogicalDeviceConfiguration
from tapeflow.core.config import PhysicalDevice as PhysicalDevice
from tapeflow.core.config import functions_run_eagerly as experimental_functions_run_eagerly
from tapeflow.core.config import functions_run_eagerly as functions_run_eagerly
from tapeflow.core.config import get_logical_device_configuration as get_logical_device_configuration
from tapeflow.core.config import get_soft_device_placement as get_soft_device_placement
from tapeflow.core.config import get_visible_devices as get_visible_devices
from tapeflow.core.config import list_logical_devices as list_logical_devices
from tapeflow.core.config import list_physical_devices as list_physical_devices
from tapeflow.core.config import run_functions_eagerly as experimental_run_functions_eagerly
from tapeflow.core.config import run_functions_eagerly as run_functions_eagerly
from tapeflow.core.config import set_logical_device_configuration as set_logical_device_configuration
from tapeflow.core.config import set_soft_device_placement as set_soft_device_placement
from tapeflow.core.config import set_visible_devices as set_visible_devices
from tapeflow.distribute.remote import experimental_connect_to_cluster as experimental_connect_to_cluster
from tapeflow.distribute.remote import experimental_connect_to_host as experimental_connect_to_host
__all__ = [
    "LogicalDevice",
    "LogicalDeviceConfiguration",
    "PhysicalDevice",
    "experimental",
    "experimental_connect_to_cluster",
    "experimental_connect_to_host",
    "experimental_functions_run_eagerly",
    "experimental_run_functions_eagerly",
    "functions_run_eagerly",
    "get_logical_device_configuration",
    "get_soft_device_placement",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "optimizer",
    "run_functions_eagerly",
    "set_logical_device_configuration",
    "set_soft_device_placement",
    "set_visible_devices",
    "threading",
]
