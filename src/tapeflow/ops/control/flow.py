"""Control flow: cond, case, switch_case, while_loop, and functions called as ops.

Eagerly Python runs it. While a graph is built, `staging`, which the `graph` package provides, makes nodes of it.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor, is_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array import stacking
from tapeflow.ops.array.rows import Identity, stop_gradient
from tapeflow.ops.control.composite_calls import FlatCall, is_composite_call
from tapeflow.ops.math import reductions
from tapeflow.ops.math.casting import cast
from tapeflow.ops.static import concrete_value
from tapeflow.ops.table import op

if TYPE_CHECKING:
    from tapeflow.ops.lists.tensor_array import TensorArray

# The staged half; an object with cond, loop, switch, ... once graphs are there.
staging: Any = None


def register_staging(nodes: type) -> None:
    """Say what makes nodes of control flow."""
    global staging
    staging = nodes


def staged(*values) -> bool:
    return staging is not None and staging.active(*values)


def _truth(pred) -> bool:
    if isinstance(pred, (bool, Tensor)):
        return bool(pred)
    value = concrete_value(convert_to_tensor(pred))
    if value.size != 1:
        raise ValueError(
            f"The truth value of a condition of shape {value.shape} is ambiguous: {pred}"
        )
    return bool(value.reshape(()))


def _single(result: Any):
    """A list or tuple of one element is passed on as that element."""
    if isinstance(result, (list, tuple)) and len(result) == 1 and not hasattr(result, "_fields"):
        return result[0]
    return result


@api(v2="cond")
@public
def cond(pred: TensorLike, true_fn: Any = None, false_fn: Any = None, name: str | None = None):
    """Return what one of two functions returns, by a condition.

    Args:
      pred: a scalar bool.
      true_fn: the function without arguments to call where `pred` is true.
      false_fn: the function to call where it is not.
      name: a name for the operation (optional).

    Returns:
      What the function returns. In a graph both are traced; they must return the same structure and dtypes.

    Raises:
      TypeError: where one of them is not callable.

    >>> x = tf.constant(3)
    >>> tf.cond(x > 2, lambda: x * 10, lambda: x)
    <tf.Tensor: shape=(), dtype=int32, numpy=30>
    """
    return cond_v1(pred, true_fn, false_fn, strict=True, name=name)


@api(v1="cond")
@public
def cond_v1(
    pred: TensorLike, true_fn: Callable[..., Any] | None = None, false_fn: Callable[..., Any] | None = None,
    strict: bool = False, name: str | None = None, fn1=None, fn2=None,
):
    """`cond` with the 1.x spellings `fn1` and `fn2`; unless `strict`, one result is taken out of its list.

    Args:
      pred: a scalar bool tensor.
      true_fn, false_fn: a function without arguments.
      strict: whether a list with one result stays a list.
      name: a name for the operation (optional).
      fn1: the old name of `true_fn`.
      fn2: the old name of `false_fn`.
    """
    for old, new, label in ((fn1, true_fn, "true_fn"), (fn2, false_fn, "false_fn")):
        if old is not None and new is not None:
            raise TypeError(f"fn1 and {label} may not be set simultaneously." if label == "true_fn"
                            else f"fn2 and {label} may not be set simultaneously.")  # fmt: skip
    true_fn = fn1 if true_fn is None else true_fn
    false_fn = fn2 if false_fn is None else false_fn
    if not callable(true_fn):
        raise TypeError("'true_fn' must be callable.")
    if not callable(false_fn):
        raise TypeError("'false_fn' must be callable.")
    if staged(pred):
        if isinstance(pred, bool):
            raise TypeError("pred must not be a Python bool")
        strict = strict is True  # its place may hold anything, as nobody looks at it in functions
        true_fn, false_fn = (_unpacked(f, strict) for f in (true_fn, false_fn))
        return staging.cond(pred, true_fn, false_fn, name)
    result = true_fn() if _truth(pred) else false_fn()
    return result if strict else _single(result)


def _unpacked(function: Callable[..., Any], strict: bool):
    """`function`, whose list of one element is passed on as that element unless `strict`."""
    return function if strict else lambda: _single(function())


@api("case")
@public
def case(
    pred_fn_pairs: Sequence[Any], default: Callable[..., Any] | None = None, exclusive: bool = False,
    strict: bool = False, name: str | None = "case",
):
    """Return what the function of the first true predicate returns.

    Args:
      pred_fn_pairs: a list of pairs (scalar bool, function without arguments), or a dict of them.
      default: the function to call where no predicate is true (optional).
      exclusive: whether it is an error if several predicates are true.
      strict: whether a result that is a list or tuple of one element stays one; it matters in graphs.
      name: a name for the operation (optional).

    Returns:
      What the function returns; in a graph all functions must return the same structure and dtypes.

    Raises:
      InvalidArgumentError: where no predicate is true and there is no default, or several are and `exclusive` is
        set.
      TypeError: for other pairs.

    >>> x = tf.constant(3)
    >>> tf.case([(x < 2, lambda: tf.constant("few"))], default=lambda: tf.constant("many")).numpy()
    b'many'
    """
    if not isinstance(pred_fn_pairs, (list, tuple, dict)):
        raise TypeError(
            f"'pred_fn_pairs' must be a list, tuple, or dict. Received: {type(pred_fn_pairs)}"
        )
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else list(pred_fn_pairs)
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in `pred_fn_pairs` must be a 2-tuple. Received {pair}.")
        if not callable(pair[1]):
            raise TypeError(f"{pair[1]} must be callable.")
    if default is not None and not callable(default):
        raise TypeError("default must be callable.")
    pairs = [(pred.deref() if hasattr(pred, "deref") else pred, function) for pred, function in pairs]
    if staged(*[pred for pred, _ in pairs]):
        return _staged_case(pairs, default, exclusive, strict, name)
    found = [_truth(pred) for pred, _ in pairs]
    if exclusive and sum(found) > 1:
        raise InvalidArgumentError(
            None, None, f"More than one condition evaluated as True but exclusive=True: {found}"
        )
    for true, (_, function) in zip(found, pairs, strict=True):
        if true:
            return _result(function(), strict)
    if default is None:
        raise InvalidArgumentError(
            None,
            None,
            f"None of the conditions evaluated as True, and there is no default: {found}",
        )
    return _result(default(), strict)


def _staged_case(pairs: Sequence[Any], default, exclusive: bool, strict, name: str | None):
    """Conditionals inside of each other; without a default, the last function's condition is asserted."""
    from tapeflow.ops.control import assertions

    if not pairs:
        if default is None:
            raise ValueError("case without functions needs a default")
        return _result(default(), strict)
    checks: list = []
    if exclusive:
        count = reductions.reduce_sum(cast(stacking.stack([pred for pred, _ in pairs]), dtypes.int32))
        checks.append(
            assertions.Assert(count <= 1, ["Input error: exclusive=True: more than 1 conditions", count])
        )

    def build(rest):
        (pred, function), *others = rest
        if not others and default is None:
            message = "Input error: None of conditions evaluated as True, and there is no default"
            with control_dependencies([assertions.Assert(pred, [message])]):
                return nest.map_structure(Identity, _result(function(), strict), expand_composites=True)
        otherwise = default if not others else lambda: build(others)
        return staging.cond(pred, _unpacked(function, strict), _unpacked(otherwise, strict), name)

    with control_dependencies(checks):
        return build(pairs)


