"""`tf.keras.config`: settings of the whole process."""

from tapeflow.core.deserialization import trust_all
from tapeflow.core.tracebacks import (
    disable_traceback_filtering,
    enable_traceback_filtering,
    is_traceback_filtering_enabled,
)
from tapeflow.keras import mixed_precision
from tapeflow.keras.settings import (
    disable_flash_attention,
    enable_flash_attention,
    epsilon,
    floatx,
    image_data_format,
    is_flash_attention_enabled,
    max_epochs,
    max_steps_per_epoch,
    set_epsilon,
    set_floatx,
    set_image_data_format,
    set_max_epochs,
    set_max_steps_per_epoch,
)
from tapeflow.keras.utils.progress import (
    disable_interactive_logging,
    enable_interactive_logging,
    is_interactive_logging_enabled,
)

__all__ = [
    "backend",
    "disable_flash_attention",
    "disable_interactive_logging",
    "disable_traceback_filtering",
    "dtype_policy",
    "enable_flash_attention",
    "enable_interactive_logging",
    "enable_traceback_filtering",
    "enable_unsafe_deserialization",
    "epsilon",
    "floatx",
    "image_data_format",
    "is_flash_attention_enabled",
    "is_interactive_logging_enabled",
    "is_traceback_filtering_enabled",
    "max_epochs",
    "max_steps_per_epoch",
    "set_dtype_policy",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
    "set_max_epochs",
    "set_max_steps_per_epoch",
]


def backend():
    """The name of what computes, "tensorflow"."""
    return "tensorflow"


def dtype_policy():
    """The dtype policy of new layers."""

    return mixed_precision.global_policy()


def set_dtype_policy(policy):
    """Changes the dtype policy of new layers."""

    mixed_precision.set_global_policy(policy)


def enable_unsafe_deserialization():
    """Trust the files and configs of all models that the process loads from now on.

    Their configs may then name other files and functions with effects. Python code in them is still not loaded.
    """
    trust_all()
