"""`tf.random` with the names and signatures of 1.x."""

from tapeflow.ops.joining import split
from tapeflow.ops.random import (
    categorical,
    gamma,
    multinomial,
    normal,
    shuffle,
    truncated_normal,
    uniform,
)
from tapeflow.ops.random import poisson_v1 as poisson
from tapeflow.ops.random_seed import get_seed
from tapeflow.ops.random_seed import set_seed as set_random_seed
from tapeflow.ops.random_stateless import (
    fold_in,
    stateless_normal,
    stateless_truncated_normal,
    stateless_uniform,
)
from tapeflow.ops.random_stateless_choice import (
    stateless_categorical,
    stateless_gamma,
    stateless_multinomial,
    stateless_poisson,
)

__all__ = [
    "categorical",
    "fold_in",
    "gamma",
    "get_seed",
    "multinomial",
    "normal",
    "poisson",
    "set_random_seed",
    "shuffle",
    "split",
    "stateless_categorical",
    "stateless_gamma",
    "stateless_multinomial",
    "stateless_normal",
    "stateless_poisson",
    "stateless_truncated_normal",
    "stateless_uniform",
    "truncated_normal",
    "uniform",
]
