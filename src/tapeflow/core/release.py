"""Of which TensorFlow this has the names and behaviour."""

import os

from tapeflow.api import api_value

VERSION = "2.21.0"
api_value("VERSION", "version.VERSION", "__version__", v1=("VERSION", "__version__"))
GIT_VERSION = "tapeflow-0.1.0"
api_value("GIT_VERSION", "version.GIT_VERSION", "__git_version__", v1="GIT_VERSION")
COMPILER_VERSION = ""
api_value("COMPILER_VERSION", "version.COMPILER_VERSION", "__compiler_version__", v1="COMPILER_VERSION")
GRAPH_DEF_VERSION = 2474
api_value("GRAPH_DEF_VERSION", "version.GRAPH_DEF_VERSION", v1="GRAPH_DEF_VERSION")
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
api_value(
   "GRAPH_DEF_VERSION_MIN_CONSUMER", "version.GRAPH_DEF_VERSION_MIN_CONSUMER", v1="GRAPH_DEF_VERSION_MIN_CONSUMER",
)  # fmt: skip
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
api_value(
   "GRAPH_DEF_VERSION_MIN_PRODUCER", "version.GRAPH_DEF_VERSION_MIN_PRODUCER", v1="GRAPH_DEF_VERSION_MIN_PRODUCER",
)  # fmt: skip

_KERAS_2_WANTED = os.environ.get("TF_USE_LEGACY_KERAS", "").lower() in ("1", "true")
_keras_2 = _KERAS_2_WANTED


def keras_2() -> bool:
    """Return whether `tf.keras` behaves as Keras 2 where it differs from Keras 3.

    It does under `TF_USE_LEGACY_KERAS=1`, as TensorFlow 2.16 and later have it, and with the behavior of 1.x.
    """
    return _keras_2


def keras_version() -> str:
    """Return the version of Keras that files say they are of."""
    return "2.21.0" if _keras_2 else "3.15.1"


def use_keras_2(legacy: bool) -> None:
    """Choose between Keras 2 and the Keras that the environment asks for."""
    global _keras_2
    _keras_2 = legacy or _KERAS_2_WANTED
