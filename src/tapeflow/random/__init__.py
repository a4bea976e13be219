"""tf.random: random numbers, the same as TensorFlow's for the same seeds."""

from tapeflow.ops.nn.candidate_sampling import (
    all_candidate_sampler,
    fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
from tapeflow.ops.random.binomial import stateless_binomial
from tapeflow.ops.random.distributions import (
    categorical,
    gamma,
    normal,
    poisson,
    shuffle,
    truncated_normal,
    uniform,
)
from tapeflow.ops.random.generator import (
    Generator,
    create_rng_state,
    get_global_generator,
    set_global_generator,
)
from tapeflow.ops.random.seed import set_seed
from tapeflow.ops.random.stateless import (
    Algorithm,
    fold_in,
    split,
    stateless_normal,
    stateless_truncated_normal,
    stateless_uniform,
)
from tapeflow.ops.random.stateless_choice import (
    stateless_categorical,
    stateless_gamma,
    stateless_poisson,
)
from tapeflow.ops.random.truncated import stateless_parameterized_truncated_normal
from tapeflow.random import experimental

__all__ = [
    "Algorithm",
    "Generator",
    "all_candidate_sampler",
    "categorical",
    "create_rng_state",
    "experimental",
    "fixed_unigram_candidate_sampler",
    "fold_in",
    "gamma",
    "get_global_generator",
    "learned_unigram_candidate_sampler",
    "log_uniform_candidate_sampler",
    "normal",
    "poisson",
    "set_global_generator",
    "set_seed",
    "shuffle",
    "split",
    "stateless_binomial",
    "stateless_categorical",
    "stateless_gamma",
    "stateless_normal",
    "stateless_parameterized_truncated_normal",
    "stateless_poisson",
    "stateless_truncated_normal",
    "stateless_uniform",
    "truncated_normal",
    "uniform",
    "uniform_candidate_sampler",
]
