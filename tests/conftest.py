"""What all tests share: one seed for every generator, and the mode that tapeflow is imported in."""

import os
import random

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("quick", max_examples=50, deadline=None, derandomize=True)
settings.register_profile("thorough", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture(autouse=True)
def seeded():
    """Every test starts from the same random state, so that it fails or passes alone as in company."""
    import tapeflow as tf

    random.seed(1)
    np.random.seed(1)
    tf.random.set_seed(1)


@pytest.fixture
def rng():
    """A NumPy generator with a fixed seed."""
    return np.random.default_rng(1)
