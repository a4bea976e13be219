"""`tf.compat.v2`: the names of TensorFlow 2.x, which are those of the package itself."""

from typing import Any

from tapeflow.api import providers


def __getattr__(name: str) -> Any:
    if name == "enable_v2_behavior":  # the one name of 1.x that programs call through 2.x's module
        from tapeflow.compat.v1 import enable_v2_behavior

        return enable_v2_behavior
    return getattr(providers.load("names"), name)


def __dir__() -> list[str]:
    return [*dir(providers.load("names")), "enable_v2_behavior"]