def _result(result, strict: bool):
    return result if strict else _single(result)


@api("switch_case")
@public
def switch_case(branch_index: Any, branch_fns: Any, default=None, name: str | None = "switch_case"):
    """Return what the function with a number returns.

    Args:
      branch_index: the number, a scalar int32 tensor.
      branch_fns: a list of functions without arguments, a list of pairs (number, function), or a dict of those.
      default: the function for other numbers; None: the one with the greatest number.
      name: a name for the operation (optional).

    Returns:
      What the function returns; in a graph all must return the same structure and dtypes.

    Raises:
      TypeError: where `branch_index` is no integer tensor, or a function is not callable.
      ValueError: for no functions.

    >>> tf.switch_case(tf.constant(1), [lambda: tf.constant(10), lambda: tf.constant(20)])
    <tf.Tensor: shape=(), dtype=int32, numpy=20>
    """
    if not is_tensor(branch_index):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(branch_index)}")
    if not branch_index.dtype.is_integer:
        raise TypeError(f"'branch_index' must be an integer Tensor, got {branch_index.dtype}")
    if not branch_fns:
        raise ValueError("Must provide at least one item in 'branch_fns'")
    if isinstance(branch_fns, dict):
        pairs = list(branch_fns.items())
    elif all(callable(f) for f in branch_fns):
        pairs = list(enumerate(branch_fns))
    else:
        pairs = list(branch_fns)
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'branch_fns' must be a 2-tuple. Received {pair}.")
        number, function = pair
        if not isinstance(number, (int, np.integer)):
            raise TypeError(f"key must be a Python `int`, got {number!r}")
        if not callable(function):
            raise TypeError(f"fn for key {number} must be callable.")
    functions: dict[int, Callable] = {int(number): function for number, function in pairs}
    if sorted(functions) != list(range(len(pairs))):
        found = ",".join(str(number) for number, _ in pairs)
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(pairs)}) but found {{{found}}}"
        )
    last: Callable = functions[len(pairs) - 1] if default is None else default
    if staged(branch_index):
        branches = [functions[i] for i in range(len(pairs))]
        return staging.switch(branch_index, [*branches, last], name)
    index = concrete_value(branch_index)
    if index.ndim:
        raise InvalidArgumentError(
            None, None, f"'branch_index' must be a scalar, got shape {branch_index.shape}"
        )
    return functions.get(int(index), last)()


