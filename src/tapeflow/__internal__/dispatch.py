"""`tf.__internal__.dispatch`: functions that take the types of programs and libraries."""

from tapeflow.ops.api_dispatch import GlobalOpDispatcher, OpDispatcher, add_dispatch_support

__all__ = ["GlobalOpDispatcher", "OpDispatcher", "add_dispatch_support"]
