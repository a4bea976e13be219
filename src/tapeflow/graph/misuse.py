"""What errors say about symbolic tensors that are used where their values, or their graphs, are not available."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from types import CodeType
from typing import TYPE_CHECKING, Any

from tapeflow.core import context
from tapeflow.core.errors import OperatorNotAllowedInGraphError
from tapeflow.core.public import PACKAGE_DIRECTORY

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph

# Whether AutoGraph made a code object; set by tapeflow.function.autograph.
is_converted: Callable[[CodeType], bool] | None = None


def register_conversion(made: Callable[[CodeType], bool]) -> None:
    """Say which code objects AutoGraph made."""
    global is_converted
    is_converted = made


class InaccessibleTensorError(TypeError, ValueError):
    """A tensor was used outside of the function that it belongs to."""


def no_value(tensor: Any, task: str, instead: str) -> OperatorNotAllowedInGraphError:
    """The error for `task`, such as a test for truth, which needs the value of a symbolic tensor."""
    return OperatorNotAllowedInGraphError(f"{task} is not allowed. {_why(tensor)} {instead}")


def _why(tensor: Any) -> str:
    graph, made = tensor.op.graph, made_at(tensor)
    if not graph.building_function:
        return f"{tensor!r}, made {made}, gets its value when a session runs its graph."
    if context.current_graph() is None:
        return (
            f"{tensor!r}, made {made}, has no value outside of function {graph.name!r}, which it was computed in: "
            "return it from that function."
        )
    code = _user_code()
    why = f"{tensor!r} gets its value when the function that is being traced runs."
    if code is None:
        return why
    if is_converted is not None and is_converted(code):
        return f"{why} AutoGraph converted {code.co_name!r}, but does not convert this use of the tensor."
    return (
        f"{why} AutoGraph did not convert {code.co_name!r}: it was switched off (`autograph=False`, `do_not_convert`), "
        "or the function is a generator or belongs to a library that is left as it is, or its source was not found."
    )


def _user_code() -> CodeType | None:
    frame: Any = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE_DIRECTORY):
        frame = frame.f_back
    return None if frame is None else frame.f_code


def made_at(tensor: Any) -> str:
    """Where the program made a symbolic tensor."""
    file, line, function = tensor.op.defined_at
    return f"at {file}:{line}, in {function}"


def out_of_scope(tensor: Any, user: str | None = None) -> str:
    """What is said of a tensor that a function, or the program around, uses though another function computes it."""
    graph = tensor.op.graph
    owner = f"function {graph.name!r}" if graph.building_function else str(graph)
    used = f"it is used in function {user!r}" if user else f"it is used outside of {owner}, while executing eagerly"
    return (
        f"{tensor!r} is out of scope and cannot be used here. Use return values, explicit Python locals or TensorFlow "
        f"collections to access it. It was defined {made_at(tensor)}, and belongs to {owner}; {used}."
    )


def other_graph(tensor: Any, graph: Graph, inputs: Iterable[Any] = ()) -> str:
    """What is said of a tensor of another graph than `graph`, to which an operation with `inputs` is being added."""
    beside = next((x for x in inputs if getattr(getattr(x, "op", None), "graph", None) is graph), None)
    if beside is None:
        rest = f"the operations that use it, which belong to {graph}"
    else:
        rest = f"{beside!r}, which was made {made_at(beside)} and belongs to {graph}"
    made = f"{tensor!r}, which was made {made_at(tensor)} and belongs to {tensor.op.graph}"
    return f"{made}, must be from the same graph as {rest}."
