"""`if` statements and conditional expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.annotations import TensorLike
from tapeflow.core.structures import nest
from tapeflow.function.autograph.errors import at_user_line
from tapeflow.function.autograph.operators import staging
from tapeflow.function.autograph.operators.staging import NO_RETURN, UNDEFINED
from tapeflow.function.autograph.operators.state import (
    RETURN_NAME,
    State,
    as_tensor,
    is_value,
    leaves_of,
    same_structure,
    zeros_like_of,
)
from tapeflow.ops.math.logic import logical_not


def if_stmt(
    test: Any,
    body: Any,
    orelse: Any,
    names: tuple[str, ...],
    count: int,
    places: Any = None,
) -> None:
    """Runs `body` or `orelse`, closures over the variables `names`, of which the first `count` are read afterwards."""
    if not staging.is_staged(test):
        if test:
            body()
        elif orelse is not None:
            orelse()
        return
    pred = staging.condition(test, "if statement")
    stage_if(pred, body, orelse or _nothing, State(body, names, places), count)


def _nothing() -> None:
    pass


class _Swap(Exception):
    """The other branch must be traced first, for it says what the result of the function looks like."""


def stage_if(
    pred: Any, body: Callable[[], Any], orelse: Callable[[], Any], state: State, count: int
) -> None:
    """An `If` in the graph, whose branches both start from the variables as they are now."""
    before = state.get()
    names = state.names[:count]
    try:
        after = _trace(pred, body, orelse, state, before, names, swapped=False)
    except _Swap:
        state.set(before)
        pred = logical_not(pred)
        after = _trace(pred, orelse, body, state, before, names, swapped=True)
    except BaseException:
        state.set(before)
        raise
    state.set([*after, *before[count:]])


def _trace(
    pred: Any,
    first: Callable[[], Any],
    second: Callable[[], Any],
    state: State,
    before: list[Any],
    names: list[str],
    swapped: bool,
) -> list[Any]:
    """The values of `names` after the `If`."""
    ends: dict[str, list[Any]] = {}
    which = ("else", "main") if swapped else ("main", "else")

    def branch(run: Callable[[], Any], which: str) -> list[Any]:
        # What a branch appends to a list must not be seen by the other.
        state.set([list(v) if type(v) is list else v for v in before])
        run()
        values = state.get()[: len(names)]
        ends[which] = values
        if len(ends) == 1:
            if not swapped and RETURN_NAME in names:
                if values[names.index(RETURN_NAME)] is UNDEFINED:
                    raise _Swap
            for name, value in zip(names, values, strict=True):
                if value is UNDEFINED and name != RETURN_NAME:
                    raise at_user_line(
                        ValueError, f"'{name}' must also be initialized in the {which} branch"
                    )
        else:
            values = ends[which] = _fill_return(ends, names, which)
            for i, name in enumerate(names):
                _verify(name, ends["main"][i], ends["else"][i])
        return [as_tensor(leaf) for v in values for leaf in leaves_of(v) if is_value(leaf)]

    results = iter(
        staging.cond(pred, lambda: branch(first, which[0]), lambda: branch(second, which[1]))
    )
    after = []
    for old, main, other in zip(before, ends["main"], ends["else"], strict=False):
        if main is UNDEFINED:
            after.append(UNDEFINED)
            continue
        leaves = [next(results) if is_value(leaf) else leaf for leaf in leaves_of(main)]
        unchanged = _same(main, old) and _same(other, old)
        after.append(old if unchanged else nest.pack_sequence_as(main, leaves))
    return after


def _same(a: TensorLike, b: TensorLike) -> bool:
    if type(a) is list and type(b) is list:
        return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))
    return a is b


def _fill_return(ends: dict[str, list[Any]], names: list[str], which: str) -> list[Any]:
    """The values of the second branch, with zeros for a result that it does not have because it does not return."""
    values = ends[which]
    if RETURN_NAME not in names:
        return values
    i = names.index(RETURN_NAME)
    given = ends["else" if which == "main" else "main"][i]
    if values[i] is UNDEFINED and given is not UNDEFINED and given is not NO_RETURN:
        return [*values[:i], zeros_like_of(given), *values[i + 1 :]]
    return values


def _verify(name: str, main: Any, other: Any) -> None:
    """Raises an error where the values that two branches give to a variable do not fit together."""
    if main is UNDEFINED and other is UNDEFINED:
        return
    if (main is NO_RETURN) != (other is NO_RETURN):
        which = "main" if main is NO_RETURN else "else"
        raise at_user_line(ValueError, f"the {which} branch must also have a return statement.")
    for value, which in ((main, "main"), (other, "else")):
        if value is UNDEFINED:
            raise at_user_line(
                ValueError, f"'{name}' must also be initialized in the {which} branch"
            )
    if main is other:
        return
    for value, which in ((main, "main"), (other, "else")):
        if value is None:
            raise at_user_line(ValueError, f"'{name}' is None at the end of the {which} branch.")
    difference = same_structure(main, other)
    if difference is not None:
        raise at_user_line(
            TypeError,
            f"'{name}' must have the same nested structure in the main and else branches:\n\n{difference}",
        )
    for a, b in zip(leaves_of(main), leaves_of(other), strict=True):
        _verify_leaf(name, a, b)


def _verify_leaf(name: str, a: TensorLike, b: TensorLike) -> None:
    if a is b:
        return
    for leaf, which in ((a, "main"), (b, "else")):
        if leaf is None:
            raise at_user_line(ValueError, f"'{name}' is None at the end of the {which} branch.")
        if not is_value(leaf):
            raise at_user_line(
                TypeError,
                f"'{name}' must be a Tensor, int, float, bool, str or a structure of these to depend on a tensor, "
                f"but is {leaf!r} of type {type(leaf).__name__} in the {which} branch",
            )
    one, two = as_tensor(a), as_tensor(b)
    if hasattr(one, "dtype") and hasattr(two, "dtype") and one.dtype != two.dtype:
        raise at_user_line(
            TypeError,
            f"'{name}' has dtype {one.dtype.name} in the main branch, but dtype {two.dtype.name} in the else branch",
        )


def if_exp(test: Any, body: Callable[[], Any], orelse: Callable[[], Any], text: str) -> Any:
    """`body() if test else orelse()`; `text` is the source of the test."""
    if not staging.is_staged(test):
        return body() if test else orelse()
    return choose(staging.condition(test, "conditional expression"), body, orelse, text)


def choose(pred: Any, body: Callable[[], Any], orelse: Callable[[], Any], name: str) -> Any:
    """What one of two functions gives, as a value of the graph."""
    ends: dict[str, Any] = {}

    def branch(run: Callable[[], Any], which: str) -> list[Any]:
        ends[which] = value = run()
        if len(ends) == 2:
            _verify(name, ends["main"], ends["else"])
        return [as_tensor(leaf) for leaf in leaves_of(value) if is_value(leaf)]

    results = iter(staging.cond(pred, lambda: branch(body, "main"), lambda: branch(orelse, "else")))
    value = ends["main"]
    return nest.pack_sequence_as(
        value, [next(results) if is_value(leaf) else leaf for leaf in leaves_of(value)]
    )
