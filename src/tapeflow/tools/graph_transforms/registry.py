"""The transforms by name, how a call of one is written, and its parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tapeflow.core.errors import InvalidArgumentError
from tapeflow.graph.interchange.graph_util import node_name

TRANSFORMS: dict[str, Callable[[Any, Call], Any]] = {}
_NAME = re.compile(r"\w+")
_SPACE = re.compile(r"\s*")
_VALUE = re.compile(r'"((?:[^"\\]|\\.)*)"|([\w./-]+)')


def invalid(text: str) -> InvalidArgumentError:
    """An error of a transform's parameters, or of a graph that it cannot work on."""
    return InvalidArgumentError(None, None, text)


class Call(NamedTuple):
    """One call of a transform: the inputs and outputs of the graph, and the parameters by name, each a list."""

    name: str
    inputs: list[str]
    outputs: list[str]
    parameters: dict[str, list[str]]

    @property
    def ends(self) -> set[str]:
        """The nodes of the graph's inputs and outputs, which keep their names."""
        return {node_name(name) for name in (*self.inputs, *self.outputs)}

    def without_parameters(self) -> Call:
        return self._replace(parameters={})

    def text(self, name: str, default: str = "") -> str:
        """The one value of a parameter, or its default."""
        values = self.parameters.get(name, [default])
        if len(values) != 1:
            raise invalid(f"Expected a single '{name}' parameter, but found {len(values)} occurrences")
        return values[0]

    def only(self, *names: str) -> list[str]:
        """The values of parameters that must be given once each."""
        for name in names:
            if len(self.parameters.get(name, ())) != 1:
                listed = " and one ".join(f"'{each}'" for each in names)
                raise invalid(f"{self.name} expects exactly one {listed} argument")
        return [self.parameters[name][0] for name in names]

    def whole(self, name: str, default: int) -> int:
        """An integer."""
        return self._number(name, default, int, "number")

    def number(self, name: str, default: float) -> float:
        """A float."""
        return self._number(name, default, float, "float number")

    def _number(self, name: str, default: Any, kind: Any, what: str) -> Any:
        text = self.text(name, str(default))
        try:
            return kind(text)
        except ValueError:
            raise invalid(f"Couldn't interpret the {name} argument as a {what}:{text}") from None

    def flag(self, name: str, default: bool) -> bool:
        """A bool."""
        text = self.text(name, str(default)).lower()
        if text not in ("true", "false", "1", "0"):
            raise invalid(
                f"Couldn't interpret the {name} argument as a boolean:{text} (expected true, false, 0 or 1)"
            )
        return text in ("true", "1")


def transform(function: Callable[[Any, Call], Any]) -> Callable[[Any, Call], Any]:
    """Make a function of a `GraphDef` and a `Call` the transform of its name."""
    TRANSFORMS[function.__name__] = function
    return function


def calls(text: str) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """The names and parameters of the transforms of a text, each `name` or `name(key=value, key="value")`.

    Raises:
      InvalidArgumentError: for a text that is written otherwise.
    """
    at = _SPACE.match(text).end()  # type: ignore[union-attr]
    while at < len(text):
        name, at = _taken(_NAME, text, at, "transform name")
        parameters: dict[str, list[str]] = {}
        if text[at : at + 1] == "(":
            at = _parameters(text, at + 1, parameters)
        yield name, parameters
        at = _SPACE.match(text, at).end()  # type: ignore[union-attr]


def _parameters(text: str, at: int, found: dict[str, list[str]]) -> int:
    while text[at : at + 1] != ")":
        at += text[at : at + 1] == ","
        at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
        name, at = _taken(_NAME, text, at, "parameter name")
        if text[at : at + 1] != "=":
            raise invalid(f"Looking for =, but found {text[at:]}")
        match = _VALUE.match(text, at + 1)
        if match is None:
            raise invalid(f"Looking for parameter name, but found {text[at + 1 :]}")
        found.setdefault(name, []).append(match[2] if match[1] is None else match[1])
        at = match.end()
    return at + 1


def _taken(pattern: re.Pattern[str], text: str, at: int, what: str) -> tuple[str, int]:
    match = pattern.match(text, at)
    if match is None:
        raise invalid(f"Looking for {what}, but found {text[at:]}")
    return match[0], match.end()
