"""tf.random: random numbers, the same as TensorFlow's for the same seeds."""

from tapeflow.ops.random import (
    categorical,
    gamma,
    normal,
    poisson,
    shuffle,
    truncated_normal,
    uniform,
)
from tapeflow.ops.random_generator import (
    Generator,
    create_rng_state,
    get_global_generator,
    set_global_generator,
)
from tapeflow.ops.random_seed import set_seed
from tapeflow.ops.random_stateless import (
    Algorithm,
    fold_in,
    split,
    stateless_normal,
    stateless_truncated_normal,
    stateless_uniform,
)
from tapeflow.ops.random_stateless_choice import (
    stateless_categorical,
    stateless_gamma,
    stateless_poisson,
)
from tapeflow.random import experimental

__all__ = [
    "Algorithm", "Generator", "categorical", "create_rng_state", "experimental", "fold_in", "gamma",
    "get_global_generator", "normal", "poisson", "set_global_generator", "set_seed", "shuffle", "split",
    "stateless_categorical", "stateless_gamma", "stateless_normal", "stateless_poisson",
    "stateless_truncated_normal", "stateless_uniform", "truncated_normal", "uniform",
]  # fmt: skip
