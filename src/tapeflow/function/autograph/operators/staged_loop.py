"""A loop that becomes a `While` of the graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow import _native
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.function.autograph.errors import at_user_line
from tapeflow.function.autograph.operators import staging
from tapeflow.function.autograph.operators.lists import Probe, staged_list
from tapeflow.function.autograph.operators.staging import UNDEFINED
from tapeflow.function.autograph.operators.state import (
    RETURN_NAME,
    State,
    as_tensor,
    is_value,
    leaves_of,
    same_structure,
    zeros_like_of,
)
from tapeflow.ops.control.assert_op import Assert


def stage_while(
    test: Callable[..., Any],
    body: Callable[..., Any],
    state: State,
    options: Callable[[], dict[str, Any]] | None = None,
    own: Sequence[Any] = (),
    defaults: dict[str, Any] | None = None,
    relax: bool = False,
) -> None:
    """A `While` node that runs `body(*own)` while `test(*own)` holds.

    Args:
      state: the variables of the program that iterations share; both functions read and set them.
      options: gives the arguments of `set_loop_options`.
      own: tensors that the loop carries for itself; `body` returns their next values (None without any).
      defaults: values of variables that have none before the loop.
      relax: whether variables may come out of an iteration in other shapes than they went in.
    """
    given = dict(options() if options is not None else {})
    before = state.get()
    values = [
        defaults[name] if v is UNDEFINED and defaults and name in defaults else v
        for name, v in zip(state.names, before, strict=True)
    ]
    shapes = _invariants(given.pop("shape_invariants", None) or (), state.names, before)
    try:
        values, uncertain, unlike = _defined(body, state, values, own, shapes)
        if unlike:
            own, values = _first_iteration(test, body, state, values, own, unlike)
            if given.get("maximum_iterations") is not None:
                given["maximum_iterations"] -= 1
        while True:
            try:
                results = _stage(test, body, state, values, own, shapes, uncertain, dict(given))
                break
            except _OtherShape as other:
                if not relax:
                    raise at_user_line(ValueError, str(other)) from None
                shapes[other.name] = other.common
    except BaseException:
        state.set(before)
        raise
    state.set(results)


class _OtherShape(Exception):
    """A variable has another shape after one iteration."""

    def __init__(self, name: str, before: TensorShape, after: TensorShape):
        super().__init__(
            f"'{name}' has shape {before} before the loop, but shape {after} after one iteration. Use "
            "tf.autograph.experimental.set_loop_options to set shape invariants."
        )
        self.name = name
        self.common = before.most_specific_common_supertype([after]) or TensorShape(None)


def _invariants(given: Any, names: list[str], before: list[Any]) -> dict[str, Any]:
    """The shapes that the program gave, by the names of variables."""
    shapes = {}
    for entry in given:
        if len(entry) == 3 and entry[0] in names:
            shapes[entry[0]] = entry[2]
            continue
        variable, shape = entry[-2:]
        for name, value in zip(names, before, strict=True):
            if value is variable and value is not UNDEFINED:
                shapes[name] = shape
    return shapes


# Variables without a value before the loop.


def _defined(
    body: Callable[..., Any],
    state: State,
    values: list[Any],
    own: Sequence[Any],
    shapes: dict[str, Any],
) -> tuple[list[Any], list[str], list[str]]:
    """The initial values, with zeros for variables that get their first value in the loop, and the names of those.

    A trial of one iteration says what they will be. Last come the names of variables that are None only in the first
    iteration, which reads them: that iteration is unlike the others.
    """
    missing = [i for i, v in enumerate(values) if v is UNDEFINED or v is None]
    probes = {
        i: Probe(values[i])
        for i, name in enumerate(state.names)
        if name in state.lists and type(values[i]) is list
    }
    if not missing and not probes:
        return values, [], []
    entry = [probes.get(i, v) for i, v in enumerate(values)]
    after = _try_iteration(body, state, entry, own, shapes, missing or list(probes))
    values, uncertain = list(values), []
    for i, probe in probes.items():
        if len(probe.elements) > len(values[i]):
            staged = staged_list(state.names[i], values[i], probe.elements)
            values[i] = values[i] if staged is None else staged
    unlike = [
        state.names[i]
        for i in missing
        if values[i] is None
        and after[i] is not None
        and after[i] is not UNDEFINED
        and state.names[i] not in state.fresh
    ]
    if unlike:
        return values, [], unlike
    for i in missing:
        name, new = state.names[i], after[i]
        if new is None or new is UNDEFINED:
            continue
        try:
            values[i] = zeros_like_of(new)
        except TypeError as error:
            raise _not_defined(name, values[i], error) from None
        if name not in shapes and isinstance(new, _native.Tensor):
            if not new.shape.is_fully_defined():
                shapes[name] = new.shape
        if name != RETURN_NAME:
            uncertain.append(name)
    return values, uncertain, []


def _first_iteration(
    test: Callable[..., Any],
    body: Callable[..., Any],
    state: State,
    values: list[Any],
    own: Sequence[Any],
    names: list[str],
) -> tuple[Sequence[Any], list[Any]]:
    """Builds one iteration before the loop, which must have it; returns `own` and the variables after it."""
    state.set(values)
    _require(staging.condition(test(*own), "while loop"), names)
    own = list(body(*own) or ())
    return own, state.get()


def _require(iterated: Any, names: list[str]) -> None:
    Assert(iterated, [f"loop must iterate at least once to initialize {', '.join(names)}"])


def _try_iteration(
    body: Callable[..., Any],
    state: State,
    values: list[Any],
    own: Sequence[Any],
    shapes: dict[str, Any],
    missing: list[int],
) -> list[Any]:
    """The variables after one iteration."""
    try:
        with staging.scratch_graph() as graph:
            entry = [
                nest.map_structure(lambda leaf, n=name: _stand_in(graph, leaf, shapes.get(n)), v)
                if v is not UNDEFINED
                else v
                for name, v in zip(state.names, values, strict=True)
            ]
            state.set(entry)
            body(*(_stand_in(graph, x, None) for x in own))
            return state.get()
    except (NameError, TypeError, ValueError, KeyError) as error:
        i = missing[0]
        if isinstance(values[i], Probe):
            raise
        raise _not_defined(state.names[i], values[i], error) from error
    finally:
        state.set(values)


def _stand_in(graph: Any, leaf: Any, shape: Any) -> Any:
    """A tensor of which only dtype and shape are known."""
    if isinstance(leaf, (_native.Variable, *_FIXED)) or not is_value(leaf):
        return leaf
    leaf = as_tensor(leaf)
    if graph is None or not isinstance(leaf, _native.Tensor):
        return leaf
    known = leaf.shape if shape is None else _shape_of(shape)
    sizes = None if known.rank is None else tuple(known.as_list())
    return graph.add_input(leaf.dtype, sizes, "trial")


_FIXED = (str, bytes)
_UNBOUND = re.compile("(?:variable|name) '([^']*)'")


def _not_defined(name: str, value: Any, error: Exception) -> Exception:
    kind, text = type(error).__name__, str(error).partition("\n\n  File ")[0]
    unbound = _UNBOUND.search(text) if isinstance(error, NameError) else None
    if unbound:
        kind, text = "UnboundLocalError", f"'{unbound[1]}' is used before assignment"
        name = unbound[1] if value is UNDEFINED else name
    if value is None:
        return at_user_line(
            ValueError,
            f"'{name}' is not allowed to be None before the loop (a trial of it raised {kind}: {text})",
        )
    return at_user_line(
        ValueError,
        f"'{name}' must be defined before the loop\n"
        f"Note: AutoGraph tried to define it automatically, but ran into a {kind}: {text}",
    )


# The loop itself.


def _stage(
    test: Callable[..., Any],
    body: Callable[..., Any],
    state: State,
    values: list[Any],
    own: Sequence[Any],
    shapes: dict[str, Any],
    uncertain: list[str],
    options: dict[str, Any],
) -> list[Any]:
    """The variables after the loop."""
    own = [*own, *([False] if uncertain else ())]
    n_own = len(own)
    own_arguments = n_own - bool(uncertain)
    flat = [as_tensor(x) for x in own]
    specs: list[Any] = [x.shape for x in flat]
    for name, value in zip(state.names, values, strict=True):
        leaves = [as_tensor(x) for x in leaves_of(value) if is_value(x)]
        flat += leaves
        specs += _specs(name, value, leaves, shapes.get(name))
    if not flat:  # a node has something to return
        flat, specs, n_own = [as_tensor(0)], [TensorShape([])], 1

    def unpacked(tensors: Sequence[Any]) -> list[Any]:
        rest = iter(tensors)
        return [
            v
            if v is UNDEFINED
            else nest.pack_sequence_as(
                v, [next(rest) if is_value(leaf) else leaf for leaf in leaves_of(v)]
            )
            for v in values
        ]

    def condition(*tensors: Any) -> Any:
        state.set(unpacked(tensors[n_own:]))
        return staging.condition(test(*tensors[:own_arguments]), "while loop")

    def iteration(*tensors: Any) -> list[Any]:
        entry = unpacked(tensors[n_own:])
        state.set(entry)
        mine = list(body(*tensors[:own_arguments]) or ())
        if uncertain:
            mine.append(True)
        mine += tensors[len(mine) : n_own]
        after = state.get()
        for name, first, old, new in zip(state.names, values, entry, after, strict=True):
            _verify(name, first, old, new, shapes.get(name))
        return [
            *mine,
            *(
                as_tensor(new)
                for old, value in zip(entry, after, strict=True)
                for old_leaf, new in zip(leaves_of(old), leaves_of(value), strict=True)
                if is_value(old_leaf)
            ),
        ]

    if shapes:
        options["shape_invariants"] = specs
    results = staging.while_loop(condition, iteration, flat, **options)
    if uncertain:
        _require(results[own_arguments], uncertain)
    return unpacked(list(results)[n_own:])


def _shape_of(spec: Any) -> TensorShape:
    return TensorShape(spec.shape if hasattr(spec, "shape") else spec)


def _specs(name: str, value: Any, leaves: list[Any], given: Any) -> list[Any]:
    """The shape of each leaf in every iteration."""
    own = [getattr(x, "shape", None) for x in leaves]
    if given is None:
        return own
    if nest.is_nested(value):
        given = nest.flatten(given)
        if len(given) != len(leaves):
            raise at_user_line(
                TypeError,
                f"'{name}' does not have the same nested structure as its corresponding shape invariant.",
            )
        return [s if g is None else _shape_of(g) for g, s in zip(given, own, strict=True)]
    for shape in own:
        if shape is not None and not _within(shape, _shape_of(given)):
            raise at_user_line(
                ValueError,
                f"'{name}' has shape {shape} before the loop, which does not conform with the shape invariant "
                f"{_shape_of(given)}.",
            )
    return [_shape_of(given)] * len(own)


def _within(shape: TensorShape, wider: TensorShape) -> bool:
    """Whether `shape` is at least as specific as `wider`."""
    if wider.rank is None:
        return True
    if shape.rank != wider.rank:
        return False
    return all(w is None or s == w for s, w in zip(shape.as_list(), wider.as_list(), strict=True))


def _verify(name: str, first: Any, entry: Any, after: Any, invariant: Any) -> None:
    """Raises an error where a variable at the end of an iteration does not fit what it was at its start."""
    if after is entry:
        return
    if entry is None:
        raise at_user_line(ValueError, f"'{name}' is not allowed to be None before the loop")
    if entry is UNDEFINED:
        raise at_user_line(ValueError, f"'{name}' must be defined before the loop")
    if after is None:
        raise at_user_line(ValueError, f"'{name}' is None at the end of the iteration.")
    if after is UNDEFINED:
        raise at_user_line(ValueError, f"'{name}' is undefined at the end of the iteration.")
    difference = same_structure(entry, after)
    if difference is not None:
        raise at_user_line(
            TypeError,
            f"'{name}' does not have the same nested structure after one iteration.\n\n{difference}",
        )
    for old, new in zip(leaves_of(entry), leaves_of(after), strict=True):
        _verify_leaf(name, old, new, invariant if not nest.is_nested(entry) else None)


def _verify_leaf(name: str, old: Any, new: Any, invariant: Any) -> None:
    if new is old:
        return
    if new is None:
        raise at_user_line(ValueError, f"'{name}' is None at the end of the iteration.")
    if old is None:
        raise at_user_line(ValueError, f"'{name}' is not allowed to be None before the loop")
    for leaf, when in ((old, "before the loop"), (new, "after one iteration")):
        if not is_value(leaf):
            raise at_user_line(
                TypeError,
                f"'{name}' must be a Tensor, int, float, bool or a list, tuple or dict thereof to change in a loop of "
                f"the graph, but is {leaf!r} of type {type(leaf).__name__} {when}",
            )
    new = as_tensor(new)
    if not (isinstance(old, _native.Tensor) and isinstance(new, _native.Tensor)):
        return
    if old.dtype != new.dtype:
        raise at_user_line(
            TypeError,
            f"'{name}' has dtype {old.dtype.name} before the loop, but dtype {new.dtype.name} after one iteration",
        )
    if invariant is not None:
        if not _within(new.shape, _shape_of(invariant)):
            raise at_user_line(
                ValueError,
                f"'{name}' has shape {new.shape} after one iteration, which does not conform with the shape invariant "
                f"{_shape_of(invariant)}.",
            )
    elif not _within(new.shape, old.shape):
        raise _OtherShape(name, old.shape, new.shape)
