"""Whether a tape is recording: `tensorflow.python.eager.record`, `tape` before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow import _native


def could_possibly_record() -> bool:
    """Whether there is a tape that is not paused."""
    return _native.recording_tapes() > 0


def stop_recording() -> Any:
    """A context in which no tape records."""
    return _native.PausedTapes()


def should_record_backprop(tensors: Sequence[Any]) -> bool:
    """Whether a tape records what is computed from any of the tensors.

    Args:
      tensors: tensors and variables.
    """
    return any(_native.is_watched(each) for each in tensors)
