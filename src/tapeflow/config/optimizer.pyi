# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.core.config import get_experimental_options as get_experimental_options
from tapeflow.core.config import get_jit as get_jit
from tapeflow.core.config import set_experimental_options as set_experimental_options
from tapeflow.core.config import set_jit as set_jit
__all__ = [
    "get_experimental_options",
    "get_jit",
    "set_experimental_options",
    "set_jit",
]
