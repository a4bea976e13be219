"""`tf.__internal__.distribute.interim`: a call that brings replicas together where they need it."""

from tapeflow.distribute.merging import maybe_merge_call

__all__ = ["maybe_merge_call"]
