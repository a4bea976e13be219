"""tf.random.experimental: names that have not all moved up to tf.random."""

from tapeflow.ops.random.generator import (
    Generator,
    create_rng_state,
    get_global_generator,
    set_global_generator,
)
from tapeflow.ops.random.index_shuffle import index_shuffle
from tapeflow.ops.random.stateless import Algorithm
from tapeflow.ops.random.stateless import fold_in as stateless_fold_in
from tapeflow.ops.random.stateless import split as stateless_split
from tapeflow.ops.random.stateless_choice import stateless_shuffle

__all__ = [
    "Algorithm", "Generator", "create_rng_state", "get_global_generator", "index_shuffle", "set_global_generator",
    "stateless_fold_in", "stateless_shuffle", "stateless_split",
]  # fmt: skip