@api(v2="while_loop")
@public
def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Sequence[Any], shape_invariants=None,
    parallel_iterations: TensorLike = 10, back_prop: bool = True, swap_memory: bool = False,
    maximum_iterations: TensorLike | None = None, name: str | None = None,
):
    """Apply a function to loop variables again and again, as long as a condition holds.

    Args:
      cond: a function of the loop variables that returns a scalar bool.
      body: a function of the loop variables that returns new ones, in the same structure and of the same dtypes.
      loop_vars: the list or structure of tensors to begin with.
      shape_invariants: the shapes that the variables keep, in a graph, where they are not those of `loop_vars`
        (optional).
      parallel_iterations: has no effect on the result.
      back_prop: whether gradients flow through the loop.
      swap_memory: has no effect on the result.
      maximum_iterations: after how many rounds the loop ends at last (optional).
      name: a name for the operation (optional).

    Returns:
      The loop variables after the last round, in the structure of `loop_vars`.

    Raises:
      TypeError: for functions that are not callable.
      ValueError: where `body` changes the structure.

    >>> i, total = tf.while_loop(lambda i, t: i < 5, lambda i, t: (i + 1, t + i), [tf.constant(0), tf.constant(0)])
    >>> total
    <tf.Tensor: shape=(), dtype=int32, numpy=10>
    """
    out = _loop(
        cond, body, loop_vars, parallel_iterations, maximum_iterations, False, shape_invariants, name
    )
    return out if back_prop else _constant(out)


def _loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Sequence[Any], parallel_iterations,
    maximum_iterations: TensorLike | None, pack: bool, shape_invariants: Sequence[TensorShape] | None = None,
    name: str | None = None,
):
    """The loop; with `pack`, a single variable may come from `body` without a list, and goes without one."""
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if parallel_iterations < 1:
        raise TypeError("'parallel_iterations' must be a positive integer.")
    if is_tensor(loop_vars) or not loop_vars:
        raise ValueError("'loop_vars' must be provided.")
    if staged(maximum_iterations, *nest.flatten(loop_vars, expand_composites=True)):
        result = staging.loop(
            cond, body, loop_vars, shape_invariants, maximum_iterations, name or "while", pack
        )
        if pack or not isinstance(loop_vars, (list, tuple)):
            return result
        return nest.pack_sequence_as(loop_vars, nest.flatten(result))
    limit = None if maximum_iterations is None else int(concrete_value(maximum_iterations))
    one = pack and len(loop_vars) == 1
    packed = False
    original = loop_vars
    count = 0
    while (limit is None or count < limit) and _truth(cond(*loop_vars)):
        loop_vars = body(*loop_vars)
        if one and not isinstance(loop_vars, (list, tuple)):
            packed, loop_vars = True, (loop_vars,)
        if not all(isinstance(v, Tensor) for v in loop_vars) or len(loop_vars) != len(original):
            nest.assert_same_structure(list(original), list(loop_vars))
        count += 1
    loop_vars = nest.map_structure(_as_value, loop_vars)
    return loop_vars[0] if packed else loop_vars


