"""Functions of a user traced to a graph, once, against the specs of what they will be called with."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow import _native
from tapeflow.core import context
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import (
    InvalidArgumentError,
    OpError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
)
from tapeflow.core.public import PACKAGE_DIRECTORY, boundaries
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data import element, leaves
from tapeflow.data.dataset_class import is_dataset, with_inputs
from tapeflow.data.iteration.passes import scope
from tapeflow.data.parts import parts_of
from tapeflow.function.autograph import tf_convert
from tapeflow.function.compiled import Compiled
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.run import planning

_Eager = _native.EagerTensor

_PYTHON = {"EagerPyFunc", "PyFunc", "PyFuncStateless"}

# Whether functions run as plain Python, on eager tensors, for who wants to step through them.
_debugging = False


def set_debugging(on: bool) -> None:
    """Lets functions that are given to datasets from now on run as plain Python, or as plans again."""
    global _debugging
    _debugging = on


def output_element(output: Any) -> Any:
    """What a user's function returned, as an element: a list at the top is a tuple."""
    if type(output) is list:
        output = tuple(output)
    if type(output) is tuple:
        return tuple([element.to_element(item) for item in output])
    return element.to_element(output)


class Traced:
    """A function as a plan.

    Attributes:
      spec: the structure of specs of what it returns.
      inputs: the tensors of the graph around it that it captured; `bound` takes their values.
      spread: whether an element that is a tuple is spread over the arguments.

    Args:
      specs: of the arguments.
      convert: the dtype of what it returns, a single tensor, if that must be of one.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        specs: Sequence[Any],
        transformation: str,
        spread: bool = True,
        convert: Any = None,
    ):
        self._specs = list(specs)
        self.spread = spread
        self._function = fn
        self._convert = convert
        self.transformation = transformation
        graph = FuncGraph(f"Dataset_{transformation}")
        with graph.as_default():
            arguments = [self._argument(graph, spec) for spec in specs]
            result = tf_convert(fn)(*arguments)
            if result is None:
                raise TypeError(
                    f"Unsupported return value from function passed to Dataset.{transformation}(): None."
                )
            if convert is not None and not isinstance(result, (tuple, list, dict)):
                result = convert_to_tensor(result, convert)
            try:
                result = output_element(result)
            except (TypeError, ValueError) as error:
                raise TypeError(
                    f"Unsupported return value from function passed to Dataset.{transformation}(): {result}."
                ) from error
            flat: list[Any] = []
            self._rebuild = element.map_leaves(lambda leaf: _output(leaf, flat), result)
            # A tensor from outside is returned as one of its own, as a tape may watch that outside.
            outputs = [_native.fresh(x) if isinstance(x, _Eager) else x for x in flat]
            graph.outputs = [graph.capture(x) if isinstance(x, _Eager) else _inside(graph, x) for x in outputs]
            self.spec = element.spec_of(result)
        self.result = result
        self._compiled = Compiled(graph)
        self.inputs = [outer for outer in graph.external_captures if not isinstance(outer, _Eager)]
        # Nodes whose streams of random numbers begin anew in each pass.
        self._streams = any(
            "seed2" in op.attrs and (op.attrs.get("seed") or op.attrs["seed2"]) for op in graph.operations
        )
        self._plan = self._compiled.plan
        self._calls: dict[int, Any] = {}
        # Of tensors alone, the plan's arguments and results are those of the function.
        self._plain = all(isinstance(spec, TensorSpec) for spec in self._specs)
        self._single = isinstance(self.spec, TensorSpec)
        self._tuple = type(self.spec) is tuple and all(isinstance(s, TensorSpec) for s in self.spec)
        self.debugging = _debugging and not self.inputs

    @staticmethod
    def _argument(graph: FuncGraph, spec: Any) -> Any:
        given = [graph.add_input(dtype, shape, "args") for dtype, shape in leaves.outputs(spec)]
        return leaves.from_tensors(spec, given)

    @property
    def graph(self) -> FuncGraph:
        """The graph of its body."""
        return self._compiled.graph

    @property
    def specs(self) -> list[Any]:
        """The specs of its arguments."""
        return self._specs

    @property
    def plain(self) -> bool:
        """Whether it takes and returns dense tensors alone, and runs as a plan."""
        results = element.flatten(self.spec)
        return self._plain and not self.debugging and all(isinstance(spec, TensorSpec) for spec in results)

    @property
    def is_stateful(self) -> bool:
        """Whether what it returns may differ from call to call."""
        return any(op.stateful for op in self._compiled.graph.operations)

    def __call__(self, *arguments: Any) -> Any:
        return self.begun(())(*arguments)

    def begun(self, captured: tuple[Any, ...] = ()) -> Callable[..., Any]:
        """The function for one pass: streams of random numbers in it begin anew."""
        if self.debugging:
            return self._python
        plan = self._plan
        if self._streams:
            plan = self._fresh_plan()
        elif not captured:
            call = self._calls.get(0)
            if call is None:
                call = self._calls[0] = self._caller(plan, ())
            return call
        return self._caller(plan, captured)

    def _fresh_plan(self) -> Any:
        """A plan of which the streams of random numbers begin with the iterator."""
        if scope.plans is None:
            return _fresh_plan(self._compiled)
        found = scope.plans.get(id(self))
        if found is None:
            found = scope.plans[id(self)] = _fresh_plan(self._compiled)
        return found

    @property
    def runs_python(self) -> bool:
        """Whether Python of the user's runs with it."""
        return any(op.type in _PYTHON for op in self._compiled.graph.operations)

    def bound(self, values: Sequence[Any]) -> _Bound:
        """The function, with the values of what it captured."""
        return _Bound(self, tuple(values))

    def _python(self, *arguments: Any) -> Any:
        with context.eager_mode():
            found = self._function(*arguments)
            if self._convert is not None:
                found = convert_to_tensor(found, self._convert)
            return output_element(found)

    def _caller(self, plan: Any, captured: tuple[Any, ...]) -> Callable[..., Any]:
        if self._plain and not captured and self._single:
            return lambda *arguments: plan(*arguments)[0]
        if self._plain and not captured and self._tuple:
            return plan
        return lambda *arguments: self._run(plan, captured, arguments)

    def _run(self, plan: Any, captured: tuple[Any, ...], arguments: tuple[Any, ...]) -> Any:
        if self._plain:
            flat = list(arguments)
        else:
            flat = []
            for spec, value in zip(self._specs, arguments, strict=True):
                flat += leaves.to_tensors(spec, value)
        found = plan(*flat, *captured)
        if self._single:
            return found[0]
        if self._tuple:
            return found
        results = iter(found)
        with context.eager_mode():
            return element.map_leaves(lambda rebuild: rebuild(results), self._rebuild)


