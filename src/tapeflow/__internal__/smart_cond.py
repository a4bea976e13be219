"""`tf.__internal__.smart_cond`: a condition that may be known already."""

from tapeflow.ops.control.smart_cond import smart_cond

__all__ = ["smart_cond"]
