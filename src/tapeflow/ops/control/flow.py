"""Control flow: cond, case, switch_case and while_loop.

Eagerly Python runs it. While a graph is built, what `staging` holds makes nodes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor, is_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array import stacking
from tapeflow.ops.array.rows import Identity, stop_gradient
from tapeflow.ops.control import staging
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.control.staging import staged
from tapeflow.ops.math import reductions
from tapeflow.ops.math.casting import cast
from tapeflow.ops.static import concrete_value

if TYPE_CHECKING:
    from tapeflow.ops.lists.tensor_array import TensorArray


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
        return staging.nodes.cond(pred, true_fn, false_fn, name)
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
    from tapeflow.ops.control import assert_op

    if not pairs:
        if default is None:
            raise ValueError("case without functions needs a default")
        return _result(default(), strict)
    checks: list = []
    if exclusive:
        count = reductions.reduce_sum(cast(stacking.stack([pred for pred, _ in pairs]), dtypes.int32))
        checks.append(
            assert_op.Assert(count <= 1, ["Input error: exclusive=True: more than 1 conditions", count])
        )

    def build(rest):
        (pred, function), *others = rest
        if not others and default is None:
            message = "Input error: None of conditions evaluated as True, and there is no default"
            with control_dependencies([assert_op.Assert(pred, [message])]):
                return nest.map_structure(Identity, _result(function(), strict), expand_composites=True)
        otherwise = default if not others else lambda: build(others)
        return staging.nodes.cond(pred, _unpacked(function, strict), _unpacked(otherwise, strict), name)

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
        return staging.nodes.switch(branch_index, [*branches, last], name)
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
        result = staging.nodes.loop(
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


