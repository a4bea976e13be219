"""`tf.__internal__.test`: tests that run for combinations of arguments."""

from tapeflow.__internal__.test import combinations
from tapeflow.testing.benchmarks import ParameterizedBenchmark

__all__ = ["ParameterizedBenchmark", "combinations"]
