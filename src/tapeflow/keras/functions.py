"""`keras.backend.function` and `placeholder`: parts of models as functions of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow._native import Tensor
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.context import current_graph
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.keras import session, settings
from tapeflow.keras.engine.functional.graph_tensors import graph_tensors
from tapeflow.keras.engine.functional.inference import placeholder_for
from tapeflow.keras.engine.functional.inputs import make_input
from tapeflow.keras.engine.functional.symbolic import KerasTensor
from tapeflow.ops.state.variable import Variable

if TYPE_CHECKING:
    from tapeflow.graph.run.session import Session


def placeholder(
    shape: Sequence[Any] | None = None, ndim=None, dtype: DTypeLike | None = None, sparse: bool = False,
    name: str | None = None, ragged: bool = False,
):
    """Make a tensor to be fed: symbolic, or of the graph that is being built.

    Args:
      shape: its shape, with the batch; None for unknown sizes.
      ndim: the number of axes, where there is no shape.
      dtype: its dtype; None for `keras.config.floatx()`.
      sparse: whether it stands for a `SparseTensor`.
      name: its name.
      ragged: whether it stands for a `RaggedTensor`.

    Returns:
      The tensor.

    Raises:
      ValueError: where both kinds, sparse and ragged, are asked for.
    """
    if sparse and ragged:
        raise ValueError(
            "Cannot set both sparse and ragged to True when creating a Keras placeholder."
        )
    dtype = settings.floatx() if dtype is None else dtype
    if not shape and ndim:
        shape = (None,) * ndim
    if current_graph() is None:
        return make_input(batch_shape=TensorShape(shape), dtype=dtype, sparse=sparse, ragged=ragged,
                          name=name)  # fmt: skip

    return placeholder_for(KerasTensor(shape, dtype, sparse=sparse, ragged=ragged, name=name or ""))


class _GraphFunction:
    """Runs tensors of a graph in the session of Keras.

    Attributes:
      fetches: further tensors and operations to run.
      fetch_callbacks: functions of the values of some of these.
      feed_dict: further tensors to feed.
    """

    def __init__(
        self,
        inputs,
        outputs,
        updates,
        feed_dict=None,
        fetches=None,
        options=None,
        run_metadata=None,
    ):
        self._inputs = nest.flatten(graph_tensors(inputs))
        self._outputs = graph_tensors(outputs)
        self._updates = [_update_op(update) for update in updates or ()]
        self.fetches = list(fetches or ())
        self.fetch_callbacks = {}
        self.feed_dict = feed_dict
        self.run_options, self.run_metadata = options, run_metadata

    def __call__(self, inputs: Sequence[TensorLike] = ()):
        in_session = session.get_session(self._inputs or nest.flatten(self._outputs))
        feeds = {
            tensor: _fed(in_session, tensor, value)
            for tensor, value in zip(self._inputs, _listed(inputs))
            if value is not None
        } | dict(self.feed_dict or {})
        results = in_session.run(
            [self._outputs, self._updates, self.fetches], feeds, self.run_options, self.run_metadata
        )
        for fetch, value in zip(self.fetches, results[2]):
            if fetch in self.fetch_callbacks:
                self.fetch_callbacks[fetch](value)
        return results[0]


def _fed(in_session: Session, tensor: Tensor, value: TensorLike):
    """What a session feeds for `value`: the value itself, or the array that a variable or tensor of a graph has."""
    if not isinstance(value, (SymbolicTensor, Variable)):
        return value
    computed = in_session.run(value)
    return computed.astype(tensor.dtype.as_numpy_dtype)


def _listed(inputs: Sequence[TensorLike]):
    """The values of a call as a list, those of a dict in the order of its keys."""
    return nest.flatten(inputs) if isinstance(inputs, (list, tuple, dict)) else [inputs]


def _update_op(update):
    if isinstance(update, tuple):
        variable, value = update
        return variable.assign(value).op
    return update


class _SymbolicFunction:
    """A part of a model, called eagerly."""

    def __init__(self, inputs, outputs):
        from tapeflow.keras.engine.functional.model import Functional

        self._outputs = outputs
        self._symbolic = [x for x in nest.flatten(outputs) if isinstance(x, KerasTensor)]
        self._inputs = nest.flatten(inputs)
        self._model = None
        if self._symbolic:
            self._model = Functional(
                self._inputs, self._symbolic, name=settings.unique_name("function")
            )

    def __call__(self, inputs: Sequence[TensorLike] = ()):
        given = _listed(inputs)
        given = [
            x if isinstance(x, Tensor) else convert_to_tensor(x, symbolic.dtype)
            for x, symbolic in zip(given, self._inputs)
        ]
        values = iter(nest.flatten(self._model(given)) if self._model is not None else ())

        def value(x: KerasTensor):
            x = next(values) if isinstance(x, KerasTensor) else convert_to_tensor(x)
            return x.numpy()

        return nest.map_structure(value, self._outputs)


def function(
    inputs: Sequence[Any], outputs: TensorLike | KerasTensor, updates: Any = None, name: str | None = None, **kwargs
):
    """Make a function from a list of arrays to arrays, of tensors of a model or a graph.

    Args:
      inputs: a list of the tensors to feed.
      outputs: the tensors to compute, in any structure.
      updates: operations to run too, in a graph alone.
      name: accepted as in Keras 2.
      **kwargs: `feed_dict`, `fetches`, `options` and `run_metadata` of the session, in a graph alone.

    Returns:
      A function that gives arrays in the structure of `outputs`.

    Raises:
      ValueError: for `updates` and keywords of sessions where there is none.

    >>> x = tf.keras.Input(shape=(2,))
    >>> double = tf.keras.backend.function([x], x * 2)
    >>> print(double([np.ones([1, 2])]))
    [[2. 2.]]
    """
    if current_graph() is not None:
        return _GraphFunction(inputs, outputs, updates, **kwargs)
    if kwargs:
        raise ValueError(
            f"Session keyword arguments are not supported during eager execution. You passed: {kwargs}"
        )
    if updates:
        raise ValueError(
            f"`updates` argument is not supported during eager execution. You passed: {updates}"
        )
    return _SymbolicFunction(inputs, outputs)


boundaries(globals())
