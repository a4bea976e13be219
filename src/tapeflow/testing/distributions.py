"""Tests that run for strategies: those that the machine cannot run are skipped."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from tapeflow.distribute.combinations import NamedDistribution
from tapeflow.testing.combinations import (
    EagerGraphCombination,
    OptionalParameter,
    ParameterModifier,
    TestCombination,
    TFVersionCombination,
)
from tapeflow.testing.combinations import generate as _generate


class _Strategies(ParameterModifier):
    """Gives a test the strategies themselves."""

    def modified_arguments(self, kwargs: dict[str, Any], requested_parameters: Sequence[str]) -> dict[str, Any]:
        return {name: value.strategy for name, value in kwargs.items() if isinstance(value, NamedDistribution)}


class DistributionCombination(TestCombination):
    """Arguments that are strategies, and what a test says of the devices that it needs."""

    def should_execute_combination(self, kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        """Whether the machine has what the strategies need."""
        lacks = [v.missing() for v in kwargs.values() if isinstance(v, NamedDistribution)]
        if kwargs.get("required_tpu") or kwargs.get("required_gpus") or kwargs.get("required_physical_gpus"):
            needed = NamedDistribution(
                "", object, kwargs.get("required_gpus"), kwargs.get("required_physical_gpus") or 0,
                bool(kwargs.get("required_tpu")),
            )  # fmt: skip
            lacks.append(needed.missing())
        lack = next(filter(None, lacks), None)
        return lack is None, lack and f"Test requires {lack}, which this machine does not have."

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """The strategies; what is said of devices is for tests that ask."""
        names = ("required_gpus", "required_physical_gpus", "required_tpu", "use_cloud_tpu", "has_chief",
                 "num_workers", "num_ps", "share_gpu", "runner", "no_xla")  # fmt: skip
        return [_Strategies(), *map(OptionalParameter, names)]


def generate(combinations: Any, test_combinations: Sequence[TestCombination] = ()) -> Any:
    """A decorator of a test, or of a class with tests, that runs for each combination.

    Args:
      combinations: dicts of arguments; strategies are `NamedDistribution`s.
      test_combinations: what is asked for each besides.
    """
    known = (EagerGraphCombination(), TFVersionCombination(), DistributionCombination())
    return _generate(combinations, test_combinations=(*known, *test_combinations))


def env() -> Any:
    """What is known of the process that runs a test: it is the only one."""
    return SimpleNamespace(tf_data_service_dispatcher=None)


def in_main_process() -> bool:
    """Whether this is the process that runs the tests: there is one."""
    return True
