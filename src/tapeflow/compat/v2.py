"""`tf.compat.v2`: the names of TensorFlow 2.x, which are those of the package itself."""

import sys
from typing import Any

from tapeflow.core.release import COMPILER_VERSION, GIT_VERSION, VERSION

__version__ = VERSION
__git_version__ = GIT_VERSION
__compiler_version__ = COMPILER_VERSION


def __getattr__(name: str) -> Any:
    return getattr(sys.modules["tapeflow"], name)


def __dir__() -> list[str]:
    return dir(sys.modules["tapeflow"])
