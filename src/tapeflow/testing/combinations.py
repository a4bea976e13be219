"""Tests that run for combinations of arguments: `combine` and `times` make them, `generate` runs a test for each."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
from collections import OrderedDict
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from tapeflow.core import context
from tapeflow.graph.graph import Graph
from tapeflow.v1.modes import resource_variables_enabled


class ParameterModifier:
    """Changes the arguments of a test: `DO_NOT_PASS_TO_THE_TEST` in the place of a value leaves one out.

    Args:
      parameter_name: the argument that it is about; None: any.
    """

    DO_NOT_PASS_TO_THE_TEST = object()

    def __init__(self, parameter_name: str | None = None):
        self._parameter_name = parameter_name

    def modified_arguments(self, kwargs: dict[str, Any], requested_parameters: Sequence[str]) -> dict[str, Any]:
        """The arguments to change; none by default."""
        return {}

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self._parameter_name == other._parameter_name

    def __hash__(self) -> int:
        return hash((type(self), self._parameter_name))


class OptionalParameter(ParameterModifier):
    """An argument that a test gets only if it has a parameter of the name."""

    def modified_arguments(self, kwargs: dict[str, Any], requested_parameters: Sequence[str]) -> dict[str, Any]:
        """Leaves the argument out where the test does not ask for it."""
        if self._parameter_name in requested_parameters:
            return {}
        return {self._parameter_name: self.DO_NOT_PASS_TO_THE_TEST}  # type: ignore[dict-item]


class TestCombination:
    """What is asked for each combination: whether it runs, in which blocks, with which arguments."""

    __test__ = False  # no test itself

    def should_execute_combination(self, kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        """Whether a combination runs, and why not."""
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """What changes the arguments."""
        return []

    def context_managers(self, kwargs: dict[str, Any]) -> list[Any]:
        """The blocks that the test runs in."""
        return []


class EagerGraphCombination(TestCombination):
    """The argument `mode`: "eager" or "graph"."""

    def context_managers(self, kwargs: dict[str, Any]) -> list[Any]:
        """Eager execution, or a new graph. Raises ValueError for another mode."""
        mode = kwargs.pop("mode", None)
        if mode is None:
            return []
        if mode == "eager":
            return [context.eager_mode()]
        if mode == "graph":
            return [Graph().as_default()]
        raise ValueError(f"Argument 'mode' must be either 'eager' or 'graph'. Received: {mode}.")

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """Tests may have a parameter `mode`."""
        return [OptionalParameter("mode")]


class TFVersionCombination(TestCombination):
    """The argument `tf_api_version`: 1 or 2."""

    def should_execute_combination(self, kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        """Whether the process behaves as that version."""

        version = kwargs.pop("tf_api_version", None)
        known = 2 if resource_variables_enabled() else 1
        if version in (None, known):
            return True, None
        return False, f"Skipping the test for {version} of the API: the process behaves as {known}."

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """Tests may have a parameter `tf_api_version`."""
        return [OptionalParameter("tf_api_version")]


class NamedObject:
    """A value of an argument with a name for the test.

    Args:
      name: the name.
      obj: the value, whose attributes it has.
    """

    def __init__(self, name: str, obj: Any):
        self._name, self._obj = name, obj

    def __getattr__(self, name: str) -> Any:
        return getattr(self._obj, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._obj(*args, **kwargs)

    def __repr__(self) -> str:
        return self._name


def combine(**kwargs: Any) -> list[OrderedDict[str, Any]]:
    """All combinations of the values of some arguments: each is a list of values, or one value."""
    lists = [
        [(key, value) for value in (values if isinstance(values, (list, tuple)) else [values])]
        for key, values in sorted(kwargs.items())
    ]
    return [OrderedDict(pairs) for pairs in itertools.product(*lists)]


def times(*combined: Any) -> list[OrderedDict[str, Any]]:
    """All combinations of combinations. Raises ValueError for an argument that occurs twice."""
    found = []
    for parts in itertools.product(*combined):
        keys = [key for part in parts for key in part]
        if len(set(keys)) < len(keys):
            raise ValueError(f"Keys need to not overlap: {keys}")
        found.append(OrderedDict(pair for part in parts for pair in part.items()))
    return found


def generate(combinations: Sequence[Any], test_combinations: Sequence[TestCombination] = ()) -> Callable[[Any], Any]:
    """A decorator of a test, or of a class with tests, that runs for each combination; needs absl.

    Args:
      combinations: dicts of arguments.
      test_combinations: what is asked for each.
    """

    def decorate(test: Any) -> Any:
        if isinstance(test, type):
            for name, method in list(vars(test).items()):
                if name.startswith("test") and isinstance(method, FunctionType):
                    delattr(test, name)
                    made = _generated(method, combinations, test_combinations)
                    for each in made.testcases:
                        label = f"{name}{each['testcase_name']}"
                        rest = {k: v for k, v in each.items() if k != "testcase_name"}
                        setattr(test, label, _bound(made._test_method, rest))
            return test
        return _generated(test, combinations, test_combinations)

    return decorate


def _bound(method: Any, arguments: dict[str, Any]) -> Any:
    @functools.wraps(method)
    def run(self: Any) -> Any:
        return method(self, **arguments)

    del run.__wrapped__  # whose arguments are given
    return run


def _generated(method: Any, combinations: Sequence[Any], asked: Sequence[TestCombination]) -> Any:
    from absl.testing import parameterized  # which only tests of libraries need

    named = [
        OrderedDict([*combination.items(), ("testcase_name", f"_test{_label(combination)}")])
        for combination in combinations
    ]
    return parameterized.named_parameters(*named)(_asking(method, asked))


def _label(combination: Any) -> str:
    parts = []
    for place, (key, value) in enumerate(combination.items()):
        own = value._name if isinstance(value, NamedObject) else getattr(value, "__name__", None)
        text = own or getattr(value, "_name", None) or str(value)
        text = "".join(filter(str.isalnum, str(text)))
        parts.append(f"_{''.join(filter(str.isalnum, key))}_{text or place}")
    return "".join(parts)


def _asking(method: Any, asked: Sequence[TestCombination]) -> Any:
    """The test, with its arguments changed and in its blocks."""
    parameters = [name for name in inspect.signature(method).parameters if name != "self"]

    @functools.wraps(method)
    def run(self: Any, **kwargs: Any) -> None:
        for each in asked:
            execute, why = each.should_execute_combination(dict(kwargs))
            if not execute:
                self.skipTest(why)
        given = dict(kwargs)
        for modifier in dict.fromkeys(m for each in asked for m in each.parameter_modifiers()):
            for name, value in modifier.modified_arguments(dict(given), parameters).items():
                if value is ParameterModifier.DO_NOT_PASS_TO_THE_TEST:
                    given.pop(name, None)
                else:
                    given[name] = value
        missing = set(parameters) - set(given)
        if missing:
            raise ValueError(f"The test requires parameters whose arguments were not passed: {sorted(missing)}.")
        unknown = set(given) - set(parameters)
        if unknown:
            raise ValueError(f"The test does not take parameters that were passed: {sorted(unknown)}.")
        with contextlib.ExitStack() as blocks:
            for each in asked:
                for block in each.context_managers(dict(kwargs)):
                    blocks.enter_context(block)
            method(self, **given)

    return run
