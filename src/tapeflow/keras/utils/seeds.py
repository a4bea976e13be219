"""One seed for all generators."""

from __future__ import annotations

import random

import numpy as np

from tapeflow.keras.random import reset_global_seed_generator
from tapeflow.ops.random.seed import set_seed


def set_random_seed(seed: int):
    """Set the seeds of Python, NumPy, the random operations and `keras.random`.

    Raises ValueError unless `seed` is an int.
    """
    if not isinstance(seed, int):
        raise ValueError(f"Expected `seed` argument to be an integer. Received: seed={seed}")
    reset_global_seed_generator()
    random.seed(seed)
    np.random.seed(seed)
    set_seed(seed)