def _as_value(x: TensorLike | TensorArray):
    """A tensor; what is made of several, such as IndexedSlices or a TensorArray, stays."""
    if hasattr(x, "mark_used") or nest.is_nested_or_composite(x):
        return x
    return convert_to_tensor(x)


@api(v1="while_loop")
@public
def while_loop_v1(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any,
    shape_invariants: Sequence[TensorShape] | None = None, parallel_iterations: TensorLike = 10,
    back_prop: bool = True, swap_memory: bool = False, name: str | None = None, maximum_iterations=None,
    return_same_structure: bool = False,
):
    """`while_loop` of 1.x: a single loop variable is returned without its list unless `return_same_structure`."""
    pack = not return_same_structure
    out = _loop(
        cond, body, loop_vars, parallel_iterations, maximum_iterations, pack, shape_invariants, name
    )
    out = out if back_prop else _constant(out)
    return out if return_same_structure else _single(out)


def _constant(values):
    """Values that gradients do not go through."""
    return nest.map_structure(
        lambda x: stop_gradient(x) if x.dtype.is_floating or x.dtype.is_complex else x,
        values, expand_composites=True,
    )  # fmt: skip


@api("control_dependencies")
@contextlib.contextmanager
def control_dependencies(control_inputs) -> Iterator[None]:
    """A context in which ops run after `control_inputs`; eagerly everything runs in order anyway.

    Callables among the inputs are called, as TensorFlow does.
    """
    if staged():
        with staging.control_dependencies(control_inputs):
            yield
        return
    if callable(control_inputs):
        control_inputs()
    else:
        for x in control_inputs or ():
            if callable(x) and not hasattr(x, "dtype"):
                x()
    yield


@op("NoOp", "->")
def NoOp(xp: ModuleType):
    return None


NoOp.gradient(None)


@NoOp.reference
def _():
    return None


@api("no_op")
@public
def no_op(name: str | None = None):
    """Nothing; there to be depended on."""
    return staging.no_op(name) if staged() else None


