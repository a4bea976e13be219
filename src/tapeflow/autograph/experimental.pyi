# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.function.autograph.convert import do_not_convert as do_not_convert
from tapeflow.function.autograph.options import Feature as Feature
from tapeflow.function.autograph.options import set_loop_options as set_loop_options
__all__ = [
    "Feature",
    "do_not_convert",
    "set_loop_options",
]
