# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.core.config import VirtualDeviceConfiguration as VirtualDeviceConfiguration
from tapeflow.core.config import enable_op_determinism as enable_op_determinism
from tapeflow.core.config import enable_tensor_float_32_execution as enable_tensor_float_32_execution
from tapeflow.core.config import get_device_details as get_device_details
from tapeflow.core.config import get_device_policy as get_device_policy
from tapeflow.core.config import get_logical_device_configuration as get_virtual_device_configuration
from tapeflow.core.config import get_memory_growth as get_memory_growth
from tapeflow.core.config import get_memory_info as get_memory_info
from tapeflow.core.config import get_memory_usage as get_memory_usage
from tapeflow.core.config import get_synchronous_execution as get_synchronous_execution
from tapeflow.core.config import get_visible_devices as get_visible_devices
from tapeflow.core.config import list_logical_devices as list_logical_devices
from tapeflow.core.config import list_physical_devices as list_physical_devices
from tapeflow.core.config import reset_memory_stats as reset_memory_stats
from tapeflow.core.config import set_device_policy as set_device_policy
from tapeflow.core.config import set_logical_device_configuration as set_virtual_device_configuration
from tapeflow.core.config import set_memory_growth as set_memory_growth
from tapeflow.core.config import set_synchronous_execution as set_synchronous_execution
from tapeflow.core.config import set_visible_devices as set_visible_devices
from tapeflow.core.config import tensor_float_32_execution_enabled as tensor_float_32_execution_enabled
__all__ = [
    "VirtualDeviceConfiguration",
    "enable_op_determinism",
    "enable_tensor_float_32_execution",
    "get_device_details",
    "get_device_policy",
    "get_memory_growth",
    "get_memory_info",
    "get_memory_usage",
    "get_synchronous_execution",
    "get_virtual_device_configuration",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "reset_memory_stats",
    "set_device_policy",
    "set_memory_growth",
    "set_synchronous_execution",
    "set_virtual_device_configuration",
    "set_visible_devices",
    "tensor_float_32_execution_enabled",
]
