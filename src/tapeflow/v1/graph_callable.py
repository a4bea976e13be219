"""`graph_callable`: functions written for graphs, called eagerly, with the variables that they create."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow import train
from tapeflow.api import api
from tapeflow.core.context import name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public, public_methods
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.function.function import Function
from tapeflow.ops.state.variable import VariableV1
from tapeflow.v1.variable_getting import EagerVariableStore
from tapeflow.v1.variable_scoping import get_variable_scope, variable_scope


@public_methods
class GraphCallable:
    """A function written for graphs: its variables are found by their names, whatever it is called with.

    Args:
      function: creates its variables by `tf.get_variable`, `tf.Variable` or layers.
    """

    def __init__(self, function):
        self._store = EagerVariableStore()
        self._restored = {}

        def stored(*args, **kwargs):
            with (
                self._store.as_default(),
                variable_scope(
                    get_variable_scope(), custom_getter=self._as_restored, auxiliary_name_scope=False
                ),
            ):
                return function(*args, **kwargs)

        self._function = Function(
            stored, getattr(function, "__name__", None), autograph=False, creates_variables=True
        )
        self.__wrapped__ = function
        self.__name__ = getattr(function, "__name__", "graph_callable")
        self.__doc__ = function.__doc__

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)

    @property
    def variables(self):
        """The variables of all traces so far, each once; before the first, those that were restored."""
        if not self._function.all_traces():
            return self._store.variables()
        found = {}
        for concrete in self._function.all_traces():
            for v in concrete.graph.variables:
                found.setdefault(id(v), v)
        return list(found.values())

    @property
    def trainable_variables(self):
        """Those of them that are trainable."""
        return [v for v in self.variables if v.trainable]

    def restore(self, path):
        """Gives the variables the values that a checkpoint has under their names.

        Before the first call there are no variables yet: they become those of the checkpoint, and the function finds
        them by `tf.get_variable`. Raises ValueError if there is no such checkpoint.
        """

        if self._function.all_traces():
            train.Saver(self.variables).restore(None, path)
            return
        reader = train.load_checkpoint(path)
        for name in reader.get_variable_to_shape_map():
            self._restored[name] = convert_to_tensor(reader.get_tensor(name))
            with name_scope(""):
                self._store.put(name, VariableV1(self._restored[name], name=name))

    def _as_restored(self, getter: Callable[..., Any], name: str, **settings):
        """A restored variable was made as a trainable one: one that is not is made again, of the same value."""
        value = self._restored.pop(name, None)
        if value is not None and settings.get("trainable") is False:
            TensorShape(settings["shape"]).assert_is_compatible_with(value.shape)
            self._store.drop(name)
            settings.update(initializer=value, shape=None, dtype=value.dtype)
        return getter(name=name, **settings)


@api("nn.graph_callable")
@public
def graph_callable(shape_and_dtypes):
    """Lets graph code be called eagerly: a decorator, plain or with the shapes and dtypes of the arguments."""
    # Of @graph_callable([ShapeAndDtype(...)]) the trace sees both for itself.
    return GraphCallable(shape_and_dtypes) if callable(shape_and_dtypes) else GraphCallable