@api("group")
@public
def group(*inputs, **kwargs):
    """Make one operation that runs after several others.

    In eager execution, and in a `tf.function`, operations run in the order of the program, and nothing is to be
    done.

    Args:
      *inputs: tensors and operations.
      **kwargs: `name`.

    Returns:
      None in eager execution, an operation in a graph.

    Raises:
      ValueError: for other keywords.
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}")
    return staging.group(inputs, name) if staged() else None


@api(v2="tuple")
@public
def tuple_(tensors: Any, control_inputs: Sequence[Any] | None = None, name: str | None = None):
    """Make tensors that are there once all of them, and other operations, have run.

    Args:
      tensors: a list of tensors or None.
      control_inputs: operations that run first, in a graph (optional).
      name: a name for the operation (optional).

    Returns:
      A list of tensors with the same values; in eager execution `tensors` as they are.

    Raises:
      ValueError: where all of `tensors` are None.
    """
    if all(t is None for t in tensors):
        raise ValueError(f"`tensors` must have at least one Tensor. Received: {tensors}.")
    if staged():
        return staging.tuple(tensors, control_inputs, name)
    return tensors


@api(v1="tuple")
@public
def tuple_v1(tensors: TensorLike, name: str | None = None, control_inputs: Sequence[Any] | None = None):
    """`tuple` with the 1.x order of arguments."""
    return tuple_(tensors, control_inputs, name)


def typed(values, Tout: DType | Sequence[DType]):
    """What a Python function returned, as tensors of the promised dtypes."""
    if isinstance(Tout, (list, tuple)):
        if not Tout:
            return []
        values = values if isinstance(values, (list, tuple)) else [values]
        if len(values) != len(Tout):
            raise ValueError(
                f"The function returned {len(values)} values, but Tout promises {len(Tout)}: {Tout}"
            )
        return [_one(v, t) for v, t in zip(values, Tout, strict=True)]
    if isinstance(values, (list, tuple)) and len(values) == 1:
        values = values[0]
    return _one(values, Tout)


def _require_function(func: Callable[..., Any]) -> None:
    if not callable(func):
        raise ValueError(
            f"Expected func to be callable. Received func={func} of type {type(func)}."
        )


def _one(value: Tensor | None, kind):
    kind = dtypes.as_dtype(kind)
    if value is None:
        raise InvalidArgumentError(
            None, None, "The function returned no value where one was promised"
        )
    value = convert_to_tensor(value, dtype_hint=None if hasattr(value, "dtype") else kind)
    if value.dtype != kind:
        raise InvalidArgumentError(
            None,
            None,
            f"A Python function returned {value.dtype.name}, but {kind.name} was promised",
        )
    return value


def _decorator(call):
    """Decorates a function to be called by `call(function, arguments)`."""
    return lambda function: functools.wraps(function)(lambda *given: call(function, list(given)))


@api("py_function")
@public
def py_function(func: Any = None, inp: Any = None, Tout: Any = None, name: str | None = None):
    """Call a Python function of eager tensors, also when a graph runs. Gradients flow through what it does.

    Args:
      func: a function that takes as many tensors as `inp` has and returns one tensor or a list; without it, a
        decorator is returned, for a function that is then called with `inp`.
      inp: the list of tensors, composite ones too, that it is called with.
      Tout: the dtype or spec, or the list of them, of what it returns; empty or None: nothing.
      name: a name for the operation (optional).

    Returns:
      A tensor, or a list of tensors; composite ones for their specs.

    >>> tf.py_function(lambda x: x * 2 if x > 0 else x, [tf.constant(3)], tf.int32)
    <tf.Tensor: shape=(), dtype=int32, numpy=6>
    """
    if func is None:
        return _decorator(lambda function, given: py_function(function, given, Tout, name))
    _require_function(func)
    if is_composite_call(inp, Tout):
        call = FlatCall(func, inp, Tout)
        made = py_function(call, call.tensors, call.dtypes, name)
        return call.packed(made) if call.dtypes else made
    if staged(*(inp or ())):
        return staging.py_function(func, inp, Tout, name)
    inputs = [convert_to_tensor(x) if not hasattr(x, "assign") else x for x in inp or []]
    return typed(func(*inputs), [] if Tout is None else Tout)


@api("numpy_function")
@public
def numpy_function(
    func: Any = None, inp: Any = None, Tout: Any = None, stateful: bool = True, name: str | None = None
):
    """Call a function of NumPy arrays, also when a graph runs. It is not differentiable.

    Args:
      func: a function that takes as many arrays as `inp` has and returns one array or a list; without it, a
        decorator is returned, for a function that is then called with `inp`.
      inp: the list of tensors that it is called with.
      Tout: the dtype, or the list of dtypes, that it returns.
      stateful: whether two calls with the same arrays may give different results, so that a graph does not merge
        them.
      name: a name for the operation (optional).

    Returns:
      A tensor, or a list of tensors.

    >>> tf.numpy_function(np.sinh, [tf.constant([0.0, 0.0])], tf.float32)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0., 0.], dtype=float32)>
    """
    if func is None:
        return _decorator(lambda function, given: numpy_function(function, given, Tout, stateful, name))
    _require_function(func)
    if staged(*(inp or ())):
        return staging.numpy_function(func, inp, Tout, stateful, name)
    values = func(*(np.array(x) for x in inp or []))
    values = nest.map_structure(lambda v: v if v is None else convert_to_tensor(v), values)
    return _single(values)


@api(v1="py_func")
@public
def py_func(
    func: Callable[..., Any], inp: Sequence[Tensor], Tout: Sequence[DType], stateful: bool = True,
    name: str | None = None,
):
    """`numpy_function` with the 1.x order of arguments."""
    return numpy_function(func, inp, Tout, stateful, name)
