"""`tf.summary` of 1.x."""

from typing import Any

from tapeflow.v1 import summary as _summary
from tapeflow.v1.summary import *  # noqa: F403
from tapeflow.v1.summary import __all__


def __getattr__(name: str) -> Any:
    return getattr(_summary, name)
