"""`tf.test.compute_gradient`: Jacobians from the tape or a graph, and from finite differences."""

from __future__ import annotations

import numpy as np

from tapeflow.autodiff.tape import GradientTape, UnconnectedGradients
from tapeflow.core import context
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.graph.build import derivatives, placeholders
from tapeflow.graph.run import session


def _evaluate(f, arrays, dtypes):
    return np.asarray(f(*[convert_to_tensor(a, d) for a, d in zip(arrays, dtypes)]).numpy())


class _InGraph:
    """A function whose graph is built once, and run by the default session."""

    def __init__(self, f, arrays, dtypes):
        self.session = session.get_default_session() or session.Session()
        self.inputs = [
            placeholders.placeholder(dtype, array.shape) for array, dtype in zip(arrays, dtypes)
        ]
        self.result = f(*self.inputs)
        self.weights = placeholders.placeholder(self.result.dtype, self.result.shape)
        self.gradients = [
            convert_to_tensor(g)
            for g in derivatives.gradients(
                self.result, self.inputs, [self.weights], unconnected_gradients="zero"
            )
        ]

    def values(self, arrays):
        return np.asarray(self.session.run(self.result, dict(zip(self.inputs, arrays))))

    def rows(self, arrays, k):
        """The Jacobian by argument `k`, a row for each part of the result."""
        feeds = dict(zip(self.inputs, arrays))
        weight = np.zeros_like(self.values(arrays))
        parts = _parts(weight)
        rows = []
        for i in range(parts.size):
            parts[i] = 1
            found = self.session.run(self.gradients[k], {**feeds, self.weights: weight})
            rows.append(_parts(np.array(found)))
            parts[i] = 0
        return np.stack(rows) if rows else np.zeros((0, _parts(np.array(arrays[k])).size))


def _parts(array):
    """The real numbers that an array consists of, as a view."""
    flat = array.reshape(-1)
    return flat.view(flat.real.dtype) if np.iscomplexobj(flat) else flat


def _numeric(evaluate, arrays, k, delta):
    """Central differences; [parts of the result, parts of argument k]."""
    moved = [np.array(a, order="C") for a in arrays]  # whose parts are views
    at = _parts(moved[k])
    columns = []
    for i in range(at.size):
        was = at[i]
        at[i] = was + delta
        above = _parts(np.array(evaluate(moved)))
        at[i] = was - delta
        below = _parts(np.array(evaluate(moved)))
        at[i] = was
        columns.append((above - below) / above.dtype.type(2 * delta))
    if columns:
        return np.stack(columns, axis=1)
    return np.zeros((_parts(np.array(evaluate(arrays))).size, 0))


def _theoretical(f, arrays, dtypes, k):
    inputs = [convert_to_tensor(a, d) for a, d in zip(arrays, dtypes)]
    with GradientTape(persistent=True) as tape:
        tape.watch(inputs[k])
        result = f(*inputs)
    weight = np.zeros(result.shape.as_list(), result.dtype.as_numpy_dtype)
    parts = _parts(weight)
    rows = []
    for i in range(parts.size):
        parts[i] = 1
        weights = convert_to_tensor(np.array(weight), result.dtype)
        gradient = tape.gradient(result, inputs[k], weights, UnconnectedGradients.ZERO)
        if hasattr(gradient, "to_dense"):
            gradient = gradient.to_dense()
        rows.append(_parts(np.array(gradient.numpy())))
        parts[i] = 0
    width = _parts(np.array(arrays[k])).size
    return np.stack(rows) if rows else np.zeros((0, width))


def compute_gradient(f, x, delta=None):
    """The Jacobians of `f` for each of its arguments, by its gradients and by finite differences.

    Args:
      f: a function of `len(x)` tensors that returns one.
      x: list of the values to differentiate at.
      delta: the step of the differences; None: 1/1024.

    Returns two tuples of matrices [elements of the result, elements of the argument]; a complex element
    counts as two.

    Raises ValueError if `x` is no list.
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError(
            "`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), not a "
            f"{type(x)}"
        )
    delta = 1.0 / 1024 if delta is None else delta
    if context.executing_eagerly():
        tensors = [convert_to_tensor(value) for value in x]
        arrays = [np.array(t.numpy()) for t in tensors]
        dtypes = [t.dtype for t in tensors]
        count = range(len(arrays))
        return (
            tuple(_theoretical(f, arrays, dtypes, k) for k in count),
            tuple(
                _numeric(lambda moved: _evaluate(f, moved, dtypes), arrays, k, delta) for k in count
            ),
        )
    tensors = [convert_to_tensor(value) for value in x]
    dtypes = [t.dtype for t in tensors]
    arrays = [_value(value, tensor) for value, tensor in zip(x, tensors)]
    graph = _InGraph(f, arrays, dtypes)
    count = range(len(arrays))
    return (
        tuple(graph.rows(arrays, k) for k in count),
        tuple(_numeric(graph.values, arrays, k, delta) for k in count),
    )


def _value(value, tensor):
    """The array that an argument is, while a graph is being built."""
    if hasattr(value, "graph"):
        return np.array((session.get_default_session() or session.Session()).run(tensor))
    return np.array(value.numpy() if hasattr(value, "numpy") else value, tensor.dtype.as_numpy_dtype)


def max_error(grad1, grad2):
    """The largest difference of two results of `compute_gradient`."""
    errors = [
        np.max(np.abs(np.asarray(a) - np.asarray(b)), initial=0.0) for a, b in zip(grad1, grad2)
    ]
    return max(errors, default=0.0)


boundaries(globals())
