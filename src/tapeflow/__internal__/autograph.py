"""`tf.__internal__.autograph`: whether control flow is converted where this is, and functions converted as it says."""

from tapeflow.function.autograph.status import control_status_ctx, tf_convert

__all__ = ["control_status_ctx", "tf_convert"]