class _Bound:
    """A traced function that knows what it captured."""

    inputs = ()

    def __init__(self, traced: Traced, captured: tuple[Any, ...]):
        self._traced = traced
        self._values = captured
        self.spec = traced.spec
        self.spread = traced.spread
        self.transformation = traced.transformation

    @property
    def is_stateful(self) -> bool:
        return self._traced.is_stateful

    def begun(self) -> Callable[..., Any]:
        return self._traced.begun(self._values)

    def __call__(self, *arguments: Any) -> Any:
        return self._traced.begun(self._values)(*arguments)


def of_elements(fn: Any) -> Callable[[Any], Any]:
    """A traced function for one pass, of one argument, the element, and with errors as datasets have them."""
    call = fn.begun()
    return (lambda value: call(*value)) if fn.spread else call


# What errors of a user's Python become, as in TensorFlow.
_KINDS = (
    ((ValueError, TypeError), InvalidArgumentError),
    (MemoryError, ResourceExhaustedError),
    (NotImplementedError, UnimplementedError),
)


def translated(error: BaseException, transformation: str, position: int) -> BaseException:
    """The error of an element, which names the transformation and the element."""
    note = f"in Dataset.{transformation}, at element {position}"
    if isinstance(error, StopIteration):
        # A StopIteration of the user's would silently end the dataset.
        made: Any = InvalidArgumentError(
            None, None, f"Function invocation produced OutOfRangeError: StopIteration: {error} [{note}]"
        )
    elif isinstance(error, OutOfRangeError) and transformation != "from_generator":
        made = InvalidArgumentError(
            None, None, f"Function invocation produced OutOfRangeError: {error} [{note}]"
        )
    elif isinstance(error, (OpError, RecursionError)):
        error.add_note(note)
        return error
    else:
        kind = next((k for classes, k in _KINDS if isinstance(error, classes)), UnknownError)
        made = kind(None, None, f"{type(error).__name__}: {error} [{note}{_raised_at(error)}]")
    made.__cause__ = error
    return made


# What runs between the functions of programs: the package, Python's own library and those that are installed.
_LIBRARIES = (PACKAGE_DIRECTORY, os.path.dirname(os.__file__))


def _raised_at(error: BaseException) -> str:
    """The line of the program that raised an error; empty for an error of the package's own code."""
    lines = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    theirs = [(code, line) for code, line in lines if not code.co_filename.startswith(_LIBRARIES)]
    if not theirs:
        return ""
    code, line = theirs[-1]
    return f", raised at {code.co_filename}:{line}, in {code.co_name}"


def _fresh_plan(compiled: Compiled) -> Any:
    program = planning.function_program(
        compiled.graph, compiled.outputs, compiled.constants(), numbers={}
    )
    return planning.compile_program(program)


def _inside(graph: FuncGraph, x: Any) -> Any:
    return x if x.op.graph is graph else graph.capture(x)


def _output(leaf: Any, flat: list[Any]) -> Callable[[Any], Any]:
    """Adds the tensors of a leaf of the result; returns what makes the leaf of their values again."""
    if leaf is None:
        return lambda results: None
    if is_dataset(leaf):
        flat.extend(parts_of(leaf).captured)
        count = len(parts_of(leaf).captured)
        return lambda results: with_inputs(leaf, [next(results) for _ in range(count)])
    spec = element.leaf_spec(leaf)
    tensors = leaves.to_tensors(spec, leaf)
    flat.extend(tensors)
    return lambda results: leaves.from_tensors(spec, [next(results) for _ in tensors])


def enable_debug_mode() -> None:
    """Lets functions that are given to datasets from now on run as plain Python on eager tensors, one at a time.

    They are still traced once, for what they return. Raises ValueError while a graph is built.
    """
    if not context.executing_eagerly():
        raise ValueError("`enable_debug_mode() is only supported in eager mode.")
    set_debugging(True)


boundaries(globals())
