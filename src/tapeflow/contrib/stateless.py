"""`tf.contrib.stateless`: random numbers that depend on nothing but their seed."""

from tapeflow.ops.random.stateless_choice import stateless_multinomial
from tapeflow.ops.random.stateless_functions import stateless_normal as stateless_random_normal
from tapeflow.ops.random.stateless_functions import stateless_truncated_normal
from tapeflow.ops.random.stateless_functions import stateless_uniform as stateless_random_uniform

__all__ = [
    "stateless_multinomial", "stateless_random_normal", "stateless_random_uniform",
    "stateless_truncated_normal",
]  # fmt: skip
