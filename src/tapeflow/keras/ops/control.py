"""Loops that carry values, choices between functions, and functions of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.autodiff.custom_gradient import custom_gradient as tf_custom_gradient
from tapeflow.autodiff.forward import ForwardAccumulator
from tapeflow.autodiff.vectorized_map import vectorized_map as tf_vectorized_map
from tapeflow.core.annotations import AxisLike, Tensor
from tapeflow.core.public import public, public_names
from tapeflow.core.structures import nest
from tapeflow.keras.ops.conversion import axis_of, static_rank, tensor
from tapeflow.ops.array.broadcasting import broadcast_dynamic_shape as tf_broadcast_dynamic_shape
from tapeflow.ops.array.broadcasting import broadcast_to as tf_broadcast_to
from tapeflow.ops.array.joining import concat as tf_concat
from tapeflow.ops.array.layout import reshape as tf_reshape
from tapeflow.ops.array.sizes import shape as tf_shape
from tapeflow.ops.control.flow import switch_case as tf_switch_case
from tapeflow.ops.control.flow import while_loop as tf_while_loop
from tapeflow.ops.indexing.gather import gather as tf_gather
from tapeflow.ops.lists.tensor_array import TensorArray
from tapeflow.ops.math.casting import cast as tf_cast
from tapeflow.ops.math.clip import clip_by_value as tf_clip_by_value


@public
def custom_gradient(f: Callable[..., Any]):
    """Return a function that computes f(*args)[0], whose gradient is computed by f(*args)[1]."""
    return tf_custom_gradient(f)


@public
def jvp(fun: Callable[..., Any], primals, tangents, has_aux: bool = False):
    """Return fun(*primals) and its derivative in the direction of `tangents`.

    Args:
      has_aux: whether `fun` returns a pair whose second part is not differentiated; it is returned last.
    """
    points = nest.map_structure(tensor, tuple(primals))
    flat = nest.flatten(points)
    directions = [tensor(t, x.dtype) for t, x in zip(nest.flatten(tuple(tangents)), flat, strict=True)]
    with ForwardAccumulator(flat, directions) as accumulator:
        result = fun(*points)
        outputs, aux = result if has_aux else (result, None)
        derivatives = nest.map_structure(accumulator.jvp, outputs)
    return (outputs, derivatives, aux) if has_aux else (outputs, derivatives)


@public
def switch(index: int, branches, *operands):
    """Return branches[index](*operands); an index out of range counts as the nearest in it.

    Args:
      index: a scalar integer tensor.
      branches: a list of functions.
      operands: their arguments.
    """
    index = tf_clip_by_value(tensor(index, "int32"), 0, len(branches) - 1)
    return tf_switch_case(index, [lambda branch=branch: branch(*operands) for branch in branches])


@public
def scan(f, init, xs=None, length=None, reverse: bool = False, unroll=1):
    """Return the last carry and the stacked outputs of carry, y = f(carry, x) for each x along the first axis.

    Args:
      f: a function of the carry and of x, which returns the next carry and an output of the carry's structure and
        dtypes.
      init: the first carry.
      xs: a tensor or a structure of tensors, or None for `length` steps.
      reverse: whether to go from the last x to the first.
      unroll: accepted for compatibility; it changes no result.
    """
    if not callable(f):
        raise TypeError(f"`f` should be a callable. Received: f={f}")
    if not isinstance(unroll, bool) and (not isinstance(unroll, int) or unroll < 1):
        raise ValueError(f"`unroll` must be an positive integer or boolean. Received: unroll={unroll}")
    if xs is None and length is None:
        raise ValueError("Got no `xs` to scan over and `length` not provided.")
    xs, carry = nest.map_structure(tensor, xs) if xs is not None else None, nest.map_structure(tensor, init)
    n = int(length) if length is not None else tf_shape(nest.flatten(xs)[0])[0]
    outputs = [TensorArray(c.dtype, n, element_shape=c.shape) for c in nest.flatten(carry)]

    def step(i: int, carry, outputs):
        at = n - 1 - i if reverse else i
        x = None if xs is None else nest.map_structure(lambda x: tf_gather(x, at), xs)
        carry, y = f(carry, x)
        if y is not None:
            outputs = [array.write(at, part) for array, part in zip(outputs, nest.flatten(y), strict=True)]
        return i + 1, carry, outputs

    _, carry, outputs = tf_while_loop(lambda i, *_: i < n, step, (0, carry, outputs))
    return carry, nest.pack_sequence_as(carry, [array.stack() for array in outputs])


@public
def associative_scan(f: Callable[..., Any], elems, reverse: bool = False, axis: AxisLike = 0):
    """Return the results of combining all elements up to each one along an axis, by an associative function.

    The function is called with many pairs at a time, about 2 log2(n) times.

    Args:
      f: a function of two structures like `elems`.
      elems: a tensor or a structure of tensors, of one size along the axis, which must be known.
      reverse: whether to combine from the last element to the first.
    """
    if not callable(f):
        raise TypeError(f"`f` should be a callable. Received: f={f}")
    elems = nest.map_structure(tensor, elems)
    flat = nest.flatten(elems)
    sizes = [x.shape[axis] for x in flat]
    if None in sizes or len(set(sizes)) != 1:
        raise ValueError(f"Array inputs to associative_scan must have the same, known size of axis {axis}, got {sizes}")
    axes = [axis_of(axis, static_rank(x)) for x in flat]

    def part(xs, *bounds):
        return [x[(slice(None),) * at + (slice(*bounds),)] for x, at in zip(xs, axes)]

    def combine(a: Tensor, b: Tensor):
        return nest.flatten(f(nest.pack_sequence_as(elems, a), nest.pack_sequence_as(elems, b)))

    def join(*parts):
        return [tf_concat(xs, at) for *xs, at in zip(*parts, axes)]

    def scanned(xs, n: int):
        if n < 2:
            return xs
        odd = scanned(combine(part(xs, 0, n - 1, 2), part(xs, 1, None, 2)), n // 2)
        even = part(xs, 0, 1)
        if n > 2:
            even = join(even, combine(part(odd, 0, (n - 1) // 2), part(xs, 2, None, 2)))
        order = [(i // 2) + (i % 2) * ((n + 1) // 2) for i in range(n)]
        return [tf_gather(x, order, axis=at) for x, at in zip(join(even, odd), axes)]

    def turned(xs):
        return part(xs, None, None, -1) if reverse else xs

    return nest.pack_sequence_as(elems, turned(scanned(turned(flat), sizes[0])))


@public
def vectorize(pyfunc: Callable[..., Any], *, excluded=None, signature=None):
    """Return a function that applies `pyfunc` to each element of its arguments, which broadcast.

    Args:
      excluded: positions of arguments that are passed on as they are.
      signature: the axes that `pyfunc` takes of each argument and returns, such as "(m,n),(n)->(m)".
    """
    if not callable(pyfunc):
        raise ValueError(f"Expected argument `pyfunc` to be a callable. Received: pyfunc={pyfunc}")
    excluded = set(excluded or ())

    def vectorized(*args):
        places = [i for i in range(len(args)) if i not in excluded]
        values = [tensor(args[i]) for i in places]
        ranks = [0] * len(values) if signature is None else _core_ranks(signature, len(values))
        loops = [tf_shape(x)[: static_rank(x) - rank] for x, rank in zip(values, ranks)]
        loop = tf_cast([], "int32")
        for each in loops:
            loop = tf_broadcast_dynamic_shape(loop, each)
        flat = []
        for x, rank in zip(values, ranks):
            core = tf_shape(x)[static_rank(x) - rank :]
            x = tf_broadcast_to(x, tf_concat([loop, core], 0))
            flat.append(tf_reshape(x, tf_concat([[-1], core], 0)))

        def of_one(parts: Sequence[Any]):
            call = list(args)
            for i, value in zip(places, parts):
                call[i] = value
            return pyfunc(*call)

        def restored(y: Tensor):
            return tf_reshape(y, tf_concat([loop, tf_shape(y)[1:]], 0))

        return nest.map_structure(restored, tf_vectorized_map(of_one, flat))

    return vectorized


def _core_ranks(signature, count: int):
    """How many axes the arguments have in a signature."""
    inputs = signature.replace(" ", "").partition("->")[0].strip("()").split("),(")
    if len(inputs) != count:
        raise TypeError(f"wrong number of positional arguments: expected {len(inputs)}, got {count}")
    return [len([name for name in axes.split(",") if name]) for axes in inputs]


__all__ = public_names(globals())
