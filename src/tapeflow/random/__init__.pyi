# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.ops.nn.candidate_functions import all_candidate_sampler as all_candidate_sampler
from tapeflow.ops.nn.candidate_functions import fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler
from tapeflow.ops.nn.candidate_functions import learned_unigram_candidate_sampler as learned_unigram_candidate_sampler
from tapeflow.ops.nn.candidate_functions import log_uniform_candidate_sampler as log_uniform_candidate_sampler
from tapeflow.ops.nn.candidate_functions import uniform_candidate_sampler as uniform_candidate_sampler
from tapeflow.ops.random.binomial import stateless_binomial as stateless_binomial
from tapeflow.ops.random.functions import categorical as categorical
from tapeflow.ops.random.functions import gamma as gamma
from tapeflow.ops.random.functions import normal as normal
from tapeflow.ops.random.functions import poisson as poisson
from tapeflow.ops.random.functions import shuffle as shuffle
from tapeflow.ops.random.functions import truncated_normal as truncated_normal
from tapeflow.ops.random.functions import uniform as uniform
from tapeflow.ops.random.generator import Generator as Generator
from tapeflow.ops.random.generator import create_rng_state as create_rng_state
from tapeflow.ops.random.generator import get_global_generator as get_global_generator
from tapeflow.ops.random.generator import set_global_generator as set_global_generator
from tapeflow.ops.random.seed import set_seed as set_seed
from tapeflow.ops.random.stateless import Algorithm as Algorithm
from tapeflow.ops.random.stateless_choice import stateless_categorical as stateless_categorical
from tapeflow.ops.random.stateless_choice import stateless_gamma as stateless_gamma
from tapeflow.ops.random.stateless_choice import stateless_poisson as stateless_poisson
from tapeflow.ops.random.stateless_functions import fold_in as fold_in
from tapeflow.ops.random.stateless_functions import split as split
from tapeflow.ops.random.stateless_functions import stateless_normal as stateless_normal
from tapeflow.ops.random.stateless_functions import stateless_truncated_normal as stateless_truncated_normal
from tapeflow.ops.random.stateless_functions import stateless_uniform as stateless_uniform
from tapeflow.ops.random.truncated import stateless_parameterized_truncated_normal as stateless_parameterized_truncated_normal
from tapeflow.random import experimental as experimental
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
