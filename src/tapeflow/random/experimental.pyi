# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.ops.random.generator import Generator as Generator
from tapeflow.ops.random.generator import create_rng_state as create_rng_state
from tapeflow.ops.random.generator import get_global_generator as get_global_generator
from tapeflow.ops.random.generator import set_global_generator as set_global_generator
from tapeflow.ops.random.index_shuffle import index_shuffle as index_shuffle
from tapeflow.ops.random.stateless import Algorithm as Algorithm
from tapeflow.ops.random.stateless_choice import stateless_shuffle as stateless_shuffle
from tapeflow.ops.random.stateless_functions import fold_in as stateless_fold_in
from tapeflow.ops.random.stateless_functions import split as stateless_split
__all__ = [
    "Algorithm",
    "Generator",
    "create_rng_state",
    "get_global_generator",
    "index_shuffle",
    "set_global_generator",
    "stateless_fold_in",
    "stateless_shuffle",
    "stateless_split",
]
