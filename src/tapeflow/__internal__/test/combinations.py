"""`tf.__internal__.test.combinations`: combinations of arguments, and tests that run for each."""

import functools

from tapeflow.testing.combinations import (
    EagerGraphCombination,
    NamedObject,
    OptionalParameter,
    ParameterModifier,
    TestCombination,
    TFVersionCombination,
    combine,
    times,
)
from tapeflow.testing.combinations import generate as _generate

generate = functools.partial(_generate, test_combinations=(EagerGraphCombination(), TFVersionCombination()))

__all__ = [
    "NamedObject", "OptionalParameter", "ParameterModifier", "TestCombination", "combine", "generate", "times",
]  # fmt: skip
