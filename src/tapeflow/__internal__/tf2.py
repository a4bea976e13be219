"""`tf.__internal__.tf2`: whether the process behaves as 2.x."""

from tapeflow.v1.modes import resource_variables_enabled as enabled

__all__ = ["enabled"]
