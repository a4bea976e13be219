"""One seed for all generators."""

from __future__ import annotations

import random

import numpy as np

from tapeflow.ops.random import set_seed


def set_random_seed(seed):
    """Sets the seeds of Python, NumPy and the random operations. Raises ValueError for what is no integer."""
    if not isinstance(seed, int):
        raise ValueError(f"Expected `seed` argument to be an integer. Received: seed={seed}")
    random.seed(seed)
    np.random.seed(seed)
    set_seed(seed)
